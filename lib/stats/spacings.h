/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps in a tail that the tail itself does not explain.
 *
 * In n values with an exponential tail, the gaps between the largest values, each multiplied by its rank from the
 * top, are independent and have the same mean (Rényi 1953). A gap much longer than its inner neighbours is
 * therefore a break between two populations. Values beyond a gap never enter the estimate, so that many outliers
 * do not mask one another (Burridge & Taylor 2006; Wilkinson 2018). */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gap {
	size_t beyond;  /* values beyond it */
	double size;    /* without what rounding may contribute */
	double longest; /* the longest that the gaps before it explain: size > longest is a break */
};

enum tail { TAIL_HIGH, TAIL_LOW };

/* The gaps in a tail of ascending values, from the innermost outwards; at most half of the values are beyond the
 * first. quantum: the step in which the values were recorded. alpha: the probability of a false break. -ENOMEM;
 * the caller frees ret. */
int spacings_gaps(const int64_t *ascending, size_t n, enum tail tail, int64_t quantum, double alpha,
	struct gap **ret, size_t *ret_n);

/* The largest step that all values are whole multiples of; 1 for n = 0. */
int64_t quantum_of(const int64_t *values, size_t n);
