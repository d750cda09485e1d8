/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel does with a value that is written to a file of /sys/devices/system/cpu: for
 * fake_cpu. */
#pragma once

#include <stdbool.h>

enum { VALUE_SIZE = 512, CPUS = 4 }; /* a policy for each CPU; CPUs 0 and 2, 1 and 3 share a core */

extern int files; /* the directory of plain files; a path is below it */

/* Stores what becomes of the value; -errno as the kernel answers. */
int store(const char *path, char value[VALUE_SIZE]);

/* The kernel does not let the files of a policy be read or written while its CPUs are offline. */
bool is_offline(const char *path);
