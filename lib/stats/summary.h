/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summary statistics of an array of times, as in the papers' tables. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct summary {
	size_t n;
	int64_t min_ns, max_ns;
	double mean_ns, median_ns;
	double sd_ns;          /* n - 1; 0 for n < 2 */
	double relative_error; /* sd / mean (EMP, Table XVIII) */
};

/* values_ns[n], in any order. n = 0 gives zeros. */
struct summary summary_of(const int64_t *values_ns, size_t n);

/* In ns: half the width of the confidence interval of the mean by Student's t (level such as 0.95); NAN for n < 2. */
double summary_interval(const struct summary *summary, double level);
