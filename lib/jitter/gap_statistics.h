/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic of gaps: histograms of their lengths, densities, and whether something that comes in bursts takes more of the
 * time in one run than in another. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Histograms have lengths in buckets whose width grows with the length, at most a thirty-second of it, with the same edges in every histogram.
 * Only buckets that hold something take memory, so that there can be one for each of thousands of sources. */

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

/* Whether something that comes in bursts takes more of the time in one run than in another, by more than chance.
 *
 * Bursts make counts vary far more than Poisson's, so the time is counted in rounds: how it varies from round to round,
 * and how much a round is like the next, shows how much chance can explain. */

/* One side: n rounds of equal length, and what it took in them. */
struct rate {
	double n;        /* rounds */
	double time_ns;  /* all rounds together */
	double with;     /* rounds in which it occurs */
	double total_ns; /* of all rounds */
	double squares;  /* sum of the squares of its time in a round */
	double steps;    /* sum of the squares of the differences between neighbouring rounds */
};

/* total_ns / time_ns of b, divided by that of a; INFINITY if only b has any. */
double rate_ratio(const struct rate *a, const struct rate *b);

/* The p-value of "the rate of b is at most `margin` times that of a": small where b has more. margin >= 1. */
double rate_more(const struct rate *a, const struct rate *b, double margin);

/* The 95 % interval of that ratio: the margins that rate_more() does not reject on either side. INFINITY: no upper bound. */
void rate_ratio_interval(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high);
