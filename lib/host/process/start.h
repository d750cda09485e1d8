/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of the program under test, from clone to execve. Only for spawn.c. */
#pragma once

#include "lib/host/process/spawn.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

/* What the child needs, and what it leaves for us. In shared memory, so that it serves a child that
 * shares our memory and one that does not. */
struct child {
	const struct spawn *spawn;
	const sigset_t *mask;
	char **environment;
	cpu_set_t cpus;
	struct timespec start_raw, start_real;
	int failed;       /* errno */
	const char *step; /* which call failed */
};

/* It has executed the program, or ended with `failed` and `step` set: then it is to be awaited all the same.
 * The pidfd is the caller's to close. */
int child_start(
	const struct spawn *s, struct child *child, pid_t *ret_pid, int *ret_pidfd, struct error *err);
