/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Densities by Parzen windows (Parzen 1962): a Gaussian at each point, so that nothing depends on
 * the edges of bins.
 *
 * Points may stand for all values of a narrow bucket. What is narrower than the bucket cannot be
 * seen, so the bandwidth is at least one and a half times the widest bucket; then the density is
 * that of the values themselves, but for a tenth where it is a thousandth of its highest
 * (tests/unit/test_density.c). */
#pragma once

#include "lib/base/base.h"

struct density_point {
	double at;
	double weight; /* how many values */
	double width;  /* of the bucket; 0: a single value */
};

/* The bandwidth of Botev, Grotowski and Kroese (2010), which finds narrow peaks side by side with
 * wide ones where rules based on the standard deviation would blur them; at least 1.5 times the
 * widest bucket. 0: fewer than two values, or all are one. */
double density_bandwidth(const struct density_point *points, size_t n);

/* The density at x times the number of values. */
double density_at(const struct density_point *points, size_t n, double bandwidth, double x);
