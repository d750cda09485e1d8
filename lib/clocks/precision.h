/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How precisely a clock times something that always takes equally long, and other statistics of a
 * clock's readings. */
#pragma once

#include "lib/clocks/clocks.h"

/* The standard deviation of the readings, by their mean absolute deviation from their mean, as of
 * normal values: a single reading counts less than in a root mean square, and steps of the clock do
 * not count less than they are. If the mean differs from the truth by more than a tenth, it is the
 * deviation from the truth: a clock that nearly always shows 0 does not vary, but is not precise. n
 * > 0. */
double precision_of(const double *readings, size_t n, double truth);

/* What two clocks showed of the same things, in turn: readings[thing * n_trials + trial]. */
struct precision_pair {
	const double *reference, *other;
	const double *truths; /* of each thing */
	size_t n_things, n_trials;
	size_t n_batches; /* equal parts of the trials, each a sample of the whole time */
};

/* By how much the reference is less precise: the geometric mean over all things of the ratio of
 * their deviations, with the interval of the batches' own (Student's t on logarithms). Things of
 * which one of the clocks shows no deviation are left out. */
struct gain precision_gain(const struct precision_pair *pair);

/* The median of values that were recorded in steps of `quantum`: interpolated in its step, as for
 * grouped data. n > 0. */
double grouped_median_of(const int64_t *ascending, size_t n, int64_t quantum);

struct bounds {
	double low, high;
};

/* The 95 % interval of the median of the population, between two of the values, whatever their
 * distribution (binomial; Conover 1999). NAN: there are too few values. */
struct bounds median_interval(const int64_t *ascending, size_t n);
