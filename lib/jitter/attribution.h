/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes the gaps that a loop saw on one CPU, round by round, to the intervals of the trace: histograms, a row for each
 * source, how much is explained, and how much a trace that was shifted at random would explain. Gaps outside the kernel are a source
 * of their own, which no event explains. All times are ns since the start of the run. */
#pragma once

#include "lib/host/accounting/identity.h"
#include "lib/base/keymap.h"
#include "lib/record/run.h"
#include "lib/jitter/jitter.h"
#include "lib/jitter/gap_statistics.h"
#include "lib/jitter/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Turns the events of one CPU into intervals in which a source had the CPU instead of one thread, the watcher. Intervals nest: an
 * interrupt that occurs while another runs lies inside it, and its time is not part of the net time of the outer one.
 *
 * Nothing is guessed. An end without a beginning is dropped and counted. If sched_switch leaves another task than it last
 * switched to, "an unknown task" had the CPU; if it leaves the watcher, only the switch back to the watcher is missing, whose
 * time the end of the gap shows. */

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

/* Gaps that no event explains: whether they occur at fixed periods, as the interrupts of a virtual machine's host do. */

struct unexplained_item {
	int64_t start_ns, length_ns;
	bool whole; /* a gap, not the rest of one that an event explains in part */
};

struct spacing_bin {
	int64_t count, total_ns;
};

struct unexplained_period {
	struct spacing_bin
		*spacings; /* from an item to those after it, without the items of the periods before */
	int64_t period_ns; /* 0: none found so far */
	int64_t items, total_ns;
	int64_t count; /* of the items: whole gaps */
};

enum { UNEXPLAINED_PERIODS = 4 };

struct unexplained {
	struct unexplained_period periods[UNEXPLAINED_PERIODS]; /* those found come first */
	int64_t rest, rest_ns; /* of whole gaps, and of all items, without a period */
};

/* A round's items, by start; those of less than a microsecond or two are never called periodic. */
void unexplained_add(struct unexplained *unexplained, const struct unexplained_item *items, size_t n);
void unexplained_clear(struct unexplained *unexplained);

/* Whether enough items have this period; otherwise they belong to the rest. */
bool unexplained_period_is_firm(const struct unexplained_period *period);
/* The sums of all items that have a firm period, and of all others. */
struct unexplained_sums {
	int64_t periodic, periodic_ns, rest, rest_ns;
};
struct unexplained_sums unexplained_sums(const struct unexplained *unexplained);

/* Whether the kernel ran in a gap. */
enum gap_origin { GAP_UNKNOWN, GAP_IN_KERNEL, GAP_OUTSIDE_KERNEL };

struct gap_seen {
	int64_t start_ns, end_ns;
	enum gap_origin origin;
};

/* What was seen in a round: gaps and intervals, by start. */
struct jitter_round {
	int64_t from_ns, to_ns;
	const struct gap_seen *gaps;
	size_t n_gaps;
	const struct trace_interval *intervals;
	size_t n_intervals;
};

enum { MATCH_CLASSES = 48, MOST_LONGEST = 100, MOST_INTERRUPTION_PARTS = 32 };

struct long_interruption {
	int64_t start_ns, length_ns;
	int64_t source; /* -1: not explained */
	struct trace_interval parts[MOST_INTERRUPTION_PARTS];
	size_t n_parts;
};

/* A source's row of Table I, and what that is made of. */
struct source_statistics {
	struct jitter_source row; /* without CPU, level, id and period */
	struct histogram lengths;
	struct histogram spacings; /* from one start to the next */
	int64_t last_start_ns;
	int64_t round_ns, last_round_ns; /* its time in this round, and in the one before */
};

/* By the index of the source. */
struct source_rows {
	struct source_statistics *items;
	size_t n;
};

struct attribution {
	struct jitter_sources *sources;
	int64_t outside_source;                     /* that of gaps outside the kernel; -1: none so far */
	uint64_t random;                            /* of the shifts */
	struct jitter_cpu cpu;                      /* the sums so far */
	bool origin_known;                          /* of a gap at least */
	struct jitter_match classes[MATCH_CLASSES]; /* gaps of 2^i to 2^(i+1) ns */
	struct histogram user, master;
	struct source_rows times, frequencies;
	struct histogram excess; /* by how much gaps are longer than their intervals, for each interval */
	/* of gaps in the kernel, or of unknown origin; of those outside the kernel */
	struct unexplained unexplained, outside;
	struct long_interruption *longest; /* MOST_LONGEST of them, the longest first */
	size_t n_longest;
};

void attribution_begin(struct attribution *attribution, int64_t threshold_ns, struct jitter_sources *sources);
void attribution_clear(struct attribution *attribution);

/* Intervals that start after the last gap of the round wait for the next round. Returns how many were used. */
size_t attribution_round(struct attribution *attribution, const struct jitter_round *round);

/* The sums, with what no event explains; what only the loop and the trace know is left out. */
struct jitter_cpu attribution_sums(const struct attribution *attribution);

/* How far apart the intervals of a source are, if at least half of the distances are within 5 % of each other; else 0. */
int64_t source_period(const struct source_statistics *statistics);
