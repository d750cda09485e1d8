/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of a stored jitter run: what each source took (Table I of De, Kothari & Mann 2007), and
 * the interruptions of one range of lengths. */
#pragma once

#include "lib/jitter/jitter.h"

/* What a source took, on all CPUs together. */
struct jitter_row {
	const struct source *source;
	int64_t count, min_ns, max_ns, total_ns;
	double mean_ns;
	/* n - 1; 0 for one. The paper's column is something else: it exceeds the range */
	double sd_ns;
	double share;      /* of what events name (total_ns); 0 outside the kernel */
	int64_t period_ns; /* 0: none */
	/* see struct jitter_source; sums over CPUs */
	double squares_ns2, rounds, round_squares_ns2, round_steps_ns2;
};

struct jitter_table {
	struct jitter_row *rows; /* the largest total first */
	size_t n;
	int64_t total_ns; /* without SOURCE_OUTSIDE */
};

/* Of the level JITTER_FREQUENCY, or JITTER_TIME, in which combinations are sources. `sources` must
 * outlive it. -EBADMSG, with a sentence: a row's source is not among them. */
int jitter_table_make(struct jitter_table *ret, const struct jitter *jitter,
	enum jitter_level level, const struct sources *sources, struct error *err);

/* The interruptions of low_ns to high_ns, by source (level JITTER_TIME), from the buckets that
 * overlap that range, which is widened to their edges. Rows have count, total_ns, mean_ns and
 * share, of all; min_ns and max_ns are edges of buckets. */
struct jitter_peak {
	int64_t low_ns, high_ns; /* edges */
	struct jitter_table table;
	int64_t gaps, gaps_ns; /* that the loop saw of such a length, explained or not */
};

int jitter_peak_make(struct jitter_peak *ret, const struct jitter *jitter, int64_t low_ns,
	int64_t high_ns, const struct sources *sources, struct error *err);

void jitter_table_clear(struct jitter_table *table);

/* All CPUs together: sums; the coarsest threshold, and the greatest cost. .cpu is that of the only
 * one, or -1. */
struct jitter_cpu jitter_all_cpus(const struct jitter *jitter);

/* part / whole; 0 of nothing. */
double jitter_share(int64_t part, int64_t whole);
