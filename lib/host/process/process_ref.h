/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as a text that can be kept: who began what is still marked as going on, and whether that
 * process is there still, after a kill -9 or a reboot. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { PROCESS_REF_SIZE = 96 };

/* Ours: boot id, pid, and when it started (pids come again). Returns `buffer`. */
char *process_ref_self(char buffer[PROCESS_REF_SIZE]);

/* Its pid if it runs, else 0. NULL and text that is none of ours: 0. */
pid_t process_ref_pid(const char *owner);
