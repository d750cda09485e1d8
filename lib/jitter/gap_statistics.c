/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms, densities and rates of gaps: see jitter_internal.h. */
#include "lib/jitter/jitter_internal.h"

#include "lib/stats/time_series.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { PER_OCTAVE_LOG2 = 5 };

void histogram_add(struct histogram *h, int64_t value)
{
	/* an octave has 32 buckets; values below 32 have one each */
	int shift = 63 - __builtin_clzll((uint64_t)value | 1) - PER_OCTAVE_LOG2;
	size_t at = 0, high = h->n;
	struct histogram_bucket *bucket;

	/* the first bucket whose values are all above `value`, or which holds it */
	while (at < high) {
		size_t middle = (at + high) / 2;

		if (h->buckets[middle].high <= value)
			at = middle + 1;
		else
			high = middle;
	}
	if (at == h->n || h->buckets[at].low > value) { /* a new one before it */
		array_add(h->buckets, h->n);
		bucket = h->buckets + at;
		memmove(bucket + 1, bucket, (h->n - 1 - at) * sizeof(*bucket));
		*bucket = (struct histogram_bucket){};
		shift = shift < 0 ? 0 : shift;
		bucket->low = value >> shift << shift;
		bucket->high = bucket->low + (INT64_C(1) << shift);
	}
	bucket = h->buckets + at;
	bucket->count++;
	bucket->total += value;
	h->count++;
}

int64_t histogram_quantile(const struct histogram *h, double share)
{
	double rest = share * (double)h->count;

	for (size_t i = 0; i < h->n; i++) {
		rest -= (double)h->buckets[i].count;
		if (rest <= 0)
			return h->buckets[i].total / h->buckets[i].count;
	}
	return 0;
}

void histogram_clear(struct histogram *h)
{
	free(h->buckets);
	*h = (struct histogram){};
}

enum { CELLS = 512, STAGES = 7 };

/* The values on a grid as the coefficients of a cosine series. */
struct cosine_series {
	double squares[CELLS]; /* of the k-th coefficient; that of 0 is not used */
	double range, n;
};

/* The squared norm of the density's derivative number s, after smoothing by t. */
static double derivative_norm(const struct cosine_series *series, int s, double t)
{
	double sum = 0;

	for (size_t k = 1; k < CELLS; k++) {
		double k2 = (double)(k * k);

		sum += pow(k2, s) * series->squares[k] * exp(-k2 * M_PI * M_PI * t);
	}
	return 2 * pow(M_PI, 2 * s) * sum;
}

/* t less what the norms of all stages say that t should be; the root is the bandwidth (Botev et
 * al., equation 28). */
static double bandwidth_excess(const struct cosine_series *series, double t)
{
	double f = derivative_norm(series, STAGES, t);

	for (int s = STAGES - 1; s >= 2; s--) {
		double odd = 1, constant = (1 + pow(0.5, s + 0.5)) / 3;

		for (int i = 3; i < 2 * s; i += 2)
			odd *= i;
		f = derivative_norm(series, s,
			pow(2 * constant * odd / sqrt(2 * M_PI) / series->n / f,
				2 / (3.0 + 2 * s)));
	}
	return t - pow(2 * series->n * sqrt(M_PI) * f, -0.4);
}

double density_bandwidth(const struct density_point *points, size_t n)
{
	double first = INFINITY, last = -INFINITY, widest = 0, margin, cells[CELLS] = {},
	       low = 1e-9, high = low;
	struct cosine_series series = {};

	for (size_t i = 0; i < n; i++) {
		first = fmin(first, points[i].at);
		last = fmax(last, points[i].at);
		widest = fmax(widest, 1.5 * points[i].width);
		series.n += points[i].weight;
	}
	if (series.n < 2 || last <= first)
		return widest;
	margin = (last - first) / 10;
	series.range = last - first + 2 * margin;
	for (size_t i = 0; i < n; i++)
		cells[(size_t)((points[i].at - (first - margin)) / series.range * CELLS)] +=
			points[i].weight;
	for (size_t k = 1; k < CELLS; k++) {
		double sum = 0;

		for (size_t j = 0; j < CELLS; j++)
			if (cells[j] > 0)
				sum += cells[j] *
				       cos(M_PI * (double)k * ((double)j + 0.5) / (double)CELLS);
		series.squares[k] = sum / series.n * (sum / series.n);
	}
	/* the least root; that of a normal density if there is none */
	while (high < 0.1 && !(bandwidth_excess(&series, high) > 0)) {
		low = high;
		high *= 1.5;
	}
	if (high >= 0.1)
		low = high = 0.28 * pow(series.n, -0.4);
	while (high > low * 1.001) {
		double middle = sqrt(low * high);

		*(bandwidth_excess(&series, middle) > 0 ? &high : &low) = middle;
	}
	return fmax(sqrt(high) * series.range, widest);
}

double density_at(const struct density_point *points, size_t n, double bandwidth, double x)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double h2 = bandwidth * bandwidth + points[i].width * points[i].width / 12;
		double off = x - points[i].at;

		sum += points[i].weight * exp(-off * off / (2 * h2)) / sqrt(2 * M_PI * h2);
	}
	return sum;
}

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

/* So many rounds are worth one, because neighbours are alike: a burst over ten rounds is one burst.
 * The correlation of neighbours is estimated by their differences (von Neumann 1941), which what
 * happens at the ends of the run does not bias. */
static double rate_inflation(const struct rate *r)
{
	double variance = rate_variance(r), lag1;

	if (r->n < 3 || variance <= 0)
		return 1;
	lag1 = 1 - r->steps / (2 * (r->n - 1) * variance);
	lag1 = fmin(lag1 + 4 * fmax(lag1, 0) / r->n, RATE_CHANGE_MOST_LAG1); /* its bias, about */
	return lag1 > 0 ? fmin(correlation_inflation(lag1, r->n), r->n) : 1;
}

/* Given so many rounds with it in both, how many of them b has by chance is binomial. k is rounded
 * down, and at least k of k + n at random means a beta distribution of the share. */
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
	/* rounds of the two may not be equally long */
	scale = b->n / b->time_ns * a->time_ns / a->n;
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

double rate_ratio(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high)
{
	double of_a = a->time_ns > 0 ? a->total_ns / a->time_ns : 0;
	double of_b = b->time_ns > 0 ? b->total_ns / b->time_ns : 0;

	*ret_low = lower_bound(a, b);
	*ret_high = 1 / lower_bound(b, a);
	return of_a > 0 ? of_b / of_a : of_b > 0 ? INFINITY : 1;
}
