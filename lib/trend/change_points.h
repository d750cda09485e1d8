/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the level of a series changes, such as the means of the runs of a program in the order of
 * time, and whether it drifts.
 *
 * Steps and a drift are shown beside noise that may be alike (lib/trend/regression.h). Values that
 * are far from those on both sides count less (Hampel 1974), so that bad runs make no level. */
#pragma once

#include "lib/trend/regression.h"

enum {
	CHANGE_POINTS_LEAST = REGRESSION_LEAST, /* values of a level */
};

/* A difference, and half its 95 % interval. */
struct level_change {
	double by, half;
};

struct level {
	size_t first, n;            /* values */
	double mean;                /* with a drift: in the middle of the level */
	double half;                /* of its 95 % interval; INFINITY: too few values */
	struct level_change change; /* the step from the level before; {}: it is the first */
};

struct levels {
	struct level *items; /* in order; one: no change */
	size_t n, n_values;
	bool drifts;
	struct level_change drift; /* from one value to the next */
	/* of a value about its level, as far as values are no outliers; NAN: too few */
	double sd;
	double lag1;      /* correlation of neighbours, as used; NAN: too few values */
	double *in_level; /* the values; outliers as far as they may be from their level */
	/* So many values at the end are outliers to one side, by so much on average: too few for a
	 * level. */
	size_t n_apart;
	double apart;
	double hidden; /* see levels_widen */
	struct regression regression;
};

/* values[n] in the order of time. known_sd: the noise of a value that is known of it alone; 0:
 * nothing is. */
void change_points_find(const double *values, size_t n, double known_sd, struct levels *ret);
void levels_clear(struct levels *levels);

/* The clock of the values counts in steps, which may hide so much of the mean of any level: all
 * intervals are that much wider. */
void levels_widen(struct levels *levels, double hidden);

/* The level at value i, by the drift if there is one, and half its interval. */
struct level_change levels_at(const struct levels *levels, double i);

/* By how much the level at value `to` is above that at `from`. */
struct level_change levels_between(const struct levels *levels, size_t from, size_t to);

/* By how much the mean of the last `after` of `n` values at the end of the series is above that of
 * those before, whether a change is shown or not. INFINITY: too few. */
struct level_change levels_last(const struct levels *levels, size_t n, size_t after);

/* How great a change would have been found in four cases of five if the last `after` values came
 * after it, and as many of `n` before it as are left; INFINITY: too few. */
double levels_detectable(const struct levels *levels, size_t n, size_t after);
