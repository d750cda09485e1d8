/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taskstats matching: which records are of the same process. Taskstats has no precise start times. Records of what
 * was listed before the first snapshot get 0, others a time after it; and processes that had the same pid get
 * different keys. Then snapshot_diff.h can compare them. Pure. */
#pragma once

#include "lib/host/accounting/accounting_record.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/process/process.h"

#include <stdint.h>

/* A record is a process. An exit whose `kind` is 0 is not the end of a process, but of its first thread, whose
 * name the process has. */
struct taskstats_match {
	const struct pid_list *listed;    /* when the first snapshot began */
	const struct task_record *before; /* in order of pid; without those that ended meanwhile */
	struct task_record *exits;
	struct task_record *after;
	size_t n_before, n_exits, n_after;
	size_t n_early; /* exits during the first snapshot */
	uint64_t before_ns;
	bool (*is_ending)(unsigned int pid); /* whether a process is between its record and its release */
};

/* Sets start times and keys of exits and after. `ret_last_exit`: pid -> index of the last exit with that pid.
 * -ENOMEM. */
int taskstats_match(const struct taskstats_match *match, struct keymap *ret_last_exit);
