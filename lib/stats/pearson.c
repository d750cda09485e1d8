/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The correlation of two quantities: see pearson.h.
 *
 * If both are series whose neighbours are alike, their coefficient of correlation varies by chance as that of fewer independent
 * pairs would: n / (1 + 2 sum of a_k b_k), where a_k and b_k are their autocorrelations at a distance of k (Bartlett 1935). These are
 * estimated from the values; if they fall geometrically, from those of neighbours, with a correction for their bias (Marriott &
 * Pope 1954). The greater of both sums counts. tests/unit/test_pearson.c shows how often this calls related what is not. */
#include "lib/stats/pearson.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>

static const double MOST_LAG1 = 0.95;

/* The sum of the products of their deviations, b being `lag` values later. */
static double products(const double *a, const double *b, size_t n, size_t lag)
{
	double mean_a = gsl_stats_mean(a, 1, n), mean_b = gsl_stats_mean(b, 1, n), sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += (a[i - lag] - mean_a) * (b[i] - mean_b);
	return sum;
}

/* Their autocorrelation at this lag. */
static double alike(const double *values, size_t n, size_t lag)
{
	return products(values, values, n, lag) / products(values, values, n, 0);
}

static double lag1_of(const double *values, size_t n)
{
	return fmax(0, fmin(((double)n * alike(values, n, 1) + 1) / ((double)n - 4), MOST_LAG1));
}

/* By how much the variance of r grows. */
static double inflation_of(const double *x, const double *y, size_t n)
{
	double both = lag1_of(x, n) * lag1_of(y, n), sum = 1;

	for (size_t lag = 1; lag <= n / 4; lag++)
		sum += 2 * (1 - (double)lag / (double)n) * alike(x, n, lag) * alike(y, n, lag);
	return fmax((1 + both) / (1 - both), sum);
}

/* More than rounding makes it. */
static bool varies(const double *values, size_t n)
{
	double mean = gsl_stats_mean(values, 1, n), rounding = 1e-12 * mean;

	return products(values, values, n, 0) > (double)n * rounding * rounding;
}

static void judge(struct pearson *c)
{
	double r = fmin(fabs(c->r), 1 - 1e-12), freedom = c->effective_n - 2;
	double half = gsl_cdf_ugaussian_Pinv(0.975) / sqrt(c->effective_n - 3);

	c->p = 2 * gsl_cdf_tdist_Q(r * sqrt(freedom / (1 - r * r)), freedom);
	c->low = tanh(atanh(copysign(r, c->r)) - half);
	c->high = tanh(atanh(copysign(r, c->r)) + half);
}

struct pearson pearson_of(const double *x, const double *y, size_t n)
{
	struct pearson c = {n, NAN, (double)n, NAN, NAN, NAN};

	if (n < PEARSON_LEAST || !varies(x, n) || !varies(y, n))
		return c;
	c.r = products(x, y, n, 0) / sqrt(products(x, x, n, 0)) / sqrt(products(y, y, n, 0));
	c.effective_n = (double)n / inflation_of(x, y, n);
	if (c.effective_n > 4)
		judge(&c);
	return c;
}
