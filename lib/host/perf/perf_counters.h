/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's counters for a program and everything that it starts: hardware events (cycles,
 * instructions) where the machine has counters for them, and the kernel's software events
 * (page-faults, context-switches) everywhere. The only file that calls perf_event_open(2).
 *
 * The events are opened on this thread and inherited by its children; they count from execve on. So
 * only the program may be started between perf_counters_start and perf_counters_stop. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

/* {}: no counters. */
struct perf_counters {
	struct perf_event {
		char *name; /* as it was given, with ":u" where only user mode is counted */
		const struct perf_kind *kind;
		bool user_only;
		int fd; /* -1: not open */
	} * items;
	size_t n;
};

/* `events`: names as in perf-list(1), separated by commas; "cycles:u" counts user mode only. Each
 * is tried: -ENOTSUP with a sentence if this machine does not count it, -EACCES if it is not
 * permitted. A user who is permitted to count in user mode only gets that. */
int perf_counters_open(struct perf_counters *ret, const char *events, struct error *err);
void perf_counters_clear(struct perf_counters *counters);

int perf_counters_start(struct perf_counters *counters, struct error *err);

/* The counts by index; -1 if an event was never on a hardware counter. If events shared a counter,
 * the count is scaled to the whole time, as perf does. task-clock and cpu-clock are ns. */
int perf_counters_stop(struct perf_counters *counters, int64_t *ret, struct error *err);

struct perf_event_attr;
/* perf_event_open(2) for a process (0: the caller) with the privileges raised: a descriptor, or
 * -errno. */
int perf_event_open(struct perf_event_attr *attr, pid_t pid);
