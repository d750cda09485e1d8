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

/* One of the two series. */
struct series {
	double *off;    /* from the mean */
	double squares; /* their sum */
	double lag1;    /* the autocorrelation of neighbours, without its bias */
};

/* How far the values are from their mean, into .off; false: they vary by no more than rounding. */
static bool series_make(struct series *s, const double *values, size_t n)
{
	double mean = gsl_stats_mean(values, 1, n), rounding = 1e-12 * mean, lag1;

	for (size_t i = 0; i < n; i++)
		s->off[i] = values[i] - mean;
	s->squares = lagged_products(s->off, s->off, n, 0);
	if (!(s->squares > (double)n * rounding * rounding))
		return false;
	lag1 = lagged_products(s->off, s->off, n, 1) / s->squares;
	s->lag1 = ((double)n * lag1 + 1) / ((double)n - 4);
	return true;
}

/* By how much the variance of r grows. */
static double pearson_inflation(const struct series *x, const struct series *y, size_t n)
{
	double both = fmax(0, fmin(x->lag1, PEARSON_MOST_LAG1)) *
		      fmax(0, fmin(y->lag1, PEARSON_MOST_LAG1));
	double sum = 1;

	for (size_t lag = 1; lag <= n / 4; lag++)
		sum += 2 * (1 - (double)lag / (double)n) *
		       (lagged_products(x->off, x->off, n, lag) / x->squares) *
		       (lagged_products(y->off, y->off, n, lag) / y->squares);
	return fmax((1 + both) / (1 - both), sum);
}

struct pearson pearson_of(const double *x, const double *y, size_t n)
{
	_cleanup_(freep) double *room = xcalloc(2 * n, sizeof(*room));
	struct series a = {.off = room}, b = {.off = room + n};
	struct pearson c = {n, NAN, (double)n, NAN, NAN, NAN};
	double r, freedom, half;

	if (n < PEARSON_LEAST || !series_make(&a, x, n) || !series_make(&b, y, n))
		return c;
	c.r = lagged_products(a.off, b.off, n, 0) / sqrt(a.squares) / sqrt(b.squares);
	c.effective_n = (double)n / pearson_inflation(&a, &b, n);
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
