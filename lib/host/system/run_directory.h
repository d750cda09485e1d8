/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /run/emp, where root keeps what lasts until the machine is shut down: the host's lock, and resolved BPF programs. */
#pragma once

#include "lib/base/error.h"

#define RUN_DIRECTORY "/run/emp"

/* Its descriptor; root makes it if it is not there. -ENOENT without a sentence: there is none; -EPERM with a sentence: others
 * than root can write to it. */
int run_directory_open(const char *path, struct error *err);
