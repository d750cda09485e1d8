/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities that an executable's file gives to an ordinary user (setcap
 * cap_bpf,cap_perfmon,cap_net_admin=p). They are in the permitted set, and are effective only
 * between raise and lower, around the calls that observe other processes. Files are opened, and
 * other programs started, without them. Root's own capabilities are not changed. The only file that
 * includes libcap. */
#pragma once

#include "lib/base/base.h"

/* First thing in main, with its argv. */
void privilege_init(char **argv);

/* The environment for the user's programs. It includes the variables that the loader removed
 * because this process has capabilities (LD_PRELOAD, TMPDIR and others). */
char **privilege_environment(void);

/* Adds "NAME=VALUE" to it, before a variable of the same name. The text is not copied: it must
 * outlive the environment, and may change. */
void privilege_environment_put(char *assignment);

void privilege_raise(void);
void privilege_lower(void);

/* The capabilities that an executable's file has, as text ("cap_bpf=p"); NULL: none, or not known.
 * The caller frees it. */
char *privilege_of_file(const char *path);

/* In a child that is about to execute a program of the user's: none of them may pass on. System
 * calls only. */
void privilege_forget(void);

/* For a program of root's that changes settings: keeps the capabilities for writing them and for
 * asking systemd, and gives up the rest for this process; what it starts as root has its own again.
 * -EPERM with a sentence that names what is missing. */
int privilege_keep_for_settings(struct error *err);
