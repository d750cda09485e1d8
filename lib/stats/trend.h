/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of the variance of a series is due to time: a straight line, a step, or slow wandering. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trend {
	double slow; /* share of the variance that lies between blocks of neighbours, less what chance gives;
			0 where it could be chance (F test, p > 0.001) or the series is too short to tell */
	double line; /* share that a straight line explains */
	double step; /* share that one change of level explains */
	size_t change;        /* index of the first value after that change */
	double before, after; /* mean on either side of it */
};

/* values[n], in the order of time and of any unit; before and after are in the same. Values below low and above
 * high count as low and high, so that single outliers do not weigh. Fewer than 12 values, or no variance: zeros. */
struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high);
