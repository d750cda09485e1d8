/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up times of a program whose growth with size is known. */
#pragma once

#include "lib/stats/complexity.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum { MADE_MOST_SIZES = 12 };

struct made_growth {
	enum growth growth;
	double smallest, span; /* sizes; the greatest is span times as large */
	size_t n_sizes, n_samples;
	/* what the program takes beside its growth, as shares of that at the smallest size: the same
	 * at all sizes, and a term of lower order */
	double constant, lower;
	double deviation; /* sd of a size from the formula, whatever the samples */
	double noise;     /* sd of a sample */
};

static inline double made_log_flat(gsl_rng *draws, double low, double high)
{
	return low * pow(high / low, gsl_rng_uniform(draws));
}

/* Sizes, noise and what is beside the growth, drawn from what programs have. */
static inline struct made_growth made_growth_draw(gsl_rng *draws, enum growth growth)
{
	return (struct made_growth){
		.growth = growth,
		.smallest = made_log_flat(draws, 10, 1e6),
		.span = made_log_flat(draws, 4, 64),
		.n_sizes = 4 + gsl_rng_uniform_int(draws, 5),
		.n_samples = 3 + gsl_rng_uniform_int(draws, 28),
		.constant = gsl_rng_uniform(draws) < 0.5 ? 0 : made_log_flat(draws, 0.01, 10),
		.lower = gsl_rng_uniform(draws) < 0.5 ? 0 : 0.1 * gsl_rng_uniform(draws),
		.deviation = made_log_flat(draws, 0.001, 0.05),
		.noise = made_log_flat(draws, 0.001, 0.1),
	};
}

static inline double made_shape(const struct made_growth *of, double times_smallest)
{
	const double x = times_smallest;
	const double logs = log2(x * of->smallest) / log2(of->smallest);

	switch (of->growth) {
	case GROWTH_N:
		return x;
	case GROWTH_N_LOG_N:
		return x * logs + of->lower * x;
	case GROWTH_N2:
		return x * x + of->lower * x;
	default:
		return x * x * x + of->lower * x * x;
	}
}

static inline void made_sized_times(
	gsl_rng *draws, const struct made_growth *of, struct sized_time *times)
{
	for (size_t i = 0; i < of->n_sizes; i++) {
		double x = pow(of->span, (double)i / (double)(of->n_sizes - 1));
		double true_time = (of->constant + made_shape(of, x)) *
				   exp(gsl_ran_gaussian(draws, of->deviation));
		double error = true_time * of->noise / sqrt((double)of->n_samples);
		double df = (double)of->n_samples - 1;

		times[i].size = of->smallest * x;
		times[i].time = true_time + gsl_ran_gaussian(draws, error);
		times[i].error = error * sqrt(gsl_ran_chisq(draws, df) / df);
	}
}
