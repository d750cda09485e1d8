/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From two images and the exits between them to what every process took (EMP, Figure 5). Pure: arrays of
 * records in, executions out.
 *
 * Times are joined task by task and then summed to processes, because threads come and go on their own:
 *   - a task of the after image, or that ended, minus what it had in the before image;
 *   - all it has, if it started after the before image began;
 *   - nothing, if it started earlier and is missing there: it had been released already, or was about to be;
 *   - a zombie that is in the after image and among the exits counts once;
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
	uint64_t before_ns;    /* CLOCK_MONOTONIC when the before image began */
	unsigned int observer; /* the process that is left out */
};

struct execution {
	pid_t pid, ppid;
	char name[RECORD_COMM_SIZE];
	uint64_t start_ns; /* of the process */
	uint64_t cgroup;
	int64_t pt_ns, tick_ns;
	unsigned int flags; /* RECORD_*, of the task seen last */
	bool started, ended;
};

struct executions {
	struct execution *items; /* owned by the join until it is used again */
	size_t n;
	size_t n_missing; /* tasks of the before image that are gone, and of whose end nothing was told (yet)
			   */
};

int snapshot_diff_new(struct snapshot_diff **ret, struct error *err);
void snapshot_diff_free(struct snapshot_diff *diff);
DEFINE_FREEP(snapshot_diff)

/* All executions with time, in order of pid. */
int snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots, struct executions *ret,
	struct error *err);
