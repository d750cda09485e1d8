/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A level, a drift and steps beside noise: see regression.h. */
#include "lib/trend/regression.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <float.h>
#include <math.h>

enum {
	MOST_ORDER = 200, /* a value is predicted from at most so many before it */
	KNOWN_VALUES = 2, /* noise that is known beforehand counts as if so many values showed it */
};

static const double memories[] = {0, 0.1, 0.2, 0.3, 0.4, 0.49};

/* By simulation: with these, at most one series in twenty without a change shows one, be its noise
 * white, flicker, skewed, or with bad runs (tests/bench/trend.c). */
static const double STEP_ALPHA = 0.01, DRIFT_ALPHA = 0.0015, STRAY_ALPHA = 0.02;
/* Costs, as -2 log likelihood: of white noise, and of any drift or step at all. They are greatest
 * for about SOME values. By ALIKE of their cost, terms cost more if the noise is flicker. */
static const double WHITE = 5, ANY = 2, SOME = 20, ALIKE = 0.5;

/* Columns of n values: one for each term, and the values as the last one. All are whitened. */
struct whitened {
	double *columns[REGRESSION_MOST_TERMS + 1];
	size_t n_terms, n;
	double log_determinant, memory;
	double products[REGRESSION_MOST_TERMS + 1][REGRESSION_MOST_TERMS + 1];
};

size_t regression_terms(
	const struct regression *r, size_t n, double i, double ret[REGRESSION_MOST_TERMS])
{
	size_t terms = 0;

	ret[terms++] = 1;
	if (r->drift)
		ret[terms++] = (i - ((double)n - 1) / 2) / (double)n;
	for (size_t k = 0; k < r->n_steps; k++)
		ret[terms++] = i >= (double)r->steps[k];
	return terms;
}

/* How a value is predicted from `order` values before it: their weights, from the nearest one on,
 * and the variance of the prediction error, if that of the values is 1. */
struct prediction {
	double weights[MOST_ORDER + 1][MOST_ORDER + 1]; /* by order, then from 1 to order */
	double variances[MOST_ORDER + 1];               /* by order */
};

/* For up to n values. The Durbin-Levinson recursion; the partial autocorrelations of fractional
 * noise are memory / (lag - memory) (Hosking 1981, theorem 1). */
static void find_prediction(struct prediction *p, size_t n, double memory)
{
	p->variances[0] = 1;
	for (size_t order = 1; order <= MOST_ORDER && order < n; order++) {
		const double *last = p->weights[order - 1];
		double *weights = p->weights[order], partial = memory / ((double)order - memory);

		weights[order] = partial;
		for (size_t j = 1; j < order; j++)
			weights[j] = last[j] - partial * last[order - j];
		p->variances[order] = p->variances[order - 1] * (1 - partial * partial);
	}
}

/* Replaces each value of the columns by its prediction error, divided by the sd of that. */
static void whiten(double *const *columns, size_t n_columns, size_t n, double memory,
	double *ret_log_determinant)
{
	_cleanup_(freep) struct prediction *p = xcalloc(1, sizeof(*p));
	_cleanup_(freep) double *whole = xcalloc(n + 1, sizeof(*whole));
	double all = 0;

	find_prediction(p, n, memory);
	for (size_t t = 0; t < n; t++)
		all += log(p->variances[t < MOST_ORDER ? t : MOST_ORDER]);
	*ret_log_determinant = all;

	for (size_t c = 0; c < n_columns; c++) {
		memcpy(whole, columns[c], n * sizeof(*whole));
		for (size_t t = 0; t < n; t++) {
			size_t order = t < MOST_ORDER ? t : MOST_ORDER;
			double error = whole[t];

			for (size_t j = 1; memory > 0 && j <= order; j++)
				error -= p->weights[order][j] * whole[t - j];
			columns[c][t] = error / sqrt(p->variances[order]);
		}
	}
}

static void whitened_clear(struct whitened *w)
{
	free(w->columns[0]);
}

/* With all terms of `r`. */
static struct whitened whitened_make(
	const struct regression *r, const double *values, size_t n, double memory)
{
	double terms[REGRESSION_MOST_TERMS];
	struct whitened w = {.n_terms = regression_terms(r, n, 0, terms), .n = n, .memory = memory};
	double *all = xcalloc((w.n_terms + 1) * n, sizeof(*all));

	for (size_t c = 0; c <= w.n_terms; c++)
		w.columns[c] = all + c * n;
	for (size_t i = 0; i < n; i++) {
		regression_terms(r, n, (double)i, terms);
		for (size_t c = 0; c < w.n_terms; c++)
			w.columns[c][i] = terms[c];
		w.columns[w.n_terms][i] = values ? values[i] - values[0] : 0;
	}
	whiten(w.columns, w.n_terms + 1, n, memory, &w.log_determinant);
	for (size_t a = 0; a <= w.n_terms; a++)
		for (size_t b = 0; b <= a; b++) {
			for (size_t i = 0; i < n; i++)
				w.products[a][b] += w.columns[a][i] * w.columns[b][i];
			w.products[b][a] = w.products[a][b];
		}
	return w;
}

double regression_least_t(size_t n)
{
	double places = fmax(1, (double)n - 2 * REGRESSION_LEAST + 1);

	return gsl_cdf_tdist_Qinv(STEP_ALPHA / 2 / places, fmax(1, (double)n - 2));
}

/* The cost of a term: by how much it must raise 2 log likelihood, if `df` degrees of freedom
 * remain. */
static double term_cost(size_t n, double alpha, double df)
{
	double t = gsl_cdf_tdist_Qinv(alpha / 2, fmax(1, df));

	return (double)n * log1p(t * t / fmax(1, df));
}

/* Which share of n values two levels have at least; at most 1. */
static double share_of_least(size_t n)
{
	return fmin(1, 2 * REGRESSION_LEAST / (double)n);
}

/* The cost of white noise. Machines have flicker, so that the values must show that theirs is
 * white. It is greatest where there are few values, but enough to tell. */
static double white_cost(size_t n)
{
	return WHITE * (1 - share_of_least(n)) * sqrt(fmin(1, SOME / (double)n));
}

static double terms_cost(const struct regression *r, size_t n)
{
	double places = fmax(1, (double)n - 2 * REGRESSION_LEAST + 1), df = (double)n - 2;
	double cost = r->drift ? term_cost(n, DRIFT_ALPHA, df) : 0;

	for (size_t k = 0; k < r->n_steps; k++)
		cost += term_cost(n, STEP_ALPHA / places, df - r->drift - (double)k);
	if (r->drift || r->n_steps > 0) /* white noise beside these looks like flicker */
		cost += ANY * sqrt((1 - share_of_least(n)) * fmin(1, SOME / (double)n));
	return cost;
}

/* The residual of value i. */
static double regression_off(const struct regression *r, const double *values, size_t n, size_t i)
{
	double terms[REGRESSION_MOST_TERMS], off = values[i] - r->base;
	size_t n_terms = regression_terms(r, n, (double)i, terms);

	for (size_t a = 0; a < n_terms; a++)
		off -= terms[a] * r->by[a];
	return off;
}

/* The values of level k: *ret_first is its first one, *ret_end the one after its last. */
static void regression_level(
	const struct regression *r, size_t n, size_t k, size_t *ret_first, size_t *ret_end)
{
	*ret_first = k > 0 ? r->steps[k - 1] : 0;
	*ret_end = k < r->n_steps ? r->steps[k] : n;
}

/* How many values of level k are off it by more than half of `by`, in the direction of `by`. */
static size_t values_beyond(
	const struct regression *r, const double *values, size_t n, size_t k, double by)
{
	size_t first, end, beyond = 0;

	regression_level(r, n, k, &first, &end);
	for (size_t i = first; i < end; i++) {
		double off = regression_off(r, values, n, i);

		beyond += (by > 0) == (off > 0) && fabs(off) >= fabs(by) / 2;
	}
	return beyond;
}

/* Whether chance alone would not put `near` of the n_own values of a level at a place, if `stray`
 * of the n_beside values of the levels beside it are as far off theirs. n: all values, each of
 * which may begin such a level. */
static bool exceeds_chance(size_t near, size_t n_own, size_t stray, size_t n_beside, size_t n)
{
	double p;

	if (stray == 0)
		return true;
	p = gsl_cdf_binomial_Q(
		(unsigned)near - 1, (double)stray / (double)n_beside, (unsigned)n_own);
	return p * (double)n < STRAY_ALPHA;
}

/* Whether level k is one: most of its values are nearer to it than to the levels beside it; it is
 * no burst after which the values come back; and chance alone would not put as many values there,
 * as often as values of the levels beside it are as far off. */
static bool is_level(const struct regression *r, const double *values, size_t n, size_t k)
{
	const double *by = r->by + 1 + r->drift;
	bool has_before = k > 0, has_after = k < r->n_steps;
	size_t first, end, from, to, n_own, near, stray = 0;

	regression_level(r, n, k, &first, &end);
	regression_level(r, n, k - has_before, &from, &to);
	regression_level(r, n, k + has_after, &to, &to);
	n_own = near = end - first;
	if (n_own < REGRESSION_LEAST)
		return false;

	if (has_before) {
		near -= values_beyond(r, values, n, k, -by[k - 1]);
		stray += values_beyond(r, values, n, k - 1, by[k - 1]);
	}
	if (has_after) {
		size_t beyond = values_beyond(r, values, n, k, by[k]);

		near -= near < beyond ? near : beyond;
		stray += values_beyond(r, values, n, k + 1, -by[k]);
	}
	if (2 * near <= n_own)
		return false;
	if (has_before && has_after && by[k - 1] * by[k] < 0 && near <= REGRESSION_BURST)
		return false;
	return exceeds_chance(near, n_own, stray, to - from - n_own, n);
}

static bool steps_are_levels(const struct regression *r, const double *values, size_t n)
{
	for (size_t k = 0; r->n_steps > 0 && k <= r->n_steps; k++)
		if (!is_level(r, values, n, k))
			return false;
	return true;
}

/* Inverts the products of the terms `active` of w. False: they are not independent. */
static bool invert_products(
	const struct whitened *w, const size_t *active, size_t n_terms, gsl_matrix *ret)
{
	gsl_error_handler_t *handler;
	bool independent;

	for (size_t a = 0; a < n_terms; a++)
		for (size_t b = 0; b < n_terms; b++)
			gsl_matrix_set(ret, a, b, w->products[active[a]][active[b]]);
	handler = gsl_set_error_handler_off();
	independent = gsl_linalg_cholesky_decomp1(ret) == 0 && gsl_linalg_cholesky_invert(ret) == 0;
	gsl_set_error_handler(handler);
	return independent;
}

/* Least squares with the terms `active` of w, which are those of r. Returns false if they are not
 * independent. */
static bool regression_fit(
	const struct whitened *w, const size_t *active, double known_sd, struct regression *r)
{
	size_t n_terms = 1 + r->drift + r->n_steps;
	double room[REGRESSION_MOST_TERMS * REGRESSION_MOST_TERMS];
	double total = w->products[w->n_terms][w->n_terms], left = total; /* sums of squares */
	double flicker = w->memory / memories[ELEMENTS(memories) - 1];
	double n = (double)w->n, known = known_sd > 0 ? KNOWN_VALUES : 0;
	gsl_matrix_view inverse = gsl_matrix_view_array(room, n_terms, n_terms);

	if (!invert_products(w, active, n_terms, &inverse.matrix))
		return false;
	for (size_t a = 0; a < n_terms; a++) {
		r->by[a] = 0;
		for (size_t b = 0; b < n_terms; b++)
			r->by[a] += gsl_matrix_get(&inverse.matrix, a, b) *
				    w->products[active[b]][w->n_terms];
		left -= r->by[a] * w->products[active[a]][w->n_terms];
	}
	left = fmax(left, 1e-12 * total + DBL_MIN) + known * known_sd * known_sd;

	r->df = fmax(1, n + known - (double)n_terms);
	r->memory = w->memory;
	r->sd = sqrt(left / r->df);
	for (size_t a = 0; a < n_terms; a++)
		for (size_t b = 0; b < n_terms; b++)
			r->covariance[a][b] = r->sd * r->sd * gsl_matrix_get(&inverse.matrix, a, b);
	r->cost = n * log(left / (n + known)) + w->log_determinant +
		  terms_cost(r, w->n) * (1 + ALIKE * flicker) + white_cost(w->n) * (1 - flicker);
	return true;
}

/* Fits all terms of r, then again and again without the step that matters least, until no step is
 * left. *best becomes the fit of the least cost, if it is better than *best. */
static void eliminate(const struct whitened *w, const double *values, struct regression r,
	double known_sd, struct regression *best)
{
	size_t active[REGRESSION_MOST_TERMS];

	for (size_t i = 0, term = 0; term < w->n_terms; term++)
		if (term != 1 || r.drift) /* term 1 is the drift */
			active[i++] = term;
	for (;;) {
		bool independent = regression_fit(w, active, known_sd, &r);
		size_t first = 1 + r.drift, gone = 0;
		double weakest = INFINITY;

		if (independent && r.cost < best->cost && steps_are_levels(&r, values, w->n))
			*best = r;
		if (r.n_steps == 0)
			return;
		for (size_t k = 0; independent && k < r.n_steps; k++) {
			double matters = r.by[first + k] * r.by[first + k] /
					 r.covariance[first + k][first + k];

			if (matters < weakest) {
				weakest = matters;
				gone = k;
			}
		}
		r.n_steps--;
		memmove(r.steps + gone, r.steps + gone + 1, (r.n_steps - gone) * sizeof(*r.steps));
		memmove(active + first + gone, active + first + gone + 1,
			(r.n_steps - gone) * sizeof(*active));
	}
}

struct regression regression_choose(const double *values, const double *clipped, size_t n,
	const size_t *candidates, size_t n_candidates, double known_sd)
{
	struct regression best = {.cost = INFINITY},
			  all = {.drift = true, .n_steps = n_candidates, .base = clipped[0]};
	bool may_drift = n >= 2 * REGRESSION_LEAST;

	assert(n_candidates <= REGRESSION_MOST_STEPS);
	memcpy(all.steps, candidates, n_candidates * sizeof(*candidates));
	for (size_t i = 0; i < ELEMENTS(memories); i++) {
		_cleanup_(whitened_clear) struct whitened w = whitened_make(
			&all, clipped, n, memories[i]);

		for (int drift = 0; drift <= may_drift; drift++) {
			all.drift = drift;
			eliminate(&w, values, all, known_sd, &best);
		}
		all.drift = true;
	}
	return best;
}

double regression_difference_error(const struct regression *r, size_t n, size_t from, size_t to)
{
	_cleanup_(whitened_clear) struct whitened w = whitened_make(r, NULL, n, r->memory);
	double room[REGRESSION_MOST_TERMS * REGRESSION_MOST_TERMS], solved[REGRESSION_MOST_TERMS];
	double difference[REGRESSION_MOST_TERMS], before[REGRESSION_MOST_TERMS], variance = 0;
	gsl_matrix_view products = gsl_matrix_view_array(room, w.n_terms, w.n_terms);
	gsl_vector_view of = gsl_vector_view_array(solved, w.n_terms);
	gsl_error_handler_t *handler;
	bool independent;

	regression_terms(r, n, (double)from, before);
	regression_terms(r, n, (double)to, difference);
	for (size_t a = 0; a < w.n_terms; a++) {
		solved[a] = difference[a] -= before[a];
		for (size_t b = 0; b < w.n_terms; b++)
			gsl_matrix_set(&products.matrix, a, b, w.products[a][b]);
	}
	handler = gsl_set_error_handler_off();
	independent = gsl_linalg_cholesky_decomp1(&products.matrix) == 0 &&
		      gsl_linalg_cholesky_svx(&products.matrix, &of.vector) == 0;
	gsl_set_error_handler(handler);
	if (!independent)
		return INFINITY;
	for (size_t a = 0; a < w.n_terms; a++)
		variance += difference[a] * solved[a];
	return r->sd * sqrt(fmax(0, variance));
}

double regression_step_error(const struct regression *r, size_t n, size_t after)
{
	const struct regression step = {
		.steps = {n - after}, .n_steps = 1, .memory = r->memory, .sd = r->sd};

	return regression_difference_error(&step, n, 0, n - 1);
}

double regression_drift_since(
	const struct regression *r, const double *values, size_t n, size_t from, double *ret_error)
{
	static const size_t active[] = {0, 1};
	struct regression drift = {.drift = true, .base = values[0]};
	_cleanup_(whitened_clear) struct whitened w = whitened_make(&drift, values, n, r->memory);

	if (!regression_fit(&w, active, 0, &drift)) {
		*ret_error = INFINITY;
		return 0;
	}
	drift.sd = r->sd;
	*ret_error = regression_difference_error(&drift, n, from, n - 1);
	return drift.by[1] * (double)(n - 1 - from) / (double)n;
}
