/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the level of a series changes: see change_points.h. */
#include "lib/trend/change_points.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { AROUND = 3 /* neighbours on either side that show an outlier */, MOST_ROUNDS = 50 };
static const double OUTLYING = 3 /* robust sd */, NORMAL_MAD = 1.4826;

/* What is assumed of the correlation of neighbours, and as how many values that counts: a few runs do not show it. */
static const double ASSUMED_LAG1 = 0.4, ASSUMED_VALUES = 12, MOST_LAG1 = 0.9;

/* By simulation: with these, at most one series in twenty whose level does not change shows a change, be its values normal, skewed, heavy-tailed
 * or alike (tests/bench/truth.py). FIRST times the variance times log n is the first penalty, which is too low. */
static const double ALPHA = 0.02, FIRST = 3, MOST_DF = 30 /* the mean of a few skewed values is not normal */;

/* A series and its levels: level k has the values from bounds[k] to before bounds[k + 1]. */
struct division {
	const double *values;
	double *sums, *squares; /* of the first i values, less the first value */
	size_t n;
	size_t *bounds;
	size_t n_levels;
};

/* The sum of squares about the mean of these values. */
static double division_cost(const struct division *d, size_t first, size_t end)
{
	double sum = d->sums[end] - d->sums[first];

	return fmax(0, d->squares[end] - d->squares[first] - sum * sum / (double)(end - first));
}

static double level_mean(const struct division *d, size_t level)
{
	size_t first = d->bounds[level], end = d->bounds[level + 1];

	return d->values[0] + (d->sums[end] - d->sums[first]) / (double)(end - first);
}

/* Hampel's identifier: no value is further from the median of its neighbours than OUTLYING robust sd. Only values of the same level
 * are neighbours. */
static void clip_outliers(const double *values, const struct division *d, double *ret)
{
	size_t n = d->n;
	_cleanup_(freep) double *off = xcalloc(2 * n + 1, sizeof(*off));
	double *middles = off + n, most;

	for (size_t k = 0; k < d->n_levels; k++)
		for (size_t i = d->bounds[k]; i < d->bounds[k + 1]; i++) {
			size_t first = d->bounds[k], end = d->bounds[k + 1];
			size_t from = i > first + AROUND ? i - AROUND : first;
			size_t to = i + AROUND + 1 < end ? i + AROUND + 1 : end;
			double window[2 * AROUND + 1];

			memcpy(window, values + from, (to - from) * sizeof(*window));
			middles[i] = gsl_stats_median(window, 1, to - from);
			off[i] = fabs(values[i] - middles[i]);
		}
	most = OUTLYING * NORMAL_MAD * gsl_stats_median(off, 1, n);
	for (size_t i = 0; i < n; i++)
		ret[i] = most > 0 ? fmax(middles[i] - most, fmin(middles[i] + most, values[i])) : values[i];
}

/* The division with the least sum of squares and penalties for its levels: costs[end] is that of the first `end` values, whose last
 * level begins at before[end], one of `starts`. */
static void divide_best(struct division *d, double penalty)
{
	size_t n = d->n, n_starts = 0, k = 0;
	_cleanup_(freep) size_t *starts = xcalloc(2 * (n + 1), sizeof(*starts));
	_cleanup_(freep) double *costs = xcalloc(n + 1, sizeof(*costs));
	size_t *before = starts + n + 1;

	for (size_t end = 1; end < CHANGE_POINTS_LEAST && end <= n; end++)
		costs[end] = INFINITY;
	for (size_t end = CHANGE_POINTS_LEAST; end <= n; end++) {
		size_t kept = 0,
		       last = end - CHANGE_POINTS_LEAST; /* where the shortest level before `end` begins */

		if (isfinite(costs[last]))
			starts[n_starts++] = last;
		costs[end] = INFINITY;
		for (size_t i = 0; i < n_starts; i++) {
			double all = costs[starts[i]] + division_cost(d, starts[i], end) + penalty;

			if (all < costs[end]) {
				costs[end] = all;
				before[end] = starts[i];
			}
		}
		/* no level of more values than `end` begins where it is cheaper to begin another at `last` (PELT) */
		for (size_t i = 0; i < n_starts; i++)
			if (last < starts[i] + CHANGE_POINTS_LEAST ||
				costs[starts[i]] + division_cost(d, starts[i], last) <= costs[last])
				starts[kept++] = starts[i];
		n_starts = kept;
	}
	for (size_t end = n; end > 0; end = before[end])
		k++;
	d->n_levels = k;
	for (size_t end = n; end > 0; end = before[end])
		d->bounds[k--] = end;
}

/* The noise about the levels. */
static void find_noise(const struct division *d, struct levels *ret)
{
	double n = (double)d->n, levels = (double)d->n_levels, known = n - 4 * levels;
	double squares = 0, products = 0, inflation, df; /* residual, within the levels; at lag 1 */

	for (size_t k = 0; k < d->n_levels; k++) {
		double mean = level_mean(d, k), before = 0;

		for (size_t i = d->bounds[k]; i < d->bounds[k + 1]; i++) {
			double off = d->values[i] - mean;

			squares += off * off;
			products += off * before;
			before = off;
		}
	}
	/* that of the values, corrected for its bias in each level (Marriott & Pope 1954), beside the assumed one */
	ret->lag1 = ASSUMED_LAG1;
	if (known > 0 && squares > 0) {
		double lag1 = (n * products / squares + levels) / known;

		ret->lag1 = fmax(0, fmin(MOST_LAG1, (known * lag1 + ASSUMED_VALUES * ASSUMED_LAG1) /
							    (known + ASSUMED_VALUES)));
	}
	inflation = (1 + ret->lag1) / (1 - ret->lag1);
	df = fmax(n - levels * inflation, (n - levels) / 3);
	ret->sd = sqrt(squares / df);
	ret->variance = squares / df * inflation;
	ret->df = fmax(1, n / inflation - levels);
}

/* From many levels to as few as the noise that they leave demands: each division leaves more noise than the one before. */
static void settle_levels(struct division *d, struct levels *noise)
{
	_cleanup_(freep) size_t *bounds = xcalloc(d->n + 2, sizeof(*bounds));
	_cleanup_(freep) double *off = xcalloc(d->n, sizeof(*off));
	double n = (double)d->n, least = 1e-12 * division_cost(d, 0, d->n) / n, sd, penalty;
	size_t size;

	/* at first by the differences of neighbours, whose variance needs no level to be known */
	for (size_t i = 1; i < d->n; i++)
		off[i - 1] = fabs(d->values[i] - d->values[i - 1]);
	sd = NORMAL_MAD * gsl_stats_median(off, 1, d->n - 1);
	penalty = fmax(least, FIRST * (sd * sd / 2) * log(n));
	for (int round = 0; round < MOST_ROUNDS; round++) {
		size_t n_levels = d->n_levels;
		double inflation, t;

		size = (n_levels + 1) * sizeof(*bounds);
		memcpy(bounds, d->bounds, size);
		divide_best(d, penalty);
		find_noise(d, noise);
		/* the square of what Student's t of two levels does not exceed at any of n places by chance */
		inflation = (1 + noise->lag1) / (1 - noise->lag1);
		t = gsl_cdf_tdist_Qinv(ALPHA / 2 / n, fmax(1, fmin(MOST_DF, n / inflation - 2)));
		penalty = fmax(penalty, t * t * noise->variance);
		if (d->n_levels == n_levels && !memcmp(d->bounds, bounds, size))
			break;
	}
	noise->penalty = penalty;
}

void change_points_find(const double *values, size_t n, struct levels *ret)
{
	struct levels levels = {
		.clipped = xcalloc(n + 1, sizeof(double)), .in_level = xcalloc(n + 1, sizeof(double))};
	_cleanup_(freep) double *sums = xcalloc(2 * (n + 1), sizeof(*sums));
	_cleanup_(freep) size_t *bounds = xcalloc(n + 2, sizeof(*bounds));
	struct division d = {levels.clipped, sums, sums + n + 1, n, bounds, n > 0};
	bool enough = n >= 2 * CHANGE_POINTS_LEAST;
	double t;

	bounds[1] = n;
	clip_outliers(values, &d, levels.clipped);
	for (size_t i = 0; i < n; i++) {
		double off = d.values[i] - d.values[0];

		d.sums[i + 1] = d.sums[i] + off;
		d.squares[i + 1] = d.squares[i] + off * off;
	}
	levels.sd = NAN;
	if (n >= 2)
		find_noise(&d, &levels);
	if (enough)
		settle_levels(&d, &levels);
	clip_outliers(values, &d, levels.in_level);
	t = enough ? gsl_cdf_tdist_Pinv(0.975, levels.df) : INFINITY;
	levels.items = xcalloc(d.n_levels + 1, sizeof(*levels.items));
	levels.n = d.n_levels;
	for (size_t k = 0; k < d.n_levels; k++) {
		size_t count = bounds[k + 1] - bounds[k];
		struct level *level = &levels.items[k];

		*level = (struct level){bounds[k], count, level_mean(&d, k),
			enough ? t * sqrt(levels.variance / (double)count) : INFINITY};
		if (k > 0)
			level->change = (struct level_change){
				level->mean - level[-1].mean, hypot(level[-1].half, level->half)};
	}
	*ret = levels;
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
