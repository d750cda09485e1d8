/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suites of made-up benchmarks whose truth is known, measured and judged as emp-compare-commits
 * does: for test_suite and tests/bench/suites.c. */
#pragma once

#include "lib/base/number.h"
#include "lib/protocol/suite.h"
#include "lib/run/turns.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

enum { MADE_LINES = 20, MADE_SAMPLES = 64 };

/* The speed of the machine, and what each sample adds. */
struct made_noise {
	const char *name;
	bool duet;              /* both of a pair have the same speed of the machine */
	double sd, correlation; /* of the logarithm of that speed, from one sample to the next */
	double of_sample;       /* sd of what is a sample's own */
	double half;            /* chance of a change between two speeds, of which one is 0.5 */
	const double *series;   /* real times, n of them, in place of the speed; NULL: none */
	size_t n;
};

struct made_machine {
	const struct made_noise *noise;
	gsl_rng *rng;
	double level, speed;
	size_t at;
};

/* Another minute of the machine. */
static inline struct made_machine made_machine_begin(const struct made_noise *noise, gsl_rng *rng)
{
	return (struct made_machine){
		.noise = noise, .rng = rng, .level = gsl_ran_gaussian(rng, noise->sd), .speed = 1};
}

static inline void made_machine_step(struct made_machine *m)
{
	const struct made_noise *noise = m->noise;
	double fresh = sqrt(1 - noise->correlation * noise->correlation);

	m->level = noise->correlation * m->level + gsl_ran_gaussian(m->rng, noise->sd * fresh);
	if (gsl_rng_uniform(m->rng) < noise->half)
		m->speed = 1.5 - m->speed;
	if (noise->n > 0)
		m->at = (m->at + 1) % noise->n;
}

static inline double made_time(struct made_machine *m)
{
	const struct made_noise *noise = m->noise;
	double own = gsl_ran_gaussian(m->rng, noise->of_sample);

	if (noise->series)
		return noise->series[m->at] * exp(own);
	return 3e7 / m->speed * exp(m->level + own);
}

/* r samples of two programs, of which the second is slower by this factor. */
static inline struct comparison made_comparison(
	struct made_machine *m, size_t r, double slower, double allowed)
{
	struct comparison_time items[2][MADE_SAMPLES];
	struct comparison_side sides[2] = {};
	struct comparison c = {};
	struct error err;
	int64_t now_ns = NS_PER_S;

	if (m->noise->n > 0) /* series are shorter than a suite: each line has a stretch */
		m->at = gsl_rng_uniform_int(m->rng, m->noise->n);
	for (size_t n = 0; n < r; n++) {
		size_t order[2] = {0, 1};

		turns_balanced(order, 2, n);
		made_machine_step(m);
		for (size_t k = 0; k < 2; k++) {
			size_t side = order[k];

			if (k > 0 && !m->noise->duet)
				made_machine_step(m);
			items[side][n] = (struct comparison_time){(uint32_t)n + 1, now_ns,
				llround(made_time(m) * (side ? slower : 1)), now_ns + NS_PER_S / 2};
			now_ns += NS_PER_S;
		}
	}
	for (size_t side = 0; side < 2; side++)
		sides[side] = (struct comparison_side){.items = items[side],
			.n = r,
			.duet = m->noise->duet,
			.origin = {.call = "made"}};
	if (comparison_make(&sides[0], &sides[1], NULL, &c, &err) < 0)
		abort();
	c.rules.fail_if_slower = allowed;
	return c;
}

struct made_verdict {
	bool red, found; /* any is shown to be slower; the one that is */
	size_t n_again, n_equal;
};

/* Line 0 is slower by this factor, the others are equal. */
static inline struct made_verdict made_suite_judge(
	const struct made_noise *noise, gsl_rng *rng, size_t r, double slower)
{
	static struct comparison comparisons[MADE_LINES][N_COMPARISON_CLOCKS];
	struct suite_line lines[MADE_LINES];
	struct made_machine machine = made_machine_begin(noise, rng);
	struct made_verdict verdict = {};

	for (size_t i = 0; i < MADE_LINES; i++) {
		lines[i] = (struct suite_line){.comparisons = comparisons[i]};
		comparisons[i][0] = made_comparison(&machine, r, i == 0 ? slower : 1, 2);
	}
	suite_judge(lines, MADE_LINES);
	for (size_t i = 0; i < MADE_LINES; i++) {
		if (!suite_wants_again(&lines[i]))
			continue;
		comparisons[i][0] = made_comparison(&machine, 2 * r, i == 0 ? slower : 1, 2);
		lines[i].again = true;
		verdict.n_again++;
	}
	suite_judge(lines, MADE_LINES);
	for (size_t i = 0; i < MADE_LINES; i++) {
		enum comparison_verdict of_line = comparison_verdict(&comparisons[i][0]);

		verdict.red = verdict.red || of_line == COMPARISON_SLOWER;
		verdict.found = verdict.found || (i == 0 && of_line == COMPARISON_SLOWER);
		verdict.n_equal += of_line == COMPARISON_EQUAL;
	}
	return verdict;
}
