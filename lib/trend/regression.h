/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a series consists of: a level, a drift and steps, beside noise whose neighbours may be
 * alike.
 *
 * The noise of machines is between white and flicker: fractional noise (Hosking 1981), whose
 * correlation at lag k falls as k^(2 memory - 1), with a memory of 0 (white) to nearly 0.5
 * (flicker). Terms and memory are chosen together by likelihood, so that a series that only wanders
 * has no steps, and one with a step has no noise that wanders. A term must raise the likelihood by
 * what Student's t of it would not exceed by chance at any place. tests/bench/trend.c shows how
 * often terms are claimed that do not exist, and how large a step is found. */
#pragma once

#include "lib/base/base.h"

enum {
	REGRESSION_MOST_STEPS = 24,
	REGRESSION_LEAST = 3, /* values of a level */
	REGRESSION_BURST = 4, /* so many values are no level if the series comes back after them */
	REGRESSION_MOST_TERMS = REGRESSION_MOST_STEPS + 2,
};

/* The terms are the level, the drift if there is one, and the steps. */
struct regression {
	double base; /* is added to the sum of the terms */
	bool drift;
	size_t steps[REGRESSION_MOST_STEPS]; /* the first value of each, ascending */
	size_t n_steps;
	double memory;
	double sd, df;                    /* of the residuals */
	double by[REGRESSION_MOST_TERMS]; /* the coefficients of the terms, and their covariance */
	double covariance[REGRESSION_MOST_TERMS][REGRESSION_MOST_TERMS];
	double cost; /* -2 log likelihood and the costs of the terms: the least is the best */
};

/* Chooses among a drift and steps at `candidates` of clipped[n], the values without outliers.
 * known_sd: what is known of the noise beforehand; 0: nothing. n > 0. */
struct regression regression_choose(const double *values, const double *clipped, size_t n,
	const size_t *candidates, size_t n_candidates, double known_sd);

/* The terms at value i of n, for sums with `by` and `covariance`. Returns their number. */
size_t regression_terms(
	const struct regression *r, size_t n, double i, double ret[REGRESSION_MOST_TERMS]);

/* The t of a step that is shown among n values, at any place. */
double regression_least_t(size_t n);

/* The standard error of the difference of the values at `to` and `from`, if there were n values. */
double regression_difference_error(const struct regression *r, size_t n, size_t from, size_t to);

/* Fits a drift to the last n values of `r`, which are one level. Returns by how much the drift
 * changes the value from `from` to the last one. */
double regression_drift_since(
	const struct regression *r, const double *values, size_t n, size_t from, double *ret_error);

/* The standard error of a step before the last `after` of n values without another term. */
double regression_step_error(const struct regression *r, size_t n, size_t after);
