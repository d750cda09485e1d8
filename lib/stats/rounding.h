/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a clock that counts in steps hides. A mean of rounded times is wrong by up to half a step,
 * however many they are: noise of less than a step does not average it out, because equal times are
 * rounded alike. */
#pragma once

#include "lib/stats/summary.h"

struct rounding {
	/* the mean of the true times is within this of that of the rounded ones, but for chance */
	double bias_ns;
	double variance; /* of the mean, at least; ns² */
};

/* The step of the clock that these times come from; b_ns may be NULL. known_ns: that of the clock,
 * if it is more than 1. Otherwise the greatest step that all times are multiples of; of times that
 * are all the same, the greatest that a clock is likely to have. */
int64_t rounding_step(
	const int64_t *a_ns, size_t n_a, const int64_t *b_ns, size_t n_b, int64_t known_ns);

/* Of the mean of values_ns[n], in any order, which were rounded to a step. */
struct rounding rounding_of(const int64_t *values_ns, size_t n, int64_t step_ns);
