/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The confidence interval of the mean of values that were taken one after another, which a slowly changing machine
 * makes alike: such values count as fewer than they are. Their distribution may be skewed, as times often are. The range of eight or
 * more values bounds the interval, unless they are known to count as fewer than four on this machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
