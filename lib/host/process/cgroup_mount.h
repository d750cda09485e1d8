/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cgroup v2 is mounted, and which cgroup a process is in. */
#pragma once

#include "lib/base/error.h"

#include <sys/types.h>

/* The directory that it is mounted on. -ENOTSUP: it is not mounted. */
int cgroup_mount(int root_fd, char **ret, struct error *err);

/* The directory of the cgroup that a process is in; pid 0: this process. -ENOTSUP: there is none. */
int cgroup_of(pid_t pid, char **ret, struct error *err);

/* The same from text, which they change: of mountinfo, the fifth field of the line whose type is cgroup2; of
 * /proc/PID/cgroup, the path on the line of hierarchy 0. */
int cgroup_parse_mount(char *text, char **ret, struct error *err);
int cgroup_parse_own(char *text, char **ret, struct error *err);
