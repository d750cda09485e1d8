/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process time of a program under test, from wait4 and from its cgroup. Only for program.c. */
#pragma once

#include "lib/host/process/program.h"

#include "lib/host/process/schedstat.h"

#include <sys/resource.h>

/* Adds what wait4 tells of one of its processes, and of those that this has waited for. `data`: struct spawned. */
void program_time_add(void *data, const struct rusage *usage);

/* What the program waited for a CPU since it was started, if its first thread (`first`, at its end) has all of PT: a second one
 * would have waited, too. -1: another thread or process ran. */
int64_t program_time_wait(const struct spawned *spawned, const struct schedstat *first);

/* Last of all: without what the first process used until the program was executed, which is not its own work. */
void program_time_begin(struct spawned *spawned, int64_t used_ns);

/* In the end: PT is that of the cgroup, which has also what was not waited for, unless wait4 tells of more. */
void program_time_conclude(
	struct spawned *spawned, const struct cgroup_usage *before, const struct cgroup_usage *after);
