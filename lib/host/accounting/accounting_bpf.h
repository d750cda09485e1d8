/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the kernel's tasks from BPF programs: snapshots of all tasks, and records of those that end or execute a
 * program. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/accounting/accounting_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_records_options {
	size_t events_bytes;   /* buffer of events: a power of two, at least a page; 0: the default */
	bool no_watch;         /* no program is pinned: interrupts are not timed */
	bool read;             /* take snapshots as on kernels before Linux 6.7 */
	const char *directory; /* where resolved programs are kept: see bpf_programs.h; NULL: /run/emp */
	size_t capacity; /* tasks in a snapshot before it is taken that way; 0: many times the present number */
};

/* Of the program under test. */
struct task_scope {
	uint64_t cgroup; /* tasks in it and below it get RECORD_PROGRAM; 0: none */
	int cpu; /* that the program is pinned to, which is watched from one snapshot to the next; -1: none */
};
