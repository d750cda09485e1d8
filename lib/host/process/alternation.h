/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several programs that start together and alternate on one CPU, or on a set of CPUs, until all
 * have ended, so that whatever changes the speed of the machine changes it for all of them (after
 * Bulej and others, "Duet benchmarking", ICPE 2020, who use a CPU for each). What is concluded from
 * it is not known here.
 *
 * They alternate in one of three ways. The scheduler's slices (slices.h) cost nothing and need no
 * privileges, but they are of one CPU. The freezer of cgroup v2, driven by this process, works on
 * older kernels, for slices below a tick and on several CPUs. Signals (SIGSTOP, SIGCONT) to the
 * process group of each program do the same without cgroups; a process that leaves the group runs
 * on. On several CPUs, all threads of one program have all of them in its turn. */
#pragma once

#include "lib/host/process/program.h"

enum slicing { SLICING_AUTO, SLICING_SCHEDULER, SLICING_FREEZER, SLICING_SIGNALS, N_SLICINGS };

/* "auto", "scheduler", "freezer", "signals". */
extern const char *const slicing_names[N_SLICINGS];

struct alternation_plan {
	enum slicing slicing; /* not SLICING_AUTO: see alternation_choose */
	int64_t slice_ns;
	int cpu; /* -1: they may use several, `cpus` */
	cpu_set_t cpus;
	bool repeat;  /* programs that have ended start again until all have ended once */
	size_t first; /* which one starts first; the others follow in their order */
};

/* What part one program had in it. */
struct alternation_part {
	int position;        /* that it started in, from 1; 0: it alternated with none */
	int repetitions;     /* complete ones; 0: another program did not end by itself */
	int64_t together_ns; /* of its elapsed time, while there was another program */
	/* how often it got the CPU after another one, in all complete repetitions; -1: not known.
	 * For the observer to fill in. */
	int64_t turns;
	bool cut_short; /* one more repetition was under way, and was killed */
};

struct alternation_result {
	struct exec_result exec; /* of repetitions: means, and the sums of left_behind and killed */
	struct alternation_part part;
};

/* What AUTO means here, or whether the given way works. cpu: -1: several. `cgroup`: one that a
 * program would run in; NULL: there are none. -ENOTSUP with a sentence. */
int alternation_choose(enum slicing wanted, int64_t slice_ns, int cpu, const struct cgroup *cgroup,
	enum slicing *ret, struct error *err);

/* The way that gives slices of that length here; SLICING_AUTO: none does. */
enum slicing alternation_slicing(int64_t slice_ns, int cpu, const struct cgroup *cgroup);

/* Runs n programs, each in a cgroup of its own, or all without. The CPUs of their specs must be the
 * plan's, and the specs must outlive this. On one CPU, the ET of a program includes the turns of the
 * others; on several, it is the time of its own turns. If one does not end by itself
 * (PROGRAM_TIMED_OUT and the like), the others are killed. Failures as for program_run. */
int alternation_run(const struct alternation_plan *plan, const struct command_spec *const *specs,
	size_t n, struct alternation_result *ret, struct error *err);
