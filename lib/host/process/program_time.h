/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process time of a program under test, from wait4 and from its cgroup. Only for program.c. */
#pragma once

#include "lib/host/process/program.h"

#include <sys/resource.h>

/* Adds what wait4 tells of one of its processes, and of those that this has waited for. `data`: struct spawned. */
void program_time_add(void *data, const struct rusage *usage);

/* In the end: PT is that of the cgroup, which has also what was not waited for, unless wait4 tells of more. */
void program_time_conclude(
	struct spawned *spawned, const struct cgroup_usage *before, const struct cgroup_usage *after);
