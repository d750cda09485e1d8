/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two quantities that were measured together are correlated: see pearson.h.
 *
 * If both are series whose neighbours are alike, their coefficient of correlation varies by chance
 * as that of fewer independent pairs would: n / (1 + 2 sum of a_k b_k), where a_k and b_k are their
 * autocorrelations at a distance of k (Bartlett 1935). These are estimated from the values; if they
 * fall geometrically, from those of neighbours, with a correction for their bias (Marriott & Pope
 * 1954). The greater of both sums counts. tests/unit/test_pearson.c shows how often this calls
 * related what is not. */
#include "lib/load/pearson.h"

#include "lib/base/base.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { PEARSON_LEAST = 5 };

static const double PEARSON_MOST_LAG1 = 0.95;

/* The sum of the products, b being `lag` values later. */
static double lagged_products(const double *a, const double *b, size_t n, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += a[i - lag] * b[i];
	return sum;
}

struct pearson pearson_of(const double *x, const double *y, size_t n)
{
	_cleanup_(freep) double *room = xcalloc(2 * n, sizeof(*room));
	double *off[] = {room, room + n}, squares[2], lag1[2], both, sum = 1, r, freedom, half;
	struct pearson c = {n, NAN, (double)n, NAN, NAN, NAN};

	if (n < PEARSON_LEAST)
		return c;
	for (int k = 0; k < 2; k++) {
		const double *values = k == 0 ? x : y;
		double mean = gsl_stats_mean(values, 1, n), rounding = 1e-12 * mean;

		for (size_t i = 0; i < n; i++)
			off[k][i] = values[i] - mean;
		squares[k] = lagged_products(off[k], off[k], n, 0);
		/* they vary by no more than rounding */
		if (!(squares[k] > (double)n * rounding * rounding))
			return c;
		lag1[k] = ((double)n * (lagged_products(off[k], off[k], n, 1) / squares[k]) + 1) /
			  ((double)n - 4);
	}
	c.r = lagged_products(off[0], off[1], n, 0) / sqrt(squares[0]) / sqrt(squares[1]);
	/* by how much the variance of r grows */
	both = fmax(0, fmin(lag1[0], PEARSON_MOST_LAG1)) *
	       fmax(0, fmin(lag1[1], PEARSON_MOST_LAG1));
	for (size_t lag = 1; lag <= n / 4; lag++)
		sum += 2 * (1 - (double)lag / (double)n) *
		       (lagged_products(off[0], off[0], n, lag) / squares[0]) *
		       (lagged_products(off[1], off[1], n, lag) / squares[1]);
	c.effective_n = (double)n / fmax((1 + both) / (1 - both), sum);
	if (c.effective_n <= 4)
		return c;
	r = fmin(fabs(c.r), 1 - 1e-12);
	freedom = c.effective_n - 2;
	half = gsl_cdf_ugaussian_Pinv(0.975) / sqrt(c.effective_n - 3);
	c.p = 2 * gsl_cdf_tdist_Q(r * sqrt(freedom / (1 - r * r)), freedom);
	c.low = tanh(atanh(copysign(r, c.r)) - half);
	c.high = tanh(atanh(copysign(r, c.r)) + half);
	return c;
}
