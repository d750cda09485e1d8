/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The confidence intervals of means and of rates: see interval.h.
 *
 * The correlation is taken to fall geometrically (AR(1)), and the variance of a mean is that of such a process, by
 * generalised least squares (Aitken 1935). Ten values hardly show their correlation. If the machine's is known, the estimate
 * from the values, corrected for its bias, counts beside it, and Student's t has n - 1 degrees of freedom.
 *
 * If it is not known, the values alone show it, corrected for the bias of both the correlation (Marriott & Pope 1954) and
 * the variance, and t has as many degrees of freedom as there are effective values (Bayley & Hammersley 1946), but at least
 * LEAST_EFFECTIVE. An interval of that kind would often reach beyond all values, and hardly ever for a reason: it is bounded by the
 * least and the greatest of them. The mean of independent values lies beyond them with a probability of 2^(1 - n), if they
 * are not skewed.
 *
 * From LEAST_VALUES on, t is corrected for the skewness of the values by Hall's transformation (1992), which reaches further
 * on the side of the long tail. The bounds are those of the logarithm of the mean, whose standard error is that of the mean
 * divided by the mean: a time is never below 0, and intervals of a few skewed values then miss their mean less often.
 * tests/bench/truth.py shows what these intervals cover and how wide they are. */
#include "lib/stats/interval.h"

#include "lib/stats/summary.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { LEAST_VALUES = 8, LEAST_EFFECTIVE = 3 };
/* Where the machine is known, the range of at least this number of effective values bounds the interval; the mean of
 * fewer may lie outside their range. */
static const double LEAST_BOUNDING = 4;
/* The machine's correlation counts as if it came from at most this number of values: the program need not behave like INC. */
enum { MOST_MACHINE_VALUES = 100 };
static const double MOST_LAG1 = 0.95;

double correlation_inflation(double lag1, double n)
{
	/* the sum of 1 + 2 (1 - k/n) lag1^k over k = 1 … n - 1, in closed form */
	return (1 + lag1) / (1 - lag1) - 2 * lag1 * (1 - pow(lag1, n)) / (n * (1 - lag1) * (1 - lag1));
}

/* The standardised mean with this quantile if the mean's distribution has this skewness, where t is that without
 * (Hall 1992, On the removal of skewness by transformation). */
static double hall(double t, double skewness)
{
	if (fabs(skewness) < 1e-6)
		return t;
	return 3 / skewness * (cbrt(1 + skewness * (t - skewness / 6)) - 1);
}

/* Of the cube root's argument: the root is vertical at 0, where a little more skewness would reach twice as far. The mean of
 * values that are so skewed is not missed more often: their standard deviation is great, too. */
static const double LEAST_ARGUMENT = 0.05;

/* How many standard errors the interval reaches on the side of the long tail; skewness < 0: on the other side. */
static double reach(double t, double skewness)
{
	double most = 3 * (sqrt(t * t + (1 - LEAST_ARGUMENT) * 2 / 3) - t);

	return skewness < 0 ? hall(t, -skewness) : -hall(-t, fmin(skewness, most));
}

/* If neighbours have this correlation, or one within the limits: the standard error of the mean, by the variance of the values of
 * an AR(1) process, which the differences that the correlation does not explain show. */
static double error_by_lag1(const int64_t *values, size_t n, double lag1, struct interval *interval)
{
	double weights = 0, sum = 0, mean, before, squares, inflation;

	interval->lag1 = lag1 = fmax(0, fmin(lag1, MOST_LAG1));
	inflation = correlation_inflation(lag1, (double)n);
	interval->effective_n = (double)n / inflation;
	for (size_t i = 0; i < n; i++) {
		double weight = i == 0 || i == n - 1 ? 1 : 1 - lag1;

		weights += weight;
		sum += weight * (double)(values[i] - values[0]);
	}
	mean = (double)values[0] + sum / weights;
	before = (double)values[0] - mean;
	squares = (1 - lag1 * lag1) * before * before;
	for (size_t i = 1; i < n; i++) {
		double off = (double)values[i] - mean, fresh = off - lag1 * before;

		squares += fresh * fresh;
		before = off;
	}
	return sqrt(squares / (double)(n - 1) / (1 - lag1 * lag1) * inflation / (double)n);
}

struct interval interval_of_mean(
	const int64_t *values, size_t n_values, double level, const struct known_correlation *machine)
{
	struct summary s = summary_of(values, n_values);
	double n = (double)n_values, products = 0, squares = 0, before = 0, cubes = 0, skewness = 0;
	struct interval interval = {.low_ns = NAN, .high_ns = NAN, .lag1 = NAN, .effective_n = n};
	double error, freedom = n - 1, t;

	if (n_values < 2)
		return interval;
	interval.low_ns = interval.high_ns = s.mean_ns;
	for (size_t i = 0; i < n_values; i++) {
		double off = (double)values[i] - s.mean_ns;

		squares += off * off;
		products += off * before;
		before = off;
	}
	if (squares <= 0)
		return interval;
	interval.lag1 = products / squares; /* with a bias of about -(1 + 4 lag1) / n */
	interval.calibrated = machine && machine->values > 0;
	interval.assumed = !interval.calibrated && n_values < LEAST_VALUES;
	if (interval.calibrated) {
		double weight = fmin((double)machine->values, MOST_MACHINE_VALUES);
		double unbiased = interval.lag1 + (1 + 4 * machine->lag1) / n;

		error = error_by_lag1(
			values, n_values, (n * unbiased + weight * machine->lag1) / (n + weight), &interval);
	} else if (interval.assumed) {
		interval.lag1 = NAN;
		error = s.sd_ns / sqrt(n);
	} else {
		error = error_by_lag1(values, n_values, (n * interval.lag1 + 1) / (n - 4), &interval);
		interval.effective_n = fmax(interval.effective_n, LEAST_EFFECTIVE);
		freedom = fmin(n - 1, interval.effective_n);
	}
	t = gsl_cdf_tdist_Pinv(0.5 + level / 2, freedom);
	if (n_values >= LEAST_VALUES) { /* that of the mean; corrected for its bias */
		for (size_t i = 0; i < n_values; i++)
			cubes += pow(((double)values[i] - s.mean_ns) / s.sd_ns, 3);
		skewness = n / (n - 1) / (n - 2) * cubes / sqrt(interval.effective_n);
	}
	interval.low_ns *= exp(-reach(t, -skewness) * error / s.mean_ns);
	interval.high_ns *= exp(reach(t, skewness) * error / s.mean_ns);
	if (n_values >= LEAST_VALUES && (!interval.calibrated || interval.effective_n >= LEAST_BOUNDING)) {
		interval.low_ns = fmax(interval.low_ns, (double)s.min_ns);
		interval.high_ns = fmin(interval.high_ns, (double)s.max_ns);
	}
	return interval;
}

/* Whether something that comes in bursts takes more of the time in one run than in another, by more than
 * chance. Bursts make counts vary far more than Poisson's, so the time is counted in rounds: how it
 * varies from round to round, and how much a round is like the next, shows how much chance can explain. */

/* The mean of at least this number of independent rounds is about normal; with fewer, only their number counts. */
static const double ENOUGH = 8;
/* A source in this share of the rounds of one run, and in none of the other, is permanent: its rounds are not one long burst. */
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

/* So many rounds are worth one, because neighbours are alike: a burst over ten rounds is one burst. The correlation of
 * neighbours is estimated by their differences (von Neumann 1941), which what happens at the ends of the run does not bias. */
static double rate_inflation(const struct rate *r)
{
	double variance = rate_variance(r), lag1;

	if (r->n < 3 || variance <= 0)
		return 1;
	lag1 = 1 - r->steps / (2 * (r->n - 1) * variance);
	lag1 = fmin(lag1 + 4 * fmax(lag1, 0) / r->n, RATE_CHANGE_MOST_LAG1); /* its bias, about */
	return lag1 > 0 ? fmin(correlation_inflation(lag1, r->n), r->n) : 1;
}

double rate_ratio(const struct rate *a, const struct rate *b)
{
	double of_a = a->time_ns > 0 ? a->total_ns / a->time_ns : 0;
	double of_b = b->time_ns > 0 ? b->total_ns / b->time_ns : 0;

	return of_a > 0 ? of_b / of_a : of_b > 0 ? INFINITY : 1;
}

/* Given so many rounds with it in both, how many of them b has by chance is binomial. k is rounded down, and at least k
 * of k + n at random means a beta distribution of the share. */
static double rate_by_number(
	double k, double others, double margin, const struct rate *a, const struct rate *b)
{
	double share = margin * b->time_ns / (a->time_ns + margin * b->time_ns);

	return k >= 1 ? gsl_cdf_beta_P(share, floor(k), ceil(others) + 1) : 1;
}

/* The p-value of ratio <= margin. */
static double p_of_ratio(const struct rate *a, const struct rate *b, double margin)
{
	/* of two runs of the same source, which should be the same */
	double inflation = fmax(rate_inflation(a), rate_inflation(b));
	double k = b->with / inflation, others = a->with / inflation;
	double n_a = a->n / inflation, n_b = b->n / inflation, scale, of_a, of_b, off, freedom;

	if (b->total_ns <= 0 || a->time_ns <= 0 || b->time_ns <= 0)
		return 1;
	if (a->with <= 0)
		return rate_by_number(b->with >= PERMANENT * b->n ? b->with : k, 0, margin, a, b);
	if (k < ENOUGH || others < ENOUGH)
		return rate_by_number(k, others, margin, a, b);
	/* Welch's test of mean(b) <= margin mean(a), with as many values as are independent */
	scale = b->n / b->time_ns * a->time_ns / a->n; /* rounds of the two may not be equally long */
	of_a = margin * margin * rate_variance(a) / n_a;
	of_b = scale * scale * rate_variance(b) / n_b;
	off = scale * rate_mean(b) - margin * rate_mean(a);
	if (of_a + of_b <= 0)
		return off > 0 ? 0 : 1;
	freedom = (of_a + of_b) * (of_a + of_b) /
		  (of_a * of_a / fmax(n_a - 1, 1) + of_b * of_b / fmax(n_b - 1, 1));
	return gsl_cdf_tdist_Q(off / sqrt(of_a + of_b), freedom);
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
