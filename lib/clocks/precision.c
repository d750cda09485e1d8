/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How precisely clocks time: see precision.h. */
#include "lib/clocks/precision.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

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

static const double NOTHING = 1e-6; /* less than that is rounding of the sums */

/* The mean of the logarithms of the ratios, by n trials from that one on; NAN: none. */
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

struct gain precision_gain(const struct precision_pair *p, double level)
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
	half = gsl_cdf_tdist_Pinv(0.5 + level / 2, n - 1) * sqrt(squares / (n - 1) / n);
	return (struct gain){exp(ratio), exp(ratio - half), exp(ratio + half)};
}
