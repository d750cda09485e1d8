/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orphans of a program under test: processes that outlive their parent become children of this
 * process, the nearest child subreaper. The program's are those in its cgroup, and others with
 * its tag. Without partners, those without a tag of this process are its own, too, unless they
 * are in the cgroup of another program, or there were children before, which may leave orphans
 * themselves. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/process/cgroup.h"
#include "lib/host/process/exec_result.h"
#include "lib/host/process/process.h"

struct orphans {
	struct cgroup *cgroup; /* NULL: none */
	/* children that are not the program's, ascending; to be freed with pid_list_free */
	struct pid_list before;
	int number; /* the program's tag; -1: any, also none */
	bool has_partners;
	const struct accounting *accounting; /* may know when they ended; may be NULL */
	/* of the program itself (CLOCK_MONOTONIC); 0: not known */
	int64_t end_ns;
};

/* Before the program starts: makes this process a child subreaper. */
int orphans_begin(struct orphans *orphans, struct cgroup *cgroup, struct error *err);

/* After the program itself has been reaped: reaps those that have ended, one by one, and adds what
 * each used to `sum`, unless that is NULL; those that are known to have outlived the program also
 * to its left_behind. 1: some still run, 0: none. */
int orphans_reap(const struct orphans *orphans, struct exec_result *sum, struct error *err);

/* The CPU time of a process (0: none), of the orphans and of all below them. */
int orphans_used(const struct orphans *orphans, pid_t program, int64_t *ret_ns, struct error *err);

/* How many there are. */
int orphans_count(const struct orphans *orphans, struct error *err);

/* SIGKILL to all of them and to all below them, until there are no new ones. Without a cgroup, a
 * process may be missed that forks and ends within some microseconds; a caller that repeats this
 * reaches it. -EPERM if none may be killed (a setuid program). */
int orphans_kill(const struct orphans *orphans, struct error *err);
