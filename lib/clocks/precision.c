/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of a clock's readings: see precision.h. */
#include "lib/clocks/precision.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

static const double NOTHING = 1e-6; /* less than that is rounding of the sums */

double precision_of(const double *readings, size_t n, double truth)
{
	double about = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		about += readings[i] / (double)n;
	if (fabs(about - truth) > truth / 10)
		about = truth;
	for (size_t i = 0; i < n; i++)
		sum += fabs(readings[i] - about);
	return sqrt(M_PI_2) * sum / (double)n;
}

/* The mean of the logarithms of the ratios, from n trials, of which the first is `from`; NAN: there
 * is no ratio. */
static double mean_log_ratio(const struct precision_pair *p, size_t from, size_t n)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < p->n_things; i++) {
		size_t at = i * p->n_trials + from;
		double a = precision_of(p->reference + at, n, p->truths[i]);
		double b = precision_of(p->other + at, n, p->truths[i]);

		if (!(a > NOTHING && b > NOTHING))
			continue;
		sum += log(a / b);
		count++;
	}
	return count > 0 ? sum / (double)count : NAN;
}

struct gain precision_gain(const struct precision_pair *p)
{
	double ratio = mean_log_ratio(p, 0, p->n_trials), mean = 0, squares = 0, half;
	size_t size = p->n_trials / p->n_batches;
	double n = 0;

	for (size_t i = 0; i < p->n_batches; i++) {
		double value = mean_log_ratio(p, i * size, size), off = value - mean;

		if (!isfinite(value))
			continue;
		mean += off / ++n;
		squares += off * (value - mean);
	}
	if (n < 2)
		return (struct gain){exp(ratio), NAN, NAN};
	half = gsl_cdf_tdist_Pinv(0.975, n - 1) * sqrt(squares / (n - 1) / n);
	return (struct gain){exp(ratio), exp(ratio - half), exp(ratio + half)};
}

double grouped_median_of(const int64_t *ascending, size_t n, int64_t quantum)
{
	int64_t median = ascending[n / 2];
	size_t below = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		below += ascending[i] < median;
		equal += ascending[i] == median;
	}
	return (double)median +
	       (double)quantum * (((double)n / 2 - (double)below) / (double)equal - 0.5);
}

struct bounds median_interval(const int64_t *ascending, size_t n)
{
	size_t outside = 0; /* values that may be left out at each end */

	while (outside < n / 2 &&
		gsl_cdf_binomial_P((unsigned int)outside, 0.5, (unsigned int)n) <= 0.025)
		outside++;
	if (outside == 0)
		return (struct bounds){NAN, NAN};
	return (struct bounds){(double)ascending[outside - 1], (double)ascending[n - outside]};
}
