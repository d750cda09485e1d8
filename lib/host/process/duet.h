/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet: several programs that start together and alternate on one CPU until all have ended, so that whatever changes
 * the speed of the machine changes it for all of them (after Bulej and others, "Duet benchmarking", ICPE 2020, who use a CPU
 * for each).
 *
 * They alternate in one of two ways: the scheduler's slices (program.h), which cost nothing and need no privileges; or the freezer of
 * cgroup v2, driven by this process on another CPU, which works on older kernels and for slices below a tick. */
#pragma once

#include "lib/host/process/program.h"

enum slicing { SLICING_AUTO, SLICING_SCHEDULER, SLICING_FREEZER, N_SLICINGS };

/* "auto", "scheduler", "freezer". */
extern const char *const slicing_names[N_SLICINGS];

struct duet_plan {
	enum slicing slicing; /* not SLICING_AUTO: see duet_choose */
	int64_t slice_ns;
	int cpu;
	bool repeat;  /* programs that have ended start again until all have ended once */
	size_t first; /* which one starts first; the others follow in their order */
};

struct duet_part {
	struct spawned spawned; /* of repetitions: means, and the sums of left_behind and killed */
	int repetitions;        /* complete ones; 0: another program did not end by itself */
	int64_t together_ns;    /* of its elapsed time, while there was another program */
	int position;           /* that it started in, from 1 */
};

/* What AUTO means here, or whether the given way works. `cgroup`: one that a program would run in; NULL: there are none. -ENOTSUP
 * with a sentence. */
int duet_choose(enum slicing wanted, int64_t slice_ns, int cpu, const struct cgroup *cgroup,
	enum slicing *ret, struct error *err);

/* Whether AUTO gives slices of that length here. */
bool duet_has_slices(int64_t slice_ns, int cpu, const struct cgroup *cgroup);

/* Runs n programs, each in a cgroup of its own, or all without. Their spawn->cpu must be the plan's, and they must
 * outlive this. If one does not end by itself (SPAWN_TIMED_OUT and the like), the others are killed. Failures as for
 * program_run. */
int duet_run(const struct duet_plan *plan, const struct spawn *const *spawns, size_t n, struct duet_part *ret,
	struct error *err);
