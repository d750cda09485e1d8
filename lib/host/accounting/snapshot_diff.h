/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two snapshots: the CPU time of every process between them (EMP, Figure 5). A pure function
 * from arrays of records to processes.
 *
 * Times are compared for each task and then added to processes, because threads start and end separately:
 *   - a task counts with its time in the second snapshot, or at its end, minus its time in the first;
 *   - with all of its time, if it started after the first snapshot began;
 *   - with 0, if it started earlier and is missing in the first: it was being released;
 *   - a zombie that is in the second snapshot and among the exits counts once;
 *   - never with less than 0. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/accounting/accounting_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct snapshot_diff;

struct snapshots {
	const struct task_record *before, *after;
	const struct task_record *exits; /* in the order in which the tasks ended */
	size_t n_before, n_after, n_exits;
	uint64_t before_ns;    /* CLOCK_MONOTONIC when the first snapshot began */
	unsigned int observer; /* process id of the observer, which is excluded */
	bool has_shares;        /* the records' watched_ns are known */
};

struct process_diff {
	pid_t pid, ppid;
	char name[RECORD_COMM_SIZE];
	uint64_t start_ns; /* of the process */
	uint64_t cgroup;
	int64_t pt_ns, tick_ns;
	int64_t watched_ns; /* of pt_ns, on the watched CPU; -1: not known */
	int cpu;            /* that one of its tasks ran on last; -1: not known */
	unsigned int flags; /* RECORD_*, of its last task */
	bool started, ended;
};

struct process_diffs {
	struct process_diff *items; /* owned by the snapshot_diff until its next run */
	size_t n;
	size_t n_missing; /* tasks of the first snapshot that are neither in the second nor among the exits */
};

int snapshot_diff_new(struct snapshot_diff **ret, struct error *err);
void snapshot_diff_free(struct snapshot_diff *diff);
DEFINE_FREEP(snapshot_diff)

/* All processes that used time, in order of pid. */
int snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots,
	struct process_diffs *ret, struct error *err);
