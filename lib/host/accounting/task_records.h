/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's tasks, seen by BPF programs: images of all of them, and records of those that end or execute a
 * program. The only file that includes libbpf. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/accounting/accounting_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_records;

struct task_records_options {
	size_t events_bytes; /* buffer of events: a power of two, at least a page; 0: as large as it should be
			      */
	bool read;           /* images in the way of kernels before Linux 6.7 */
	size_t capacity; /* tasks in an image before that way is taken; 0: many times those there are now */
};

/* A struct task_record (of a task that ended) or a struct exec_record: `kind` tells. */
typedef int task_records_event(void *context, const void *record);

int task_records_new(struct task_records **ret, const struct task_records_options *options,
	task_records_event *on_event, void *context, struct error *err);
void task_records_free(struct task_records *watch);
DEFINE_FREEP(task_records)

struct task_snapshot {
	const struct task_record *items; /* until the next image of the same moment */
	size_t n;
};

enum task_moment { TASK_BEFORE, TASK_AFTER };

/* Tasks in the cgroup with that id and below it get RECORD_PROGRAM. */
int task_records_snapshot(struct task_records *watch, enum task_moment moment, uint64_t program_cgroup,
	struct task_snapshot *ret, struct error *err);

/* Calls on_event for all events since the last call, in their order; what it returns below zero ends it. */
int task_records_drain(struct task_records *watch, struct error *err);

/* Readable when the buffer of events is half full. */
int task_records_poll_fd(const struct task_records *watch);

/* Exits for which there was no room, since the watch was made. */
uint64_t task_records_lost(const struct task_records *watch);

/* Tasks that have begun to end and not yet made their last switch, after which they are among the events.
 * (The count is off by a few that were on their way out when the watch was made.) */
int64_t task_records_exiting(const struct task_records *watch);

/* The process id of the caller of task_records_snapshot, as records have it. */
unsigned int task_records_observer(const struct task_records *watch);
