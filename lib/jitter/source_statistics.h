/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run keeps of each source: its row of Table I, and what that is made of. */
#pragma once

#include "lib/stats/distribution.h"

#include <stdbool.h>

struct source_statistics {
	int64_t count, min_ns, max_ns, total_ns;
	double squares_ns2;
	struct histogram lengths;
	struct histogram spacings; /* from one start to the next */
	int64_t last_start_ns;
	int64_t rounds;                            /* in which it occurs */
	int64_t round_ns, last_round_ns;           /* its time in this round, and in the one before */
	double round_squares_ns2, round_steps_ns2; /* as lib/jitter/jitter.h has them */
};

/* By the index of the source. */
struct source_rows {
	struct source_statistics *items;
	size_t n;
};

void source_rows_clear(struct source_rows *rows);

/* resumed: this continues the interval before, and is not a start of its own. -ENOMEM. */
int source_rows_add(
	struct source_rows *rows, uint32_t source, int64_t start_ns, int64_t length_ns, bool resumed);
void source_rows_end_round(struct source_rows *rows, bool first);

/* How far apart the intervals of a source are, if at least half of the distances are within 5 % of each other; else 0. */
int64_t source_period(const struct source_statistics *statistics);
