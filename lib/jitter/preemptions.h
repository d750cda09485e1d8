/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What took the CPU from a program, found in the events of the kernel's trace: interrupts while it
 * runs, and other tasks while it is ready to run, that is, preempted or just forked. Whatever runs
 * while the program waits for something takes nothing from it. */
#pragma once

#include "lib/jitter/intervals.h"

/* What one source took. */
struct preemption {
	uint32_t source; /* of the jitter_sources */
	int64_t slices, total_ns, longest_ns;
};

/* What was taken in one sample. */
struct preemptions {
	struct preemption *items; /* the largest total first */
	size_t n;
	int64_t total_ns;
	int64_t events, lost, broken; /* as in struct jitter_cpu */
};

/* Adds what one source took. */
void preemptions_add(struct preemptions *preemptions, const struct preemption *more);
void preemptions_clear(struct preemptions *preemptions);

/* Finds them in events. */
struct preemption_finder {
	struct intervals intervals;
	pid_t program;         /* all its threads are this one to the intervals */
	struct keymap threads; /* of the program: 1 if ready */
	size_t n_ready;
	bool running;
	struct preemptions found;
};

/* `program`: its first process. What it forks belongs to it. */
void preemption_finder_begin(
	struct preemption_finder *finder, pid_t program, struct jitter_sources *sources);
void preemption_finder_add(
	struct preemption_finder *finder, const struct trace_event *event, int64_t at_ns);
void preemption_finder_clear(struct preemption_finder *finder);
