/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of the variance of a series a straight line, a step, or slow variation explains. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trend {
	double slow; /* share of the variance between blocks of neighbours, less the share expected by chance;
			0 if it may be chance (F test, p > 0.001) or the series is too short */
	double line; /* share that a straight line explains */
	double step; /* share that one change of level explains */
	size_t change;        /* index of the first value after that change */
	double before, after; /* means before and after it */
};

/* values[n] in the order of time, in any unit; before and after have the same unit. Values below low and above
 * high count as low and high, to limit the effect of outliers. Fewer than 12 values, or no variance: zeros. */
struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high);

/* How much neighbours are alike, whatever the pattern: about the correlation of their ranks; 0 by chance, below it if they
 * alternate. values[n] in the order of time, and the same ascending. */
double neighbours_alike(const int64_t *values, const int64_t *ascending, size_t n);
