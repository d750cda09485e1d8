/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The confidence interval of the mean of values that were taken one after another, which a slowly changing machine
 * makes alike: such values are worth fewer than they are. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct interval {
	double half_ns;     /* half its width; NAN: n < 2 */
	double lag1;        /* autocorrelation of neighbours, as estimated; NAN: n < 8, or no variance */
	double effective_n; /* so many independent values would give the same interval; n unless correlated */
};

/* values_ns[n] in the order of time; level such as 0.95. */
struct interval interval_of_mean(const int64_t *values_ns, size_t n, double level);

/* By how much the variance of a mean of n values grows if neighbours have this correlation. */
double correlation_inflation(double lag1, double n);
