/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up runs of one program, whose mean in many runs is known: what the last one says of it if
 * the earlier ones show how runs differ. */
#pragma once

#include "lib/protocol/sample_size.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

enum { MADE_MOST_RUNS = 20, MADE_MOST_SAMPLES = 40 };

struct made_runs {
	double between, within, lag1;   /* sd as shares of the mean; of neighbouring samples */
	size_t earlier, n, n_of_others; /* runs; samples of the last one, and of each earlier one */
};

struct made_interval {
	bool within, between; /* whether it contains the mean of many runs */
	double width;         /* of that between runs, in those of known variances */
};

static const double MADE_MEAN_NS = 1e8;

static inline void made_run(gsl_rng *draws, const struct made_runs *of, size_t n, int64_t *values)
{
	double level = gsl_ran_gaussian(draws, of->between), x = gsl_ran_ugaussian(draws);

	for (size_t i = 0; i < n; i++) {
		values[i] = llround(MADE_MEAN_NS * (1 + level + of->within * x));
		x = of->lag1 * x + sqrt(1 - of->lag1 * of->lag1) * gsl_ran_ugaussian(draws);
	}
}

static inline bool made_contains(double low_ns, double high_ns)
{
	return low_ns <= MADE_MEAN_NS && MADE_MEAN_NS <= high_ns;
}

/* earlier >= 3 */
static inline struct made_interval made_interval_of(gsl_rng *draws, const struct made_runs *of)
{
	struct run_mean means[MADE_MOST_RUNS];
	int64_t values[MADE_MOST_SAMPLES];
	struct run_variation variation;
	struct run_interval between;
	struct interval within;
	double variance = of->within * of->within * correlation_inflation(of->lag1, (double)of->n) /
			  (double)of->n;

	for (size_t i = 0; i < of->earlier; i++) {
		made_run(draws, of, of->n_of_others, values);
		means[i] = (struct run_mean){(int64_t)i + 1, (int64_t)i * 10, (int64_t)i * 10 + 5,
			summary_of(values, of->n_of_others).mean_ns, (int64_t)of->n_of_others};
	}
	variation = run_variation_find(&(struct run_means){means, of->earlier}, NULL, NULL, 0);
	made_run(draws, of, of->n, values);
	within = interval_of_mean(values, of->n, NULL, 0);
	between = interval_between_runs(
		&within, summary_of(values, of->n).mean_ns, of->n, &variation);
	return (struct made_interval){
		.within = made_contains(within.low_ns, within.high_ns),
		.between = made_contains(between.low_ns, between.high_ns),
		.width = (between.high_ns - between.low_ns) /
			 (2 * 1.96 * MADE_MEAN_NS * sqrt(of->between * of->between + variance)),
	};
}
