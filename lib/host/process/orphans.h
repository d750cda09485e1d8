/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orphans of a program under test: processes that outlive their parent become children of this process, the nearest
 * child subreaper. The program's are those in its cgroup. So are other children that did not exist before the program,
 * unless they are in the cgroup of another program, or there were children before, which may leave orphans too. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/process/cgroup.h"

#include <sys/resource.h>

struct pids {
	pid_t *items;
	size_t n, capacity;
};

struct orphans {
	struct cgroup *cgroup; /* NULL: none */
	struct pids before;    /* children that are not the program's */
	bool kept;             /* none is looked for */
};

/* Before the program starts: makes this process a child subreaper. */
int orphans_begin(struct orphans *orphans, struct cgroup *cgroup, struct error *err);
void orphans_clear(struct orphans *orphans);

/* After the program itself has been reaped: reaps those that have ended, one by one, and calls `add` with the resource usage
 * of each. 1: some still run, 0: none. */
int orphans_reap(const struct orphans *orphans, void (*add)(void *data, const struct rusage *), void *data,
	struct error *err);

/* How many there are. */
int orphans_count(const struct orphans *orphans, struct error *err);

/* SIGKILL to all of them and to all below them, until there are no new ones. Without a cgroup, a process may be missed
 * that forks and ends within some microseconds; a caller that repeats this reaches it. -EPERM if none may be killed (a
 * setuid program). */
int orphans_kill(const struct orphans *orphans, struct error *err);
