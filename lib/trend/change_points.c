/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the level of a series changes: see change_points.h. */
#include "lib/trend/change_points.h"

#include "lib/trend/division.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { AROUND = 4 /* neighbours on each side that show an outlier */, MOST_ROUNDS = 4 };
static const double OUTLYING = 3 /* robust sd */, NORMAL_MAD = 1.4826;

/* The robust sd of distances off[n], which are put in order; by those above 0, if half of them are
 * 0. */
static double robust_sd(double *off, size_t n)
{
	double middle = n > 0 ? gsl_stats_median(off, 1, n) : 0;
	size_t above = 0;

	for (size_t i = 0; i < n && !(middle > 0); i++)
		if (off[i] > 0)
			off[above++] = off[i];
	if (above > 0)
		middle = gsl_stats_median(off, 1, above);
	return NORMAL_MAD * middle;
}

/* By the differences of neighbours, whose variance needs no level to be known. */
static double noise_of_neighbours(const double *values, size_t n)
{
	_cleanup_(freep) double *off = xcalloc(n + 1, sizeof(*off));

	for (size_t i = 1; i < n; i++)
		off[i - 1] = fabs(values[i] - values[i - 1]);
	return robust_sd(off, n > 0 ? n - 1 : 0) / M_SQRT2;
}

static double median_between(const double *values, size_t from, size_t to)
{
	double window[2 * AROUND + 1];

	memcpy(window, values + from, (to - from) * sizeof(*window));
	return gsl_stats_median(window, 1, to - from);
}

/* No value is further than OUTLYING sd from the nearest median of its neighbours: those before it,
 * those after it, and both. One beside a step is near to those on its side. */
static void clip_by_neighbours(const double *values, size_t n, double sd, double *ret)
{
	double most = OUTLYING * sd;

	for (size_t i = 0; i < n; i++) {
		size_t from = i > AROUND ? i - AROUND : 0,
		       to = i + AROUND + 1 < n ? i + AROUND + 1 : n;
		double medians[] = {median_between(values, from, to),
			i > from ? median_between(values, from, i) : NAN,
			i + 1 < to ? median_between(values, i + 1, to) : NAN};
		double near = medians[0];

		for (size_t k = 1; k < ELEMENTS(medians); k++)
			if (fabs(values[i] - medians[k]) < fabs(values[i] - near))
				near = medians[k];
		ret[i] = most > 0 ? fmax(near - most, fmin(near + most, values[i])) : values[i];
	}
}

static bool lies_beyond(double value, double a, double b, double most)
{
	return value > fmax(a, b) + most || value < fmin(a, b) - most;
}

/* Nor is any of a few values in a row after which the series comes back. */
static void clip_bursts(const double *values, size_t n, double sd, double *ret)
{
	double most = OUTLYING * sd;

	for (size_t length = 2; length <= REGRESSION_BURST && most > 0; length++)
		for (size_t i = REGRESSION_LEAST; i + length + REGRESSION_LEAST <= n; i++) {
			size_t end = i + length, from = i > AROUND ? i - AROUND : 0;
			double before = median_between(values, from, i);
			double after = median_between(
				values, end, end + AROUND < n ? end + AROUND : n);
			double up = values[i] > before ? most : -most,
			       edge = (up > 0 ? fmax : fmin)(before, after) + up;
			bool beyond = fabs(before - after) < most &&
				      !lies_beyond(values[i - 1], before, after, most) &&
				      !lies_beyond(values[end], before, after, most);

			for (size_t k = i; beyond && k < end; k++)
				beyond = up > 0 ? values[k] > edge : values[k] < edge;
			for (size_t k = i; beyond && k < end; k++)
				ret[k] = edge;
		}
}

/* The value of the regression at i, with half its interval. */
static struct level_change regression_sum(
	const struct regression *r, const double terms[REGRESSION_MOST_TERMS], size_t n)
{
	struct level_change sum = {};
	double variance = 0;

	for (size_t a = 0; a < n; a++) {
		sum.by += terms[a] * r->by[a];
		for (size_t b = 0; b < n; b++)
			variance += terms[a] * terms[b] * r->covariance[a][b];
	}
	sum.half = gsl_cdf_tdist_Pinv(0.975, r->df) * sqrt(fmax(0, variance));
	return sum;
}

static struct level_change regression_at(const struct regression *r, size_t n, double i)
{
	double terms[REGRESSION_MOST_TERMS];
	struct level_change at = regression_sum(r, terms, regression_terms(r, n, i, terms));

	at.by += r->base;
	return at;
}

/* No value is further than OUTLYING robust sd from the median of its level, or from the drift
 * through that. */
static void clip_by_level(
	const double *values, size_t n, const struct regression *r, double known_sd, double *ret)
{
	_cleanup_(freep) double *off = xcalloc(3 * n + 1, sizeof(*off));
	double *course = off + n, *distances = off + 2 * n;
	double levels = (double)r->n_steps + 1, most;

	for (size_t k = 0; k <= r->n_steps; k++) {
		size_t first = k > 0 ? r->steps[k - 1] : 0, end = k < r->n_steps ? r->steps[k] : n;
		double middle;

		for (size_t i = first; i < end; i++) {
			course[i] = regression_at(r, n, (double)i).by;
			off[i] = values[i] - course[i];
		}
		memcpy(distances, off + first, (end - first) * sizeof(*distances));
		middle = gsl_stats_median(distances, 1, end - first);
		for (size_t i = first; i < end; i++) {
			course[i] += middle;
			off[i] = fabs(off[i] - middle);
		}
	}
	/* one of the values of each level is its median, or two are as far from it */
	memcpy(distances, off, n * sizeof(*distances));
	most = robust_sd(distances, n) * sqrt((double)n / fmax(1, (double)n - 2 * levels));
	most = OUTLYING * fmax(most, known_sd);
	for (size_t i = 0; i < n; i++)
		ret[i] = most > 0 ? fmax(course[i] - most, fmin(course[i] + most, values[i]))
				  : values[i];
}

/* Steps that are worth a try, and how many. */
struct candidates {
	size_t items[REGRESSION_MOST_STEPS], n;
};

/* Adds all of bounds[n], in order, or none if they are too many. */
static bool candidates_add(struct candidates *c, const size_t *bounds, size_t n)
{
	struct candidates all = {};
	size_t i = 0, k = 0;

	while (i < c->n || k < n) {
		size_t next = k == n || (i < c->n && c->items[i] <= bounds[k]) ? c->items[i]
									       : bounds[k];

		if (all.n == ELEMENTS(all.items))
			return false;
		all.items[all.n++] = next;
		i += i < c->n && c->items[i] == next;
		k += k < n && bounds[k] == next;
	}
	*c = all;
	return true;
}

/* The slope within the levels that begin at bounds[n_bounds]. */
static double slope_within(const double *values, size_t n, const size_t *bounds, size_t n_bounds)
{
	double products = 0, squares = 0;

	for (size_t k = 0; k <= n_bounds; k++) {
		size_t first = k > 0 ? bounds[k - 1] : 0, end = k < n_bounds ? bounds[k] : n;
		double middle = ((double)first + (double)end - 1) / 2;

		for (size_t i = first; i < end; i++) {
			products += ((double)i - middle) * (values[i] - values[first]);
			squares += ((double)i - middle) * ((double)i - middle);
		}
	}
	return squares > 0 ? products / squares : 0;
}

static void take_slope_out(const double *values, size_t n, double slope, double *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = values[i] - slope * (double)i;
}

/* From divisions of the values, of these without a straight line through all, and without the slope
 * that levels have in common, with ever lower penalties. */
static struct candidates candidates_find(const double *values, size_t n, double sd)
{
	enum { SERIES = 3, TURNS = 4 };
	static const double LEAST_SHARE = 1e-9;
	_cleanup_(freep) double *series = xcalloc(SERIES * n, sizeof(*series));
	_cleanup_(freep) size_t *bounds = xcalloc(n, sizeof(*bounds));
	double t = regression_least_t(n), highest, least;
	struct candidates all = {};
	size_t n_bounds;

	memcpy(series, values, n * sizeof(*series));
	take_slope_out(values, n, slope_within(values, n, NULL, 0), series + n);
	highest = gsl_stats_tss(values, 1, n);
	least = fmax(t * t * sd * sd / 2, LEAST_SHARE * highest);
	n_bounds = division_best(values, n, REGRESSION_LEAST, least, bounds);
	for (int turn = 0; turn < TURNS; turn++) {
		take_slope_out(
			values, n, slope_within(values, n, bounds, n_bounds), series + 2 * n);
		n_bounds = division_best(series + 2 * n, n, REGRESSION_LEAST, least, bounds);
	}
	for (double penalty = highest; (penalty >= least && penalty > 0) ||
				       (all.n == 0 && penalty > LEAST_SHARE * highest);
		penalty /= 2)
		for (size_t s = 0; s < SERIES; s++) {
			n_bounds = division_best(
				series + s * n, n, REGRESSION_LEAST, penalty, bounds);
			if (!candidates_add(&all, bounds, n_bounds))
				return all;
		}
	return all;
}

static void describe_levels(struct levels *levels)
{
	const struct regression *r = &levels->regression;
	size_t n = levels->n_values;

	levels->n = r->n_steps + 1;
	levels->items = xcalloc(levels->n, sizeof(*levels->items));
	levels->sd = r->sd;
	levels->lag1 = n < 2 * REGRESSION_LEAST ? NAN : r->memory / (1 - r->memory);
	levels->drifts = r->drift;
	if (r->drift) {
		const double slope[REGRESSION_MOST_TERMS] = {0, 1 / (double)n};

		levels->drift = regression_sum(r, slope, 2);
	}
	for (size_t k = 0; k < levels->n; k++) {
		size_t first = k > 0 ? r->steps[k - 1] : 0, end = k < r->n_steps ? r->steps[k] : n;
		struct level *level = &levels->items[k];
		struct level_change at = regression_at(r, n, ((double)first + (double)end - 1) / 2);
		double step[REGRESSION_MOST_TERMS] = {};

		*level = (struct level){first, end - first, at.by, at.half, {}};
		if (n < 2 * REGRESSION_LEAST)
			level->half = INFINITY;
		if (k == 0)
			continue;
		step[r->drift + k] = 1;
		level->change = regression_sum(r, step, 1 + r->drift + r->n_steps);
	}
}

static void find_values_apart(const double *values, struct levels *levels)
{
	const double LEAST = 1e-9;
	double sum = 0;

	for (size_t i = levels->n_values; i-- > levels->items[levels->n - 1].first;) {
		double beyond = values[i] - levels->in_level[i];

		if (fabs(beyond) <= LEAST || beyond * sum < 0)
			break;
		sum += values[i] - levels_at(levels, (double)i).by;
		levels->n_apart++;
	}
	if (levels->n_apart > 0)
		levels->apart = sum / (double)levels->n_apart;
}

void change_points_find(const double *values, size_t n, double known_sd, struct levels *ret)
{
	_cleanup_(freep) double *clipped = xcalloc(n + 1, sizeof(*clipped));
	struct levels levels = {
		.sd = NAN, .lag1 = NAN, .n_values = n, .in_level = xcalloc(n + 1, sizeof(double))};
	struct regression *r = &levels.regression;
	bool enough = n >= 2 * REGRESSION_LEAST;
	double sd = fmax(known_sd, noise_of_neighbours(values, n));

	clip_by_neighbours(values, n, sd, clipped);
	clip_bursts(values, n, sd, clipped);
	for (int round = 0; n > 0 && round < MOST_ROUNDS; round++) {
		struct candidates all = {};
		struct regression before = *r;

		if (enough)
			all = candidates_find(clipped, n, sd);
		*r = regression_choose(values, clipped, n, all.items, all.n, known_sd);
		clip_by_level(values, n, r, known_sd, levels.in_level);
		memcpy(clipped, levels.in_level, n * sizeof(*clipped));
		if (round > 0 && before.drift == r->drift && before.n_steps == r->n_steps &&
			!memcmp(before.steps, r->steps, r->n_steps * sizeof(*r->steps)))
			break;
	}
	if (n > 0) {
		describe_levels(&levels);
		find_values_apart(values, &levels);
	}
	if (n < 2)
		levels.sd = NAN;
	*ret = levels;
}

void levels_clear(struct levels *levels)
{
	free(levels->items);
	free(levels->in_level);
	*levels = (struct levels){};
}

void levels_widen(struct levels *levels, double hidden)
{
	levels->hidden = hidden;
	if (levels->drifts)
		levels->drift.half += 2 * hidden / ((double)levels->n_values - 1);
	for (size_t k = 0; k < levels->n; k++) {
		levels->items[k].half += hidden;
		levels->items[k].change.half += k > 0 ? 2 * hidden : 0;
	}
}

struct level_change levels_at(const struct levels *levels, double i)
{
	struct level_change at = regression_at(&levels->regression, levels->n_values, i);

	at.half += levels->hidden;
	return at;
}

struct level_change levels_between(const struct levels *levels, size_t from, size_t to)
{
	const struct regression *r = &levels->regression;
	double a[REGRESSION_MOST_TERMS], b[REGRESSION_MOST_TERMS];
	size_t n = regression_terms(r, levels->n_values, (double)from, a);

	regression_terms(r, levels->n_values, (double)to, b);
	for (size_t i = 0; i < n; i++)
		b[i] -= a[i];

	struct level_change change = regression_sum(r, b, n);

	change.half += 2 * levels->hidden;
	return change;
}

static bool step_is_possible(size_t n, size_t after)
{
	return after >= CHANGE_POINTS_LEAST && n >= after + CHANGE_POINTS_LEAST;
}

struct level_change levels_last(const struct levels *levels, size_t n, size_t after)
{
	const double *values = levels->in_level + levels->n_values - n;
	double error;

	if (!step_is_possible(n, after))
		return (struct level_change){NAN, INFINITY};
	error = regression_step_error(&levels->regression, n, after);
	return (struct level_change){
		gsl_stats_mean(values + n - after, 1, after) - gsl_stats_mean(values, 1, n - after),
		gsl_cdf_tdist_Pinv(0.975, levels->regression.df) * error + 2 * levels->hidden};
}

double levels_detectable(const struct levels *levels, size_t n, size_t after)
{
	if (!step_is_possible(n, after))
		return INFINITY;
	return (regression_least_t(levels->n_values) + gsl_cdf_ugaussian_Pinv(0.8)) *
		       regression_step_error(&levels->regression, n, after) +
	       2 * levels->hidden;
}
