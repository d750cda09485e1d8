/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two quantities that were measured together, one pair after another, are correlated. What
 * drifts or comes in waves seems to be correlated with everything else that does, so that
 * neighbours that are alike count as fewer than they are. */
#pragma once

#include <stddef.h>

struct pearson {
	size_t n;
	/* the coefficient of correlation; NAN: n < 5, or one of the two does not vary */
	double r;
	double effective_n; /* number of independent pairs with the same information */
	/* the 95 % confidence interval of r (Fisher 1915); NAN: it could be any value */
	double low, high;
	double p; /* that they are independent; two-sided; NAN likewise */
};

/* x[n] and y[n], in the order of time. */
struct pearson pearson_of(const double *x, const double *y, size_t n);
