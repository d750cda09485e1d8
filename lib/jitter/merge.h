/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gaps that a loop saw on one CPU, merged round by round with the intervals of the trace: histograms, a row for each
 * source, how much is explained, and how much a trace that was shifted at random would explain. Gaps outside the kernel are a source
 * of their own, which no event explains. All times are ns since the start of the run. */
#pragma once

#include "lib/base/error.h"
#include "lib/jitter/intervals.h"
#include "lib/jitter/residue.h"
#include "lib/jitter/source_statistics.h"

/* Whether the kernel ran in a gap. */
enum gap_place { GAP_UNKNOWN, GAP_IN_KERNEL, GAP_OUTSIDE_KERNEL };

struct gap_seen {
	int64_t start_ns, end_ns;
	enum gap_place place;
};

enum { MERGE_CLASSES = 48, MERGE_LONGEST = 100, MERGE_MOST_PARTS = 32 };

struct long_interruption {
	int64_t start_ns, length_ns;
	int64_t source; /* -1: not explained */
	struct trace_interval parts[MERGE_MOST_PARTS];
	size_t n_parts;
};

/* Gaps of 2^i to 2^(i+1) ns. */
struct match_class {
	int64_t gaps, matched, chance;
};

struct merge {
	struct jitter_sources *sources;
	int64_t outside_source; /* that of gaps outside the kernel; -1: none so far */
	uint64_t random;        /* of the shifts */
	int64_t threshold_ns, rounds;
	int64_t gaps, gaps_ns, explained, explained_ns, chance, chance_ns;
	int64_t in_no_gap; /* intervals */
	bool place_known;  /* of a gap at least */
	struct match_class classes[MERGE_CLASSES];
	struct histogram user, master;
	struct source_rows times, frequencies;
	struct histogram excess; /* by how much gaps are longer than their intervals, for each interval */
	struct residue residue,
		outside; /* of gaps in the kernel, or of unknown place; of those outside the kernel */
	struct long_interruption *longest; /* MERGE_LONGEST of them, the longest first */
	size_t n_longest;
};

int merge_begin(struct merge *merge, int64_t threshold_ns, struct jitter_sources *sources, struct error *err);
void merge_clear(struct merge *merge);

/* A round from `from_ns` to `to_ns`: its gaps, and intervals of which those that start after the last gap stay where they are.
 * *ret_used: how many were used. -ENOMEM. */
int merge_round(struct merge *merge, int64_t from_ns, int64_t to_ns, const struct gap_seen *gaps,
	size_t n_gaps, const struct trace_interval *intervals, size_t n_intervals, size_t *ret_used);
