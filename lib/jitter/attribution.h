/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attributes gaps to the intervals of the trace that lie in them, and sums both up: by source, by
 * length, and the longest.
 *
 * An interval explains the gap around it if the kernel may have run in that gap. As a check, the
 * same intervals are shifted by a random time within the round, and it is counted how many gaps
 * they would explain then. Where it is not known whether the kernel ran, a gap is not attributed if
 * shifted intervals match gaps of its length as often, unless a switch from the loop's thread and
 * back to it proves who had the CPU. */
#pragma once

#include "lib/jitter/histogram.h"
#include "lib/jitter/intervals.h"
#include "lib/jitter/jitter.h"
#include "lib/jitter/unexplained.h"

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
	/* that of gaps outside the kernel; -1: none so far */
	int64_t outside_source;
	uint64_t random;                            /* of the shifts */
	struct jitter_cpu cpu;                      /* the sums so far */
	bool origin_known;                          /* of a gap at least */
	struct jitter_match classes[MATCH_CLASSES]; /* gaps of 2^i to 2^(i+1) ns */
	struct histogram user, master;
	struct source_rows times, frequencies;
	/* by how much gaps are longer than their intervals, for each interval */
	struct histogram excess;
	/* of gaps in the kernel, or of unknown origin; of those outside the kernel */
	struct unexplained unexplained, outside;
	struct long_interruption *longest; /* MOST_LONGEST of them, the longest first */
	size_t n_longest;
};

void attribution_begin(
	struct attribution *attribution, int64_t threshold_ns, struct jitter_sources *sources);
void attribution_clear(struct attribution *attribution);

/* Intervals that start after the last gap of the round wait for the next round. Returns how many
 * were used. */
size_t attribution_round(struct attribution *attribution, const struct jitter_round *round);

/* The sums, with what no event explains; what only the loop and the trace know is left out. */
struct jitter_cpu attribution_sums(const struct attribution *attribution);

/* How far apart the intervals of a source are, if at least half of the distances are within 5 % of
 * each other; else 0. */
int64_t source_period(const struct source_statistics *statistics);
