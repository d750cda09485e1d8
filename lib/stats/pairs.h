/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The means of two programs whose samples were taken in turn, without the drift of the machine
 * between a sample and its partner. */
#pragma once

#include "lib/base/base.h"

/* One pair of neighbours. */
struct sample_pair {
	double a, b;       /* their times */
	double a_at, b_at; /* when they were taken, in any unit; both 0: not known */
};

struct pair_means {
	double a, b;
	double variance_a, variance_b, covariance; /* of the means */
	double df;                                 /* of b - a */
};

/* Of n > 1 pairs, in the order of time.
 *
 * If either program began some of the pairs, the drift shows as a slope of the differences over the
 * distance in time between both, and is taken out of them. If the same one began them all, its
 * values are interpolated to the times of the other's. Either takes a linear drift out exactly; it
 * costs one degree of freedom. Of fewer pairs than that is worth, the differences are taken as they
 * are. */
struct pair_means pair_means_of(const struct sample_pair *pairs, size_t n);

/* The degrees of freedom that pair_means_of leaves to n pairs in a balanced order. */
double pairs_freedom(size_t n);
