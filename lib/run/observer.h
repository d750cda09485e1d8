/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample (EMP, Figure 5): a snapshot of every process, the program from start to end, and a
 * second snapshot. */
#pragma once

#include "lib/host/accounting/accounting.h"
#include "lib/host/cpu/prober.h"
#include "lib/host/process/alternation.h"
#include "lib/host/process/program.h"
#include "lib/run/counters.h"

/* The means of observing a sample. Without accounting or a cgroup, the sentence in `no_…` says
 * why. */
struct observer {
	struct accounting *accounting;
	struct cgroup *cgroup;
	struct counter_reader *counters; /* never NULL */
	struct prober *prober;           /* NULL: nobody looks for a neighbour */
	struct error no_accounting, no_cgroup;
	const char *accounting_missing; /* the reason in short: "needs root or file capabilities" */
	const char *backend;            /* "bpf", "taskstats" or "none" */
	const char *pt_source;          /* "cgroup" or "wait4" */
	const char *wait_source;        /* of W: the backend, or "schedstat" without one */
};

/* ACCOUNTING_AUTO takes what is available; a requested backend that is not available is an error.
 * `cpu` as for counters_open. */
int observer_open(
	struct observer *ret, enum accounting_backend backend, int cpu, struct error *err);
void observer_close(struct observer *observer);

struct raw_sample {
	struct exec_result exec;
	char escaped[16]; /* the name of a process that left the program's cgroup; "": not known */
	/* without the program's own; owned by the accounting until the next sample */
	struct process_cpus usages;
	/* W: the program's tasks were ready to run while others had the CPU; -1: not known */
	int64_t wait_ns;
	/* exec.max_rss_bytes is the program's own, and not at least that of this process */
	bool knows_peak;
	int64_t held_back_ns;    /* control groups held them back; it is no part of W */
	struct held_back held;   /* which ones; names only of those that did */
	struct counters changes; /* while the program ran, with its context switches */
	int64_t observer_ns;     /* CPU time of this process, snapshots and counters included */
	/* of a program that alternated with others; .position 0: it ran alone */
	struct alternation_part part;
	struct probed probed;
};

/* `spec->accounting` may be NULL: then there are no usages. -EINTR without a sentence if a signal
 * came for this process: the program was killed and the sample must not be used. */
int observe_sample(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *ret, struct error *err);

/* The two halves of observe_sample, for callers that run the program, or several, in between and
 * put the totals into ret->exec. `spec` has what they have in common: the accounting, the CPU, and
 * the cgroup that all of them are in or below. */
int observe_begin(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *ret, struct error *err);
int observe_end(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *o, struct error *err);

/* One sample of several programs that alternate. `all` has what they have in common: the
 * accounting, the CPU, and the cgroup that their own ones are in. Each observation has the same
 * usages; its wait_ns is its share of what other processes took from all of them; -1 with
 * plan->repeat, or without bpf. */
int observe_together(const struct alternation_plan *plan, const struct command_spec *all,
	const struct command_spec *const *specs, size_t n, struct counter_reader *counters,
	struct raw_sample *ret, struct error *err);
