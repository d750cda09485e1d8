/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The confidence interval of a mean of correlated values: see interval.h.
 *
 * Student's t with an effective sample size (Bayley & Hammersley 1946; as in criterium and Stan) for a series whose
 * correlation falls geometrically (AR(1)). The estimate of the correlation is corrected for its bias (Marriott & Pope
 * 1954), and so is the variance, which a correlated series underestimates. A correlation below one standard error is
 * chance as likely as not, and is ignored; an effective size below 3 cannot be estimated. tests/bench/truth.py shows
 * what these intervals cover. */
#include "lib/stats/interval.h"

#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { LEAST_VALUES = 8, LEAST_EFFECTIVE = 3 };
static const double MOST_LAG1 = 0.99;

double correlation_inflation(double lag1, double n)
{
	/* the sum of 1 + 2 (1 - k/n) lag1^k over k = 1 … n - 1, in closed form */
	return (1 + lag1) / (1 - lag1) - 2 * lag1 * (1 - pow(lag1, n)) / (n * (1 - lag1) * (1 - lag1));
}

/* As estimated, with a bias of about -(1 + 4 lag1) / n. NAN: no variance. */
static double lag1_of(const int64_t *values, size_t n, double mean)
{
	double products = 0, squares = 0, before = 0;

	for (size_t i = 0; i < n; i++) {
		double off = (double)values[i] - mean;

		squares += off * off;
		products += off * before;
		before = off;
	}
	return squares > 0 ? products / squares : NAN;
}

struct interval interval_of_mean(const int64_t *values, size_t n, double level)
{
	struct summary s = summary_of(values, n);
	struct interval interval = {summary_interval(&s, level), NAN, (double)n};
	double count = (double)n, lag1, inflation, freedom, variance;

	if (n < LEAST_VALUES)
		return interval;
	interval.lag1 = lag1_of(values, n, s.mean_ns);
	lag1 = fmin((count * interval.lag1 + 1) / (count - 4), MOST_LAG1);
	if (!(interval.lag1 + 1 / count > 1 / sqrt(count)) || lag1 <= 0)
		return interval;
	inflation = fmin(correlation_inflation(lag1, count), count / LEAST_EFFECTIVE);
	freedom = count / inflation - 1;
	variance = s.sd_ns * s.sd_ns * inflation * (count - 1) / (count * (count - inflation));
	interval.effective_n = count / inflation;
	interval.half_ns = gsl_cdf_tdist_Pinv(0.5 + level / 2, freedom) * sqrt(variance);
	return interval;
}
