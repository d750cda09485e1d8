/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's counters for a program and everything that it starts: hardware events (cycles, instructions) where the
 * machine has counters for them, and the kernel's software events (page-faults, context-switches) everywhere. The
 * only file that calls perf_event_open(2).
 *
 * The events are opened on this thread and inherited by its children; they count from execve on. So only the program
 * may be started between perf_counters_start and perf_counters_stop. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

struct perf_counters;

/* `events`: names as in perf-list(1), separated by commas; "cycles:u" counts user mode only. Each is tried:
 * -ENOTSUP with a sentence if this machine does not count it, -EACCES if it is not permitted. A user who is permitted
 * to count in user mode only gets that. */
int perf_counters_new(struct perf_counters **ret, const char *events, struct error *err);
void perf_counters_free(struct perf_counters *counters);
DEFINE_FREEP(perf_counters)

size_t perf_counters_n(const struct perf_counters *counters);

/* As in `events`, with ":u" where only user mode is counted. */
const char *perf_counters_name(const struct perf_counters *counters, size_t i);

int perf_counters_start(struct perf_counters *counters, struct error *err);

/* The counts by index; -1 if an event was never on a hardware counter. If events shared a counter, the count is scaled
 * to the whole time, as perf does. task-clock and cpu-clock are ns. */
int perf_counters_stop(struct perf_counters *counters, int64_t *ret, struct error *err);

/* A descriptor whose read(2) gives the CPU time of a process (0: the caller) in ns as 8 bytes, from now on; -errno. */
int perf_task_clock_open(pid_t pid);
