/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in the order of time: trends, how much neighbours are alike, and the interval of the
 * mean. */
#pragma once

#include "lib/base/base.h"

/* How much of the variance of a series a straight line, a step, or slow variation explains. */

struct trend {
	/* share of the variance between blocks of neighbours, less the share expected by chance; 0
	 * if it may be chance (F test, p > 0.001) or the series is too short */
	double slow;
	double line;          /* share that a straight line explains */
	double step;          /* share that one change of level explains */
	size_t change;        /* index of the first value after that change */
	double before, after; /* means before and after it */
};

/* values[n] in the order of time, in any unit; before and after have the same unit. Values below
 * low and above high count as low and high, to limit the effect of outliers. Fewer than 12 values,
 * or no variance: zeros. */
struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high);

/* How much neighbours are alike, whatever the pattern: about the correlation of their ranks; 0 by
 * chance, below it if they alternate. values[n] in the order of time, and the same ascending. */
double neighbours_alike(const int64_t *values, const int64_t *ascending, size_t n);

/* The confidence interval of the mean of values that were taken one after another, which a slowly
 * changing machine makes alike: such values count as fewer than they are. Their distribution may be
 * skewed, as times often are. The range of eight or more values bounds the interval, unless they
 * are known to count as fewer than four on this machine. */

/* How much neighbours are alike on this machine, from many values that were taken before. */
struct known_correlation {
	double lag1;
	size_t values; /* from which it is known; 0: not known */
};

struct interval {
	double low_ns, high_ns; /* NAN: n < 2 */
	/* autocorrelation of neighbours, as used; NAN: not known, or no variance */
	double lag1;
	/* number of independent values that give the same interval; n unless correlated */
	double effective_n;
	bool assumed;    /* that they are independent: they are too few to tell */
	bool calibrated; /* the machine's correlation was known */
	/* of the clock; what that may give the mean, which is in the interval: see rounding.h */
	double step_ns, bias_ns;
};

/* At 95 %, of values_ns[n] in the order of time. machine NULL: not known. step_ns: of the clock; 0
 * or 1: not known. */
struct interval interval_of_mean(const int64_t *values_ns, size_t n,
	const struct known_correlation *machine, int64_t step_ns);

/* How much the means of separate runs vary. */
struct run_variation {
	double sd;        /* of these means, as a share of their mean */
	double df;        /* degrees of freedom; 0: not known */
	size_t n_runs;    /* from which it is known */
	double n_samples; /* of each of these runs: the harmonic mean */
};

/* The interval of the mean of a run that contains what differs between separate runs, too: the mean
 * of many runs, if the machine changes between them as it did between those that show the
 * variation. */
struct run_interval {
	double low_ns, high_ns;
	struct run_variation variation; /* .df 0: nothing of this is known */
};

/* Of a mean of n values with the interval `within`, which it contains. */
struct run_interval interval_between_runs(const struct interval *within, double mean_ns, size_t n,
	const struct run_variation *variation);

/* By how much the variance of a mean of n values grows if neighbours have this correlation. */
double correlation_inflation(double lag1, double n);
