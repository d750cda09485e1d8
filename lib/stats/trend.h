/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of the variance of a series is its course in time: a trend, a step, or slow wandering. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trend {
	double slow; /* share of the variance that lies between blocks of neighbours, less what chance gives;
			0 where it could be chance (F test, p > 0.001) or the series is too short to tell */
	double line; /* share that a straight line explains */
	double step; /* share that one change of level explains */
	size_t change;        /* the first value behind that change */
	double before, after; /* mean on either side of it */
};

/* Values beyond low and high are pulled in to them, so that single outliers do not weigh. */
struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high);
