/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much separate runs of a program vary: see run_variation.h. */
#include "lib/protocol/run_variation.h"

#include <math.h>

enum { LEAST_FREEDOM = 2, LEAST_SAMPLES = 5 };

static bool overlap(const struct run_mean *a, const struct run_mean *b)
{
	return a->started_ns <= b->ended_ns && b->started_ns <= a->ended_ns;
}

/* Runs that were measured in turn are one state of the machine: the first counts. */
static bool is_separate(const struct run_means *runs, size_t at, const struct run_mean *last,
	const struct run_mean *without, size_t n_without)
{
	const struct run_mean *run = &runs->items[at];

	for (size_t i = 0; i < n_without; i++)
		if (run->run == without[i].run || overlap(run, &without[i]))
			return false;
	return run->n_samples >= LEAST_SAMPLES && !(last && overlap(run, last));
}

/* Adds the squares about the mean, relative to it, and the degrees of freedom. */
static void add_squares(const struct run_means *runs, const struct run_mean *without, size_t n_without,
	struct run_variation *v)
{
	const struct run_mean *last = NULL;
	double mean = 0, squares = 0; /* Welford's */
	size_t n = 0;

	for (size_t i = 0; i < runs->n; i++) {
		double off = runs->items[i].mean_ns - mean;

		if (!is_separate(runs, i, last, without, n_without))
			continue;
		last = &runs->items[i];
		mean += off / (double)++n;
		squares += off * (runs->items[i].mean_ns - mean);
	}
	if (n < 2 || mean <= 0)
		return;
	v->sd += squares / mean / mean;
	v->df += (double)(n - 1);
	v->n_runs += n;
}

struct run_variation run_variation_find(const struct run_means *a, const struct run_means *b,
	const struct run_mean *without, size_t n_without)
{
	struct run_variation v = {};

	add_squares(a, without, n_without, &v);
	if (b)
		add_squares(b, without, n_without, &v);
	if (v.df < LEAST_FREEDOM)
		return (struct run_variation){};
	v.sd = sqrt(v.sd / v.df);
	return v;
}
