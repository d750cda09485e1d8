/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start times for the records of taskstats, which have none worth the name: 0 for what the before image
 * listed, times after it for all else; and keys that tell apart what had the same process id. Then snapshot_diff.h can
 * join them. Pure. */
#pragma once

#include "lib/host/accounting/accounting_record.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/process/pid_list.h"

#include <stdint.h>

/* A record is a process. Exits whose `kind` is 0 are not the end of a process, but of its first thread, whose
 * name it bears. */
struct taskstats_match {
	const struct pid_list *listed; /* when the before image began */
	const struct task_record
		*before; /* in order of pid; without those that were gone when they were asked for */
	struct task_record *exits;
	struct task_record *after;
	size_t n_before, n_exits, n_after;
	size_t n_early; /* exits that came while the before image was taken */
	uint64_t before_ns;
	bool (*is_ending)(unsigned int pid); /* whether a process is between its record and its release */
};

/* Dates exits and after. `ret_last_exit`: pid -> index of the last exit with that pid. -ENOMEM. */
int taskstats_match(const struct taskstats_match *dating, struct keymap *ret_last_exit);
