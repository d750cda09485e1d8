/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of level, trends and correlations of values in the order of time: see time_series.h. */
#include "lib/stats/time_series.h"

#include "lib/base/cleanup.h"
#include "lib/base/xalloc.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
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

static int double_by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* Sorts them. */
static double median_of_doubles(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), double_by_value);
	return n > 0 ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
}

/* Hampel's identifier: no value is further from the median of its neighbours than OUTLYING robust sd. Only those of its level are
 * its neighbours; the levels end at `ends`, the last of them at n. */
static void clip_outliers(const double *values, const size_t *ends, size_t n, double *ret)
{
	_cleanup_(freep) double *off = xcalloc(2 * n + 1, sizeof(*off));
	double *middles = off + n, most;

	for (size_t i = 0, level = 0, begin = 0; i < n; i++) {
		double window[2 * AROUND + 1];
		size_t from, to;

		if (i == ends[level])
			begin = ends[level++];
		from = i > begin + AROUND ? i - AROUND : begin;
		to = i + AROUND + 1 < ends[level] ? i + AROUND + 1 : ends[level];
		memcpy(window, values + from, (to - from) * sizeof(*window));
		middles[i] = median_of_doubles(window, to - from);
		off[i] = fabs(values[i] - middles[i]);
	}
	most = OUTLYING * NORMAL_MAD * median_of_doubles(off, n);
	for (size_t i = 0; i < n; i++)
		ret[i] = most > 0 ? fmax(middles[i] - most, fmin(middles[i] + most, values[i])) : values[i];
}

/* One series and a division of it. */
struct division {
	const double *values;
	double *sums, *squares; /* of the first i values, less the first value */
	size_t n;
	size_t *ends; /* of its levels */
	size_t n_levels;
};

static double division_cost(const struct division *d, size_t first, size_t end)
{
	double sum = d->sums[end] - d->sums[first];

	return fmax(0, d->squares[end] - d->squares[first] - sum * sum / (double)(end - first));
}

static double level_mean(const struct division *d, size_t first, size_t end)
{
	return d->values[0] + (d->sums[end] - d->sums[first]) / (double)(end - first);
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
		d->ends[--k] = end;
}

static size_t level_first(const struct division *d, size_t level)
{
	return level > 0 ? d->ends[level - 1] : 0;
}

static void find_noise(const struct division *d, struct levels *ret)
{
	double n = (double)d->n, levels = (double)d->n_levels, known = n - 4 * levels;
	double squares = 0, products = 0, inflation, df; /* residual, within the levels; at lag 1 */

	for (size_t k = 0; k < d->n_levels; k++) {
		double mean = level_mean(d, level_first(d, k), d->ends[k]), before = 0;

		for (size_t i = level_first(d, k); i < d->ends[k]; i++) {
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
	_cleanup_(freep) size_t *ends = xcalloc(d->n + 1, sizeof(*ends));
	_cleanup_(freep) double *off = xcalloc(d->n, sizeof(*off));
	double n = (double)d->n, least = 1e-12 * division_cost(d, 0, d->n) / n, sd, penalty;

	/* at first by the differences of neighbours, whose variance needs no level to be known */
	for (size_t i = 1; i < d->n; i++)
		off[i - 1] = fabs(d->values[i] - d->values[i - 1]);
	sd = NORMAL_MAD * median_of_doubles(off, d->n - 1);
	penalty = fmax(least, FIRST * (sd * sd / 2) * log(n));
	for (int round = 0; round < MOST_ROUNDS; round++) {
		size_t n_levels = d->n_levels;
		double inflation, t;

		memcpy(ends, d->ends, n_levels * sizeof(*ends));
		divide_best(d, penalty);
		find_noise(d, noise);
		/* the square of what Student's t of two levels does not exceed at any of n places by chance */
		inflation = (1 + noise->lag1) / (1 - noise->lag1);
		t = gsl_cdf_tdist_Qinv(ALPHA / 2 / n, fmax(1, fmin(MOST_DF, n / inflation - 2)));
		penalty = fmax(penalty, t * t * noise->variance);
		if (d->n_levels == n_levels && !memcmp(d->ends, ends, n_levels * sizeof(*ends)))
			break;
	}
	noise->penalty = penalty;
}

void change_points_find(const double *values, size_t n, struct levels *ret)
{
	struct levels levels = {
		.clipped = xcalloc(n + 1, sizeof(double)), .in_level = xcalloc(n + 1, sizeof(double))};
	_cleanup_(freep) double *sums = xcalloc(2 * (n + 1), sizeof(*sums));
	_cleanup_(freep) size_t *ends = xcalloc(n + 1, sizeof(*ends));
	struct division d = {levels.clipped, sums, sums + n + 1, n, ends, n > 0};
	bool enough = n >= 2 * CHANGE_POINTS_LEAST;
	double t;

	ends[0] = n;
	clip_outliers(values, ends, n, levels.clipped);
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
	clip_outliers(values, ends, n, levels.in_level);
	t = enough ? gsl_cdf_tdist_Pinv(0.975, levels.df) : INFINITY;
	levels.items = xcalloc(d.n_levels + 1, sizeof(*levels.items));
	levels.n = d.n_levels;
	for (size_t k = 0; k < d.n_levels; k++) {
		size_t first = level_first(&d, k), count = ends[k] - first;

		levels.items[k] = (struct level){first, count, level_mean(&d, first, ends[k]),
			enough ? t * sqrt(levels.variance / (double)count) : INFINITY};
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

struct level_change levels_change(const struct levels *levels, size_t i)
{
	const struct level *before = &levels->items[i - 1], *after = &levels->items[i];

	return (struct level_change){after->mean - before->mean, hypot(before->half, after->half)};
}

/* Analysis of variance between blocks, and the two
 * simplest trends, a line and one change of level (found by the greatest sum of squares between the two sides,
 * Sen & Srivastava 1975). */

enum { LEAST_VALUES = 12, LEAST_BLOCK = 4 };

struct series_view {
	const int64_t *values;
	size_t n;
	int64_t low, high;
	double mean, squares; /* sum of squares about the mean */
};

/* Less `low` and the mean. */
static double clamped_at(const struct series_view *v, size_t i)
{
	int64_t value = v->values[i] < v->low ? v->low : v->values[i] > v->high ? v->high : v->values[i];

	return (double)(value - v->low) - v->mean;
}

static double slow_share(const struct series_view *v)
{
	size_t blocks = (size_t)lround(sqrt((double)v->n)), start = 0;
	double between = 0, within, f;

	if (blocks > v->n / LEAST_BLOCK)
		blocks = v->n / LEAST_BLOCK;
	for (size_t b = 0; b < blocks; b++) {
		size_t end = (b + 1) * v->n / blocks;
		double sum = 0;

		for (size_t i = start; i < end; i++)
			sum += clamped_at(v, i);
		between += sum * sum / (double)(end - start);
		start = end;
	}
	within = (v->squares - between) / (double)(v->n - blocks);
	if (within <= 0)
		return 1;
	f = between / (double)(blocks - 1) / within;
	if (gsl_cdf_fdist_Q(f, (double)(blocks - 1), (double)(v->n - blocks)) > 0.001)
		return 0;
	return 1 - within / (v->squares / (double)(v->n - 1));
}

/* The best change leaves at least three values on either side. */
static void find_step(const struct series_view *v, struct trend *trend)
{
	double sum = 0, best = -1, n = (double)v->n;

	for (size_t i = 1; i + 3 <= v->n; i++) {
		double between;

		sum += clamped_at(
			v, i - 1); /* of the i values before the change; those after it sum to -sum */
		between = sum * sum * (1 / (double)i + 1 / (n - (double)i));
		if (i < 3 || between <= best)
			continue;
		best = between;
		trend->change = i;
		trend->before = (double)v->low + v->mean + sum / (double)i;
		trend->after = (double)v->low + v->mean - sum / (n - (double)i);
	}
	trend->step = best / v->squares;
}

struct trend trend_of(const int64_t *values, size_t n, int64_t low, int64_t high)
{
	struct series_view v = {.values = values, .n = n, .low = low, .high = high};
	double middle = ((double)n - 1) / 2, sum = 0, along = 0, spread = 0;
	struct trend trend = {};

	for (size_t i = 0; i < n; i++)
		sum += clamped_at(&v, i);
	v.mean = n > 0 ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++)
		v.squares += clamped_at(&v, i) * clamped_at(&v, i);
	if (n < LEAST_VALUES || v.squares <= 0)
		return trend;
	for (size_t i = 0; i < n; i++) {
		along += ((double)i - middle) * clamped_at(&v, i);
		spread += ((double)i - middle) * ((double)i - middle);
	}
	trend.slow = slow_share(&v);
	trend.line = along * along / spread / v.squares;
	find_step(&v, &trend);
	return trend;
}

/* The index of the first that is not below `value`. */
static size_t first_at_least(const int64_t *ascending, size_t n, int64_t value)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ascending[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* 1 - RVN / 2, where RVN is von Neumann's ratio (1941) of the ranks (Bartels 1982). Tied values share their mean rank. */
double neighbours_alike(const int64_t *values, const int64_t *ascending, size_t n)
{
	double steps = 0, squares = 0, before = 0;

	for (size_t i = 0; i < n; i++) {
		size_t below = first_at_least(ascending, n, values[i]);
		size_t above = values[i] < INT64_MAX ? first_at_least(ascending, n, values[i] + 1) : n;
		double rank = (double)(below + above) / 2 - (double)n / 2;

		steps += i > 0 ? (rank - before) * (rank - before) : 0;
		squares += rank * rank;
		before = rank;
	}
	return squares > 0 ? 1 - steps / squares / 2 : 0;
}

/* If both are series whose neighbours are alike, their coefficient of correlation varies by chance as that of fewer independent
 * pairs would: n / (1 + 2 sum of a_k b_k), where a_k and b_k are their autocorrelations at a distance of k (Bartlett 1935). These are
 * estimated from the values; if they fall geometrically, from those of neighbours, with a correction for their bias (Marriott &
 * Pope 1954). The greater of both sums counts. tests/unit/test_pearson.c shows how often this calls related what is not. */

enum { PEARSON_LEAST = 5 };

static const double PEARSON_MOST_LAG1 = 0.95;

/* The sum of the products of their deviations, b being `lag` values later. */
static double products(const double *a, const double *b, size_t n, size_t lag)
{
	double mean_a = gsl_stats_mean(a, 1, n), mean_b = gsl_stats_mean(b, 1, n), sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += (a[i - lag] - mean_a) * (b[i] - mean_b);
	return sum;
}

/* Their autocorrelation at this lag. */
static double autocorrelation(const double *values, size_t n, size_t lag)
{
	return products(values, values, n, lag) / products(values, values, n, 0);
}

static double pearson_lag1(const double *values, size_t n)
{
	return fmax(0,
		fmin(((double)n * autocorrelation(values, n, 1) + 1) / ((double)n - 4), PEARSON_MOST_LAG1));
}

/* More than rounding makes it. */
static bool pearson_varies(const double *values, size_t n)
{
	double mean = gsl_stats_mean(values, 1, n), rounding = 1e-12 * mean;

	return products(values, values, n, 0) > (double)n * rounding * rounding;
}

struct pearson pearson_of(const double *x, const double *y, size_t n)
{
	struct pearson c = {n, NAN, (double)n, NAN, NAN, NAN};
	double both, sum = 1, r, freedom, half;

	if (n < PEARSON_LEAST || !pearson_varies(x, n) || !pearson_varies(y, n))
		return c;
	c.r = products(x, y, n, 0) / sqrt(products(x, x, n, 0)) / sqrt(products(y, y, n, 0));
	/* by how much the variance of r grows */
	both = pearson_lag1(x, n) * pearson_lag1(y, n);
	for (size_t lag = 1; lag <= n / 4; lag++)
		sum += 2 * (1 - (double)lag / (double)n) * autocorrelation(x, n, lag) *
		       autocorrelation(y, n, lag);
	c.effective_n = (double)n / fmax((1 + both) / (1 - both), sum);
	if (c.effective_n <= 4)
		return c;
	r = fmin(fabs(c.r), 1 - 1e-12);
	freedom = c.effective_n - 2;
	half = gsl_cdf_ugaussian_Pinv(0.975) / sqrt(c.effective_n - 3);
	c.p = 2 * gsl_cdf_tdist_Q(r * sqrt(freedom / (1 - r * r)), freedom);
	c.low = tanh(atanh(copysign(r, c.r)) - half);
	c.high = tanh(atanh(copysign(r, c.r)) + half);
	return c;
}
