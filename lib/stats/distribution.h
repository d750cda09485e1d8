/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How values are distributed: histograms, densities, and gaps in tails.
 *
 * Histograms have lengths in buckets whose width grows with the length, at most a thirty-second of it, with the same edges in every histogram.
 * Only buckets that hold something take memory, so that there can be one for each of thousands of sources. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct histogram_bucket {
	int64_t low, high; /* low <= value < high */
	int64_t count, total;
};

struct histogram {
	struct histogram_bucket *buckets; /* ascending */
	size_t n;
	int64_t count;
};

/* value >= 0. */
void histogram_add(struct histogram *histogram, int64_t value);

/* The mean of the bucket that holds this share of the values (0.5: the median); 0 if there are none. */
int64_t histogram_quantile(const struct histogram *histogram, double share);

/* Frees the buckets. */
void histogram_clear(struct histogram *histogram);

/* Densities by Parzen windows (Parzen 1962): a Gaussian at each point, so that nothing depends on the edges of bins.
 *
 * Points may stand for all values of a narrow bucket. What is narrower than the bucket cannot be seen, so the bandwidth is at
 * least one and a half times the widest bucket; then the density is that of the values themselves, but for a tenth
 * where it is a thousandth of its highest (tests/unit/test_density.c). */

struct density_point {
	double at;
	double weight; /* how many values */
	double width;  /* of the bucket; 0: a single value */
};

/* The bandwidth of Botev, Grotowski and Kroese (2010), which finds narrow peaks side by side with wide ones where rules
 * based on the standard deviation would blur them; at least 1.5 times the widest bucket. 0: fewer than two values, or all
 * are one. */
double density_bandwidth(const struct density_point *points, size_t n);

/* The density at x times the number of values. */
double density_at(const struct density_point *points, size_t n, double bandwidth, double x);

/* Gaps in a tail that the tail itself does not explain.
 *
 * In n values with an exponential tail, the gaps between the largest values, each multiplied by its rank from the
 * top, are independent and have the same mean (Rényi 1953). A gap much longer than its inner neighbours is
 * therefore a break between two populations. Values beyond a gap never enter the estimate, so that many outliers
 * do not mask one another (Burridge & Taylor 2006; Wilkinson 2018). */

struct tail_gap {
	size_t beyond;  /* values beyond it */
	double size;    /* without what rounding may contribute */
	double longest; /* the longest that the gaps before it explain: size > longest is a break */
};

enum tail { TAIL_HIGH, TAIL_LOW };

/* The gaps in a tail of ascending values, from the innermost outwards; at most half of the values are beyond the
 * first. quantum: the step in which the values were recorded. alpha: the probability of a false break. The
 * caller frees them. */
struct tail_gap *spacings_gaps(
	const int64_t *ascending, size_t n, enum tail tail, int64_t quantum, double alpha, size_t *ret_n);

/* The largest step that all values are whole multiples of; 1 for n = 0. */
int64_t quantum_of(const int64_t *values, size_t n);
