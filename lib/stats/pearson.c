/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The correlation of two quantities: see pearson.h.
 *
 * If both are series whose neighbours are alike, their coefficient of correlation varies by chance as that of fewer independent
 * pairs would: n (1 - ab) / (1 + ab), where a and b are the autocorrelations of neighbours (Bartlett 1935). These are
 * estimated from the values, with a correction for their bias (Marriott & Pope 1954). */
#include "lib/stats/pearson.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static const double MOST_LAG1 = 0.95;

static double mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

/* The sum of the products of their deviations, b being `lag` values later. */
static double products(const double *a, const double *b, size_t n, size_t lag)
{
	double mean_a = mean_of(a, n), mean_b = mean_of(b, n), sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += (a[i - lag] - mean_a) * (b[i] - mean_b);
	return sum;
}

static double lag1_of(const double *values, size_t n)
{
	double found = products(values, values, n, 1) / products(values, values, n, 0);

	return fmin(((double)n * found + 1) / ((double)n - 4), MOST_LAG1);
}

static double effective(const double *x, const double *y, size_t n)
{
	double a = n > PEARSON_LEAST ? lag1_of(x, n) : 0, b = n > PEARSON_LEAST ? lag1_of(y, n) : 0;
	double alike = fmax(a, 0) * fmax(b, 0);

	return (double)n * (1 - alike) / (1 + alike);
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
	double squares = n < PEARSON_LEAST ? 0 : products(x, x, n, 0) * products(y, y, n, 0);

	if (!(squares > 0))
		return c;
	c.r = products(x, y, n, 0) / sqrt(squares);
	c.effective_n = effective(x, y, n);
	if (c.effective_n > 4)
		judge(&c);
	return c;
}
