/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run keeps of each source: its row of Table I, and what that is made of. Rows are found by the index of their source. */
#pragma once

#include "lib/stats/histogram.h"

#include <stdbool.h>

struct source_statistics {
	int64_t count, min_ns, max_ns, total_ns;
	double squares_ns2;
	struct histogram lengths;
	struct histogram spacings; /* from one start to the next */
	int64_t last_start_ns;
	int64_t rounds;                            /* in which it occurs */
	int64_t round_ns, last_round_ns;           /* its time in this round, and in the one before */
	double round_squares_ns2, round_steps_ns2; /* as lib/record/jitter.h has them */
};

void source_statistics_free(struct source_statistics *rows, size_t n);

/* The row of a source, made if there is none; NULL: no memory. */
struct source_statistics *source_statistics_row(struct source_statistics **rows, size_t *n, uint32_t source);

/* resumed: this goes on with the one before, and is no start of its own. -ENOMEM. */
int source_statistics_add(
	struct source_statistics *statistics, int64_t start_ns, int64_t length_ns, bool resumed);
void source_statistics_end_round(struct source_statistics *rows, size_t n, bool first);

/* How far apart the intervals of a source are, if at least half of the distances are within 5 % of each other; else 0. */
int64_t source_period(const struct source_statistics *statistics);
