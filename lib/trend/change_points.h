/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the level of a series changes, such as the means of the runs of a program in the order of time.
 *
 * The series is divided by PELT (Killick, Fearnhead & Eckley 2012) with the sum of squares as its cost. Values that are far from their
 * neighbours count less (Hampel 1974), so that single bad runs make no level. Successive values may be alike (AR(1)). The penalty is a squared
 * quantile of Student's distribution times the long-run variance that the division itself leaves, so that it need not be known beforehand.
 * tests/bench/truth.py shows how often a level is claimed that does not exist, and how large a change is found. */
#pragma once

#include "lib/base/base.h"

enum {
	CHANGE_POINTS_LEAST = 3,       /* values of a level */
	CHANGE_POINTS_DETECTABLE = 20, /* values that show what would be found */
};

/* By how much a level is above the one before, and half the 95 % interval of that. */
struct level_change {
	double by, half;
};

struct level {
	size_t first, n; /* values */
	double mean;
	double half;                /* of its 95 % interval; INFINITY: too few values */
	struct level_change change; /* {}: it is the first */
};

struct levels {
	struct level *items; /* in order; one: no change */
	size_t n;
	double sd;       /* of a value about its level, as far as values are no outliers */
	double lag1;     /* correlation of neighbours, as used */
	double variance; /* of the sum of many values, divided by their number */
	double df;
	double penalty; /* what a level must reduce the sum of squares by; 0: there are too few values for two */
	double *clipped; /* the values as they count */
	double *in_level; /* the values; outliers as far as they may be from their neighbours of the same level */
};

/* values[n] in the order of time. */
void change_points_find(const double *values, size_t n, struct levels *ret);
void levels_clear(struct levels *levels);

/* How great a change would have been found in four cases of five if the last `after` values came after it, and as many of `n` before it as
 * are left; INFINITY: not known. */
double levels_detectable(const struct levels *levels, size_t n, size_t after);
