/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the events of one CPU into intervals in which a source had the CPU instead of one thread, the watcher. Intervals nest: an
 * interrupt that occurs while another runs lies inside it, and its time is not part of the net time of the outer one.
 *
 * Nothing is guessed. An end without a beginning is dropped and counted. If sched_switch leaves another task than it last
 * switched to, "an unknown task" had the CPU; if it leaves the watcher, only the switch back to the watcher is missing, whose
 * time the end of the gap shows. */
#pragma once

#include "lib/host/accounting/identity.h"
#include "lib/host/accounting/keymap.h"
#include "lib/host/trace/trace.h"
#include "lib/record/run.h"

/* A source of interruptions. Events have numbers and the names that were valid at the time; each is made a source once. */
struct jitter_source_name {
	char *name;
	char *unit; /* NULL: none or not known */
	enum source_kind kind;
	uint32_t *parts; /* of a combination, in the order of its name */
	size_t n_parts;
};

/* The function at an address: trace_symbol(). */
typedef const char *jitter_symbol(struct trace *trace, uint64_t address);

struct jitter_sources {
	struct jitter_source_name *items;
	size_t n;
	struct keymap known; /* by hashes of what events have */
	size_t n_combinations;
	struct identity *identity; /* NULL: threads have no units */
	jitter_symbol *symbol;     /* NULL: kernel workers go without functions */
	struct trace *trace;       /* of the symbols */
	const char *outside;       /* the name of what stops the CPU below the kernel */
};

void jitter_sources_clear(struct jitter_sources *sources);

/* The index of the source of a thread. Kernel workers are grouped by lib/protocol/names.h. */
uint32_t jitter_source_of_thread(struct jitter_sources *sources, pid_t pid, const char *name);
/* The source of gaps outside the kernel. */
uint32_t jitter_source_outside(struct jitter_sources *sources);
/* The source of several in one gap, in any order. A single one is returned as it is. */
uint32_t jitter_source_of_parts(struct jitter_sources *sources, const uint32_t *parts, size_t n);

struct trace_interval {
	int64_t start_ns, end_ns; /* end < start: it is open, or was dropped */
	int64_t net_ns;           /* if it is open-ended: what is to be added to its length, 0 or less */
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
