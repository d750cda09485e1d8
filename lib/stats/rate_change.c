/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates of what comes in bursts: see rate_change.h. */
#include "lib/stats/rate_change.h"

#include "lib/stats/interval.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The mean of at least this number of independent rounds is about normal; with fewer, only their number counts. */
static const double ENOUGH = 8;
/* A source in this share of the rounds of one run, and in none of the other, is permanent: its rounds are not one long burst. */
static const double PERMANENT = 0.6;
static const double MOST_LAG1 = 0.99;

static double mean_of(const struct rate *r)
{
	return r->n > 0 ? r->total_ns / r->n : 0;
}

static double variance_of(const struct rate *r) /* n - 1 */
{
	return r->n > 1 ? fmax(r->squares - r->total_ns * mean_of(r), 0) / (r->n - 1) : 0;
}

/* So many rounds are worth one, because neighbours are alike: a burst over ten rounds is one burst. The correlation of
 * neighbours is estimated by their differences (von Neumann 1941), which what happens at the ends of the run does not bias. */
static double inflation_of(const struct rate *r)
{
	double variance = variance_of(r), lag1;

	if (r->n < 3 || variance <= 0)
		return 1;
	lag1 = 1 - r->steps / (2 * (r->n - 1) * variance);
	lag1 = fmin(lag1 + 4 * fmax(lag1, 0) / r->n, MOST_LAG1); /* its bias, about */
	return lag1 > 0 ? fmin(correlation_inflation(lag1, r->n), r->n) : 1;
}

/* Of two runs of the same source, which should be the same. */
static double inflation_of_both(const struct rate *a, const struct rate *b)
{
	return fmax(inflation_of(a), inflation_of(b));
}

double rate_ratio(const struct rate *a, const struct rate *b)
{
	double of_a = a->time_ns > 0 ? a->total_ns / a->time_ns : 0;
	double of_b = b->time_ns > 0 ? b->total_ns / b->time_ns : 0;

	return of_a > 0 ? of_b / of_a : of_b > 0 ? INFINITY : 1;
}

/* Given so many rounds with it in both, how many of them b has by chance is binomial. k is rounded down, and at least k
 * of k + n at random means a beta distribution of the share. */
static double by_number(double k, double others, double margin, const struct rate *a, const struct rate *b)
{
	double share = margin * b->time_ns / (a->time_ns + margin * b->time_ns);

	return k >= 1 ? gsl_cdf_beta_P(share, floor(k), ceil(others) + 1) : 1;
}

/* Welch's test of mean(b) <= margin mean(a), with as many values as are independent. */
static double by_time(const struct rate *a, const struct rate *b, double margin)
{
	double inflation = inflation_of_both(a, b), n_a = a->n / inflation, n_b = b->n / inflation;
	double scale = b->n / b->time_ns * a->time_ns / a->n; /* rounds of the two may not be equally long */
	double of_a = margin * margin * variance_of(a) / n_a, of_b = scale * scale * variance_of(b) / n_b;
	double off = scale * mean_of(b) - margin * mean_of(a), freedom;

	if (of_a + of_b <= 0)
		return off > 0 ? 0 : 1;
	freedom = (of_a + of_b) * (of_a + of_b) /
		  (of_a * of_a / fmax(n_a - 1, 1) + of_b * of_b / fmax(n_b - 1, 1));
	return gsl_cdf_tdist_Q(off / sqrt(of_a + of_b), freedom);
}

/* The p-value of ratio <= margin. */
static double p_of_ratio(const struct rate *a, const struct rate *b, double margin)
{
	double inflation = inflation_of_both(a, b), k = b->with / inflation, others = a->with / inflation;

	if (b->total_ns <= 0 || a->time_ns <= 0 || b->time_ns <= 0)
		return 1;
	if (a->with <= 0)
		return by_number(b->with >= PERMANENT * b->n ? b->with : k, 0, margin, a, b);
	return k >= ENOUGH && others >= ENOUGH ? by_time(a, b, margin) : by_number(k, others, margin, a, b);
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

void rate_ratio_interval(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high)
{
	*ret_low = lower_bound(a, b);
	*ret_high = 1 / lower_bound(b, a);
}
