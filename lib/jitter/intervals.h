/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the events of one CPU into intervals in which a source had the CPU instead of one thread,
 * the watcher. Intervals nest: an interrupt that occurs while another runs lies inside it, and its
 * time is not part of the net time of the outer one. All times are ns since the start of the run.
 *
 * Nothing is guessed. An end without a beginning is dropped and counted. If sched_switch leaves
 * another task than it last switched to, "an unknown task" had the CPU; if it leaves the watcher,
 * only the switch back to the watcher is missing, whose time the end of the gap shows. */
#pragma once

#include "lib/jitter/jitter_sources.h"

struct trace_interval {
	int64_t start_ns, end_ns; /* end < start: it is open, or was dropped */
	/* if it is open-ended: what is to be added to its length, 0 or less */
	int64_t net_ns;
	uint32_t source;
	uint8_t depth;   /* 0: not nested */
	bool switched;   /* its start and its end are switches of tasks */
	bool resumed;    /* the task was preempted before and continues */
	bool open_ended; /* it ends with its gap */
};

enum { INTERVALS_DEEPEST = 8 };

struct intervals {
	pid_t watcher;
	struct jitter_sources *sources;
	struct trace_interval *items; /* by start */
	size_t n, capacity;
	struct {
		size_t item;
		enum trace_kind kind;
		uint64_t number;
		int64_t inner_ns; /* of those nested in it */
	} open[INTERVALS_DEEPEST];
	size_t depth;
	pid_t current;         /* -1: not known */
	bool worked;           /* the interval of a kernel worker has had its function */
	struct keymap threads; /* what is known of a thread from its last switch */
	int64_t events, broken;
};

void intervals_begin(struct intervals *intervals, pid_t watcher, struct jitter_sources *sources);
void intervals_clear(struct intervals *intervals);

/* The next event, with its time in ns. */
void intervals_add(struct intervals *intervals, const struct trace_event *event, int64_t at_ns);
/* Events were lost here: what is open is dropped. */
void intervals_lost(struct intervals *intervals);
/* Removes the first n. */
void intervals_drop(struct intervals *intervals, size_t n);
