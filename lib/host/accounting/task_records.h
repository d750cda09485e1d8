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

struct task_records;

struct task_records_options {
	size_t events_bytes;   /* buffer of events: a power of two, at least a page; 0: the default */
	bool no_watch;         /* no program is pinned: interrupts are not timed */
	bool read;             /* take snapshots as on kernels before Linux 6.7 */
	const char *directory; /* where resolved programs are kept: see bpf_resolved.h; NULL: /run/emp */
	size_t capacity; /* tasks in a snapshot before it is taken that way; 0: many times the present number */
};

/* `record`: a struct task_record (of a task that ended) or a struct exec_record, by its `kind`. */
typedef int task_records_event(void *context, const void *record);

int task_records_new(struct task_records **ret, const struct task_records_options *options,
	task_records_event *on_event, void *context, struct error *err);
void task_records_free(struct task_records *tasks);
DEFINE_FREEP(task_records)

struct task_snapshot {
	const struct task_record *items; /* until the next snapshot of the same moment */
	size_t n;
};

enum task_moment { TASK_BEFORE, TASK_AFTER };

/* Of the program under test. */
struct task_scope {
	uint64_t cgroup; /* tasks in it and below it get RECORD_PROGRAM; 0: none */
	int cpu; /* that the program is pinned to, which is watched from one snapshot to the next; -1: none */
};

int task_records_snapshot(struct task_records *tasks, enum task_moment moment, const struct task_scope *scope,
	struct task_snapshot *ret, struct error *err);

/* Between the last two snapshots. */
struct task_watched {
	bool has_shares; /* the records' watched_ns are complete */
	int64_t taken_ns; /* that others had that CPU while a task of the program was ready to run; -1: not known */
	int64_t interrupts_ns; /* that interrupts took from the program on that CPU; -1: not known */
	int64_t steal_ns;      /* that the hypervisor took from that CPU; -1: not known */
};
struct task_watched task_records_watched(const struct task_records *tasks);

/* Calls on_event for all events since the last call, in order, until it returns a negative errno. */
int task_records_drain(struct task_records *tasks, struct error *err);

/* Readable when the buffer of events is half full. */
int task_records_poll_fd(const struct task_records *tasks);

/* Exits so far that did not fit into the buffer. */
uint64_t task_records_lost(const struct task_records *tasks);

/* Tasks that have begun to exit, but have not made their last context switch, and so are not among the events. (The
 * number is off by the tasks that were exiting when the programs were loaded.) */
int64_t task_records_exiting(const struct task_records *tasks);

/* How long the calling task has waited for a CPU so far; -1: not known, as before Linux 5.14. System calls only; before Linux 5.19
 * with privileges. */
int64_t task_records_own_wait(const struct task_records *tasks);

/* The process id of the caller of task_records_snapshot, as records have it. */
unsigned int task_records_observer(const struct task_records *tasks);
