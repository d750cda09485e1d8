/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates of two runs, compared: see rate.h. */
#include "lib/jitter/rate.h"

#include "lib/stats/time_series.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The mean of at least this number of independent rounds is about normal; with fewer, only their
 * number counts. */
static const double ENOUGH = 8;
/* A source in this share of the rounds of one run, and in none of the other, is permanent: its
 * rounds are not one long burst. */
static const double PERMANENT = 0.6;
static const double RATE_CHANGE_MOST_LAG1 = 0.99;

static double rate_mean(const struct rate *r)
{
	return r->n > 0 ? r->total_ns / r->n : 0;
}

static double rate_variance(const struct rate *r) /* n - 1 */
{
	return r->n > 1 ? fmax(r->squares - r->total_ns * rate_mean(r), 0) / (r->n - 1) : 0;
}

/* How many rounds count as one, because neighbours are alike: a burst over ten rounds is one burst.
 * The correlation of neighbours is estimated by their differences (von Neumann 1941), which the
 * ends of the run do not bias. */
static double rate_inflation(const struct rate *r)
{
	double variance = rate_variance(r), lag1;

	if (r->n < 3 || variance <= 0)
		return 1;
	lag1 = 1 - r->steps / (2 * (r->n - 1) * variance);
	lag1 = fmin(lag1 + 4 * fmax(lag1, 0) / r->n, RATE_CHANGE_MOST_LAG1); /* its bias, about */
	return lag1 > 0 ? fmin(correlation_inflation(lag1, r->n), r->n) : 1;
}

/* Of all rounds that have the source, the number of those in b is binomial by chance. The p-value
 * is the probability of at least k in b and `others` in a, by the beta distribution. k is rounded
 * down. */
static double rate_by_number(
	double k, double others, double margin, const struct rate *a, const struct rate *b)
{
	double share = margin * b->time_ns / (a->time_ns + margin * b->time_ns);

	return k >= 1 ? gsl_cdf_beta_P(share, floor(k), ceil(others) + 1) : 1;
}

/* Welch's test of mean(b) <= margin mean(a), where n_a and n_b values are independent. Rounds of
 * the two may not be equally long. */
static double welch_p(
	const struct rate *a, double n_a, const struct rate *b, double n_b, double margin)
{
	double scale = b->n / b->time_ns * a->time_ns / a->n;
	double of_a = margin * margin * rate_variance(a) / n_a;
	double of_b = scale * scale * rate_variance(b) / n_b;
	double off = scale * rate_mean(b) - margin * rate_mean(a), freedom;

	if (of_a + of_b <= 0)
		return off > 0 ? 0 : 1;
	freedom = (of_a + of_b) * (of_a + of_b) /
		  (of_a * of_a / fmax(n_a - 1, 1) + of_b * of_b / fmax(n_b - 1, 1));
	return gsl_cdf_tdist_Q(off / sqrt(of_a + of_b), freedom);
}

/* The p-value of ratio <= margin. */
static double p_of_ratio(const struct rate *a, const struct rate *b, double margin)
{
	/* of two runs of the same source, which should be the same */
	double inflation = fmax(rate_inflation(a), rate_inflation(b));
	double k = b->with / inflation, others = a->with / inflation;

	if (b->total_ns <= 0 || a->time_ns <= 0 || b->time_ns <= 0)
		return 1;
	if (a->with <= 0)
		return rate_by_number(b->with >= PERMANENT * b->n ? b->with : k, 0, margin, a, b);
	if (k < ENOUGH || others < ENOUGH)
		return rate_by_number(k, others, margin, a, b);
	return welch_p(a, a->n / inflation, b, b->n / inflation, margin);
}

double rate_more(const struct rate *a, const struct rate *b, double margin)
{
	return p_of_ratio(a, b, a->with > 0 ? margin : 1);
}

/* The ratio is above it with a probability of 97.5 %; 0: no bound. */
static double lower_bound(const struct rate *a, const struct rate *b)
{
	const double P = 0.025, LEAST = 1e-6;
	double low = log(LEAST), high = -low;

	if (p_of_ratio(a, b, LEAST) > P)
		return 0;
	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		*(p_of_ratio(a, b, exp(middle)) > P ? &high : &low) = middle;
	}
	return exp(low);
}

double rate_ratio(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high)
{
	double of_a = a->time_ns > 0 ? a->total_ns / a->time_ns : 0;
	double of_b = b->time_ns > 0 ? b->total_ns / b->time_ns : 0;

	*ret_low = lower_bound(a, b);
	*ret_high = 1 / lower_bound(b, a);
	if (of_a > 0)
		return of_b / of_a;
	return of_b > 0 ? INFINITY : 1;
}
