/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in the order of time: changes of level, trends, and whether two of them are correlated.
 *
 * Where the level of a series changes, such as the means of the runs of a program in the order of time.
 *
 * The series is divided by PELT (Killick, Fearnhead & Eckley 2012) with the sum of squares as its cost. Values that are far from their
 * neighbours count less (Hampel 1974), so that single bad runs make no level. Successive values may be alike (AR(1)). The penalty is a squared
 * quantile of Student's distribution times the long-run variance that the division itself leaves, so that it need not be known beforehand.
 * tests/bench/truth.py shows how often a level is claimed that does not exist, and how large a change is found. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	CHANGE_POINTS_LEAST = 3,       /* values of a level */
	CHANGE_POINTS_DETECTABLE = 20, /* values that show what would be found */
};

struct level {
	size_t first, n; /* values */
	double mean;
	double half; /* of its 95 % interval; INFINITY: too few values */
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

/* The level after the change minus that before it, and half its 95 % interval. i > 0. */
struct level_change {
	double by, half;
};

struct level_change levels_change(const struct levels *levels, size_t i);

/* How great a change would have been found in four cases of five if the last `after` values came after it, and as many of `n` before it as
 * are left; INFINITY: not known. */
double levels_detectable(const struct levels *levels, size_t n, size_t after);

/* How much of the variance of a series a straight line, a step, or slow variation explains. */

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

/* Whether two quantities that were measured together, one pair after another, are correlated. What drifts or comes in waves seems to be
 * correlated with everything else that does, so that neighbours that are alike count as fewer than they are. */

struct pearson {
	size_t n;
	double r;           /* the coefficient of correlation; NAN: n < 5, or one of the two does not vary */
	double effective_n; /* number of independent pairs with the same information */
	double low, high;   /* the 95 % confidence interval of r (Fisher 1915); NAN: it could be any value */
	double p;           /* that they are independent; two-sided; NAN likewise */
};

/* x[n] and y[n], in the order of time. */
struct pearson pearson_of(const double *x, const double *y, size_t n);
