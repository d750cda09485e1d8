/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tag of a program under test, by which its processes are known wherever they move. It is the
 * limit on file locks (RLIMIT_LOCKS), which Linux has not enforced since 2.4.25, but which every
 * process still inherits: it outlives execve, setsid, another cgroup and the end of the parent. A
 * number so far up is as good as no limit. */
#pragma once

#include "lib/base/base.h"

#include <sys/resource.h>
#include <sys/types.h>

/* The tag of the program with this number (below 2^20) that this process starts, for both limits;
 * 0: there is none, because this process has a limit itself. Tags of one process are consecutive
 * and descend. */
rlim_t tag_make(unsigned int number);

/* The number that a tag stands for; -1: it is of no program of this process. */
int tag_number(rlim_t tag);

/* The same of a process, which may have ended but must not have been reaped; -1 also if this user
 * may not ask. */
int tag_read(pid_t pid);
