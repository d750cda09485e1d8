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
