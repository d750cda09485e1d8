/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Location and width of the bulk of an array, however extreme a minority of its values is. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* In place. */
void sort_ascending(int64_t *values, size_t n);

/* The quantile p (0 to 1) of ascending values, interpolated (Hyndman & Fan 1996, type 7). n > 0. */
double quantile_of(const int64_t *ascending, size_t n, double p);

/* values[n], in any order. NAN: n = 0, or out of memory. */
double median_of(const int64_t *values, size_t n);

/* The median of values that were recorded in steps of `quantum`: interpolated in its step, as for grouped data. n > 0. */
double grouped_median_of(const int64_t *ascending, size_t n, int64_t quantum);

struct bounds {
	double low, high;
};

/* The confidence interval of the median of the population, between two of the values: whatever their distribution, it
 * covers at least `level` (binomial; Conover 1999). NAN: there are too few values. */
struct bounds median_interval(const int64_t *ascending, size_t n, double level);

/* The shortest interval that contains half of the values (Rousseeuw & Leroy 1988). Unlike the MAD it is not
 * symmetric about the median, and so one long tail does not widen it. */
struct shorth {
	double middle;
	double sd; /* of normal values with a half this wide */
};

struct shorth shorth_of(const int64_t *ascending, size_t n); /* n > 0 */
