/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in the order of time: changes of level, trends, whether two of them are correlated, the interval of their mean, and
 * rates of what comes in bursts.
 *
 * Where the level of a series changes, such as the means of the runs of a program in the order of time.
 *
 * The series is divided by PELT (Killick, Fearnhead & Eckley 2012) with the sum of squares as its cost. Values that are far from their
 * neighbours count less (Hampel 1974), so that single bad runs make no level. Successive values may be alike (AR(1)). The penalty is a squared
 * quantile of Student's distribution times the long-run variance that the division itself leaves, so that it need not be known beforehand.
 * tests/bench/truth.py shows how often a level is claimed that does not exist, and how large a change is found. */
#pragma once

#include <stdbool.h>
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

/* The confidence interval of the mean of values that were taken one after another, which a slowly changing machine
 * makes alike: such values count as fewer than they are. Their distribution may be skewed, as times often are. The range of eight or
 * more values bounds the interval, unless they are known to count as fewer than four on this machine. */

/* How much neighbours are alike on this machine, from many values that were taken before. */
struct known_correlation {
	double lag1;
	size_t values; /* from which it is known; 0: not known */
};

struct interval {
	double low_ns, high_ns; /* NAN: n < 2 */
	double lag1;            /* autocorrelation of neighbours, as used; NAN: not known, or no variance */
	double effective_n; /* number of independent values that give the same interval; n unless correlated */
	bool assumed;       /* that they are independent: they are too few to tell */
	bool calibrated;    /* the machine's correlation was known */
};

/* values_ns[n] in the order of time; level such as 0.95. machine NULL: not known. */
struct interval interval_of_mean(
	const int64_t *values_ns, size_t n, double level, const struct known_correlation *machine);

/* By how much the variance of a mean of n values grows if neighbours have this correlation. */
double correlation_inflation(double lag1, double n);

/* Whether something that comes in bursts takes more of the time in one run than in another, by more than chance.
 *
 * Bursts make counts vary far more than Poisson's, so the time is counted in rounds: how it varies from round to round,
 * and how much a round is like the next, shows how much chance can explain. */

/* One side: n rounds of equal length, and what it took in them. */
struct rate {
	double n;        /* rounds */
	double time_ns;  /* all rounds together */
	double with;     /* rounds in which it occurs */
	double total_ns; /* of all rounds */
	double squares;  /* sum of the squares of its time in a round */
	double steps;    /* sum of the squares of the differences between neighbouring rounds */
};

/* total_ns / time_ns of b, divided by that of a; INFINITY if only b has any. */
double rate_ratio(const struct rate *a, const struct rate *b);

/* The p-value of "the rate of b is at most `margin` times that of a": small where b has more. margin >= 1. */
double rate_more(const struct rate *a, const struct rate *b, double margin);

/* The 95 % interval of that ratio: the margins that rate_more() does not reject on either side. INFINITY: no upper bound. */
void rate_ratio_interval(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high);
