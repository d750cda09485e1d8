/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The difference between two snapshots: what every process took between them (EMP, Figure 5). Pure: arrays of
 * records in, processes out.
 *
 * Times are compared task by task and then summed to processes, because threads start and end on their own:
 *   - a task of the second snapshot, or that ended, minus what it had in the first;
 *   - all it has, if it started after the first snapshot began;
 *   - nothing, if it started earlier and is missing there: it was being released;
 *   - a zombie that is in the second snapshot and among the exits counts once;
 *   - never less than nothing. */
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
	unsigned int observer; /* its process id: it is left out */
};

struct process_diff {
	pid_t pid, ppid;
	char name[RECORD_COMM_SIZE];
	uint64_t start_ns; /* of the process */
	uint64_t cgroup;
	int64_t pt_ns, tick_ns;
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

/* All processes that took time, in order of pid. */
int snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots,
	struct process_diffs *ret, struct error *err);
