/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of level: see change_points.h. */
#include "lib/stats/change_points.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3 /* neighbours on either side that show an outlier */, MOST_ROUNDS = 50 };
static const double OUTLYING = 3 /* robust sd */, NORMAL_MAD = 1.4826;

/* What is assumed of the correlation of neighbours, and as how many values that counts: a few runs do not show it. */
static const double ASSUMED_LAG1 = 0.4, ASSUMED_VALUES = 12, MOST_LAG1 = 0.9;

/* By simulation: with these, at most one series in twenty whose level does not change shows a change, be its values normal, skewed, heavy-tailed
 * or alike (tests/bench/truth.py). FIRST times the variance times log n is the first penalty, which is too low. */
static const double ALPHA = 0.02, FIRST = 3, MOST_DF = 30 /* the mean of a few skewed values is not normal */;

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* Sorts them. */
static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return n > 0 ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
}

static double median_around(const double *values, size_t begin, size_t end, size_t at)
{
	double window[2 * AROUND + 1];

	begin = at > begin + AROUND ? at - AROUND : begin;
	end = at + AROUND + 1 < end ? at + AROUND + 1 : end;
	memcpy(window, values + begin, (end - begin) * sizeof(*window));
	return median(window, end - begin);
}

/* Hampel's identifier: no value is further from the median of its neighbours than OUTLYING robust sd. Only those of its level are
 * its neighbours; the levels end at `ends`, the last of them at n. */
static int clip(const double *values, const size_t *ends, size_t n, double *ret)
{
	_cleanup_(freep) double *off = xcalloc(2 * n + 1, sizeof(*off));
	double *middles = off + n, most;

	for (size_t i = 0, level = 0, begin = 0; i < n; i++) {
		if (i == ends[level])
			begin = ends[level++];
		middles[i] = median_around(values, begin, ends[level], i);
		off[i] = fabs(values[i] - middles[i]);
	}
	most = OUTLYING * NORMAL_MAD * median(off, n);
	for (size_t i = 0; i < n; i++)
		ret[i] = most > 0 ? fmax(middles[i] - most, fmin(middles[i] + most, values[i])) : values[i];
	return 0;
}

/* One series and a division of it. */
struct division {
	const double *values;
	double *sums, *squares; /* of the first i values, less the first value */
	size_t n;
	size_t *ends; /* of its levels */
	size_t n_levels;
};

static double cost(const struct division *d, size_t first, size_t end)
{
	double sum = d->sums[end] - d->sums[first];

	return fmax(0, d->squares[end] - d->squares[first] - sum * sum / (double)(end - first));
}

static double mean_of(const struct division *d, size_t first, size_t end)
{
	return d->values[0] + (d->sums[end] - d->sums[first]) / (double)(end - first);
}

/* Whether the last level of a division of more values than `end` may begin at `start`: not if it is cheaper to begin another one
 * where the shortest level before `end` does (PELT). */
static bool may_begin(const struct division *d, const double *costs, size_t start, size_t end)
{
	size_t other = end - CHANGE_POINTS_LEAST;

	return other < start + CHANGE_POINTS_LEAST || costs[start] + cost(d, start, other) <= costs[other];
}

/* Where the last level of the best division of the first `end` values begins, which is one of `starts`. */
static size_t best_start(
	const struct division *d, double *costs, size_t *starts, size_t *n_starts, size_t end, double penalty)
{
	size_t best = 0, kept = 0;

	costs[end] = INFINITY;
	for (size_t i = 0; i < *n_starts; i++) {
		double all = costs[starts[i]] + cost(d, starts[i], end) + penalty;

		if (all < costs[end]) {
			costs[end] = all;
			best = starts[i];
		}
	}
	for (size_t i = 0; i < *n_starts; i++)
		if (may_begin(d, costs, starts[i], end))
			starts[kept++] = starts[i];
	*n_starts = kept;
	return best;
}

/* The division with the least sum of squares and penalties for its levels. */
static int divide(struct division *d, double penalty)
{
	size_t n = d->n, n_starts = 0, k = 0;
	_cleanup_(freep) size_t *starts = xcalloc(2 * (n + 1), sizeof(*starts));
	_cleanup_(freep) double *costs = xcalloc(n + 1, sizeof(*costs));
	size_t *before = starts + n + 1;

	for (size_t end = 1; end < CHANGE_POINTS_LEAST && end <= n; end++)
		costs[end] = INFINITY;
	for (size_t end = CHANGE_POINTS_LEAST; end <= n; end++) {
		if (isfinite(costs[end - CHANGE_POINTS_LEAST]))
			starts[n_starts++] = end - CHANGE_POINTS_LEAST;
		before[end] = best_start(d, costs, starts, &n_starts, end, penalty);
	}
	for (size_t end = n; end > 0; end = before[end])
		k++;
	d->n_levels = k;
	for (size_t end = n; end > 0; end = before[end])
		d->ends[--k] = end;
	return 0;
}

static size_t first_of(const struct division *d, size_t level)
{
	return level > 0 ? d->ends[level - 1] : 0;
}

/* What the levels leave: sums of squares, and of the products of neighbours within a level. */
static double left_over(const struct division *d, double *ret_products)
{
	double squares = 0, products = 0;

	for (size_t k = 0; k < d->n_levels; k++) {
		double mean = mean_of(d, first_of(d, k), d->ends[k]), before = 0;

		for (size_t i = first_of(d, k); i < d->ends[k]; i++) {
			double off = d->values[i] - mean;

			squares += off * off;
			products += off * before;
			before = off;
		}
	}
	*ret_products = products;
	return squares;
}

/* The correlation of neighbours: that of the values, corrected for its bias in each level (Marriott & Pope 1954), beside the assumed one. */
static double find_lag1(const struct division *d, double squares, double products)
{
	double n = (double)d->n, known = n - 4 * (double)d->n_levels, lag1 = 0;

	if (known <= 0 || squares <= 0)
		return ASSUMED_LAG1;
	lag1 = (n * products / squares + (double)d->n_levels) / known;
	return fmax(0,
		fmin(MOST_LAG1, (known * lag1 + ASSUMED_VALUES * ASSUMED_LAG1) / (known + ASSUMED_VALUES)));
}

static void find_noise(const struct division *d, struct levels *ret)
{
	double n = (double)d->n, products, squares = left_over(d, &products), inflation, df;

	ret->lag1 = find_lag1(d, squares, products);
	inflation = (1 + ret->lag1) / (1 - ret->lag1);
	df = fmax(n - (double)d->n_levels * inflation, (n - (double)d->n_levels) / 3);
	ret->sd = sqrt(squares / df);
	ret->variance = squares / df * inflation;
	ret->df = fmax(1, n / inflation - (double)d->n_levels);
}

static bool same_ends(const struct division *d, const size_t *ends, size_t n)
{
	return d->n_levels == n && !memcmp(d->ends, ends, n * sizeof(*ends));
}

/* The penalty of a level: the square of what Student's t of two levels does not exceed at any of n places by chance. */
static double penalty_of(const struct levels *noise, size_t n)
{
	double inflation = (1 + noise->lag1) / (1 - noise->lag1);
	double t = gsl_cdf_tdist_Qinv(
		ALPHA / 2 / (double)n, fmax(1, fmin(MOST_DF, (double)n / inflation - 2)));

	return t * t * noise->variance;
}

/* The variance of values about levels that need not be known, by their differences. */
static int variance_of_neighbours(const struct division *d, double *ret)
{
	_cleanup_(freep) double *off = xcalloc(d->n, sizeof(*off));
	double sd;

	for (size_t i = 1; i < d->n; i++)
		off[i - 1] = fabs(d->values[i] - d->values[i - 1]);
	sd = NORMAL_MAD * median(off, d->n - 1);
	*ret = sd * sd / 2;
	return 0;
}

/* From many levels to as few as the noise that they leave demands: each division leaves more noise than the one before. */
static int settle(struct division *d, struct levels *noise)
{
	_cleanup_(freep) size_t *ends = xcalloc(d->n + 1, sizeof(*ends));
	double penalty = 0, least = 1e-12 * cost(d, 0, d->n) / (double)d->n;
	int r;

	r = variance_of_neighbours(d, &penalty);
	penalty = fmax(least, FIRST * penalty * log((double)d->n));
	for (int round = 0; r == 0 && round < MOST_ROUNDS; round++) {
		size_t n = d->n_levels;

		memcpy(ends, d->ends, n * sizeof(*ends));
		r = divide(d, penalty);
		find_noise(d, noise);
		penalty = fmax(penalty, penalty_of(noise, d->n));
		if (same_ends(d, ends, n))
			break;
	}
	noise->penalty = penalty;
	return r;
}

static int make_levels(const struct division *d, struct levels *ret)
{
	bool enough = d->n >= 2 * CHANGE_POINTS_LEAST;
	double t = enough ? gsl_cdf_tdist_Pinv(0.975, ret->df) : INFINITY;

	ret->items = xcalloc(d->n_levels + 1, sizeof(*ret->items));
	ret->n = d->n_levels;
	for (size_t k = 0; k < d->n_levels; k++) {
		size_t first = first_of(d, k), n = d->ends[k] - first;

		ret->items[k] = (struct level){first, n, mean_of(d, first, d->ends[k]),
			enough ? t * sqrt(ret->variance / (double)n) : INFINITY};
	}
	return 0;
}

static void add_up(struct division *d)
{
	for (size_t i = 0; i < d->n; i++) {
		double off = d->values[i] - d->values[0];

		d->sums[i + 1] = d->sums[i] + off;
		d->squares[i + 1] = d->squares[i] + off * off;
	}
}

int change_points_find(const double *values, size_t n, struct levels *ret)
{
	_cleanup_(levels_clear) struct levels levels = {
		.clipped = xcalloc(n + 1, sizeof(double)), .in_level = xcalloc(n + 1, sizeof(double))};
	_cleanup_(freep) double *sums = xcalloc(2 * (n + 1), sizeof(*sums));
	_cleanup_(freep) size_t *ends = xcalloc(n + 1, sizeof(*ends));
	struct division d = {levels.clipped, sums, sums + n + 1, n, ends, n > 0};
	int r;

	ends[0] = n;
	r = clip(values, ends, n, levels.clipped);
	if (r < 0)
		return r;
	add_up(&d);
	levels.sd = NAN;
	if (n >= 2)
		find_noise(&d, &levels);
	r = n >= 2 * CHANGE_POINTS_LEAST ? settle(&d, &levels) : 0;
	if (r == 0)
		r = clip(values, ends, n, levels.in_level);
	if (r == 0)
		r = make_levels(&d, &levels);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(levels);
	return 0;
}

void levels_clear(struct levels *levels)
{
	free(levels->items);
	free(levels->clipped);
	free(levels->in_level);
	*levels = (struct levels){};
}

double levels_detectable(const struct levels *levels, size_t n, size_t after)
{
	double count = (double)n, weight = n > after ? (count - (double)after) * (double)after / count : 0;
	double normal = sqrt(levels->penalty) + gsl_cdf_ugaussian_Pinv(0.8) * sqrt(levels->variance);

	if (n < CHANGE_POINTS_DETECTABLE || after < CHANGE_POINTS_LEAST || n < after + CHANGE_POINTS_LEAST)
		return INFINITY;
	return normal / sqrt(weight) * (1 + 9 / count); /* the noise is not known; by simulation */
}

struct level_change levels_change(const struct levels *levels, size_t i)
{
	const struct level *before = &levels->items[i - 1], *after = &levels->items[i];

	return (struct level_change){after->mean - before->mean, hypot(before->half, after->half)};
}
