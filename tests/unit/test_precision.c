/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How precisely clocks of different kinds time the same thing. */
#include "tests/unit/check.h"

#include "lib/clocks/precision.h"

#include <gsl/gsl_randist.h>
#include <math.h>

enum { THINGS = 10, TRIALS = 50, BATCHES = 5, MANY = 4000 };

static gsl_rng *rng;

int check_begin(void)
{
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, check_seed(1));
	return 0;
}

/* A clock that shows whole steps, read before and after, at any moment of a step. */
static double read_twice(double duration, double step)
{
	double start = gsl_rng_uniform(rng) * step;

	return step * (floor((start + duration) / step) - floor(start / step));
}

static double work(double duration, double sd)
{
	return duration + sd * gsl_ran_ugaussian(rng);
}

TEST(the_deviation_of_normal_readings_is_their_standard_deviation)
{
	double readings[MANY];

	for (int i = 0; i < MANY; i++)
		readings[i] = work(1000, 7);
	assert_true(fabs(precision_of(readings, MANY, 1000) - 7) < 0.3);
}

TEST(a_clock_that_stands_still_is_not_precise)
{
	double readings[TRIALS] = {};

	assert_true(fabs(precision_of(readings, TRIALS, 1000) - sqrt(M_PI_2) * 1000) < 1e-6);
}

TEST(a_tick_of_10_ms_is_imprecise_whether_a_tick_falls_into_a_trial_or_not)
{
	double readings[TRIALS];

	for (int i = 0; i < TRIALS; i++)
		readings[i] = read_twice(600e3, 10e6);
	assert_true(precision_of(readings, TRIALS, 600e3) > 500e3);
}

TEST(a_constant_offset_of_a_twentieth_does_not_count)
{
	const double readings[] = {1049, 1050, 1051, 1050};

	assert_true(precision_of(readings, 4, 1000) < 1);
}

/* One run: the durations, the noise of the work and the steps of two clocks are drawn. */
struct drawn {
	double durations[THINGS], noise[THINGS], coarse, fine;
};

static struct drawn draw(void)
{
	struct drawn d = {.coarse = gsl_ran_flat(rng, 100, 2000), .fine = gsl_ran_flat(rng, 1, 40)};

	for (int i = 0; i < THINGS; i++) {
		d.durations[i] = gsl_ran_flat(rng, 10e3, 500e3);
		d.noise[i] = gsl_ran_flat(rng, 10, 1000);
	}
	return d;
}

static struct gain measure(const struct drawn *d, double *coarse, double *fine, size_t n)
{
	struct precision_pair pair = {coarse, fine, d->durations, THINGS, n, BATCHES};

	for (size_t i = 0; i < THINGS * n; i++) {
		size_t thing = i / n;

		coarse[i] = read_twice(work(d->durations[thing], d->noise[thing]), d->coarse);
		fine[i] = read_twice(work(d->durations[thing], d->noise[thing]), d->fine);
	}
	return precision_gain(&pair);
}

/* The truth is that of very many trials. */
TEST(the_interval_of_a_gain_covers_the_gain)
{
	enum { RUNS = 400 };
	_cleanup_(freep) double *coarse = calloc(THINGS * MANY, sizeof(double));
	_cleanup_(freep) double *fine = calloc(THINGS * MANY, sizeof(double));
	int covered = 0;
	double off = 0;

	for (int run = 0; run < RUNS; run++) {
		struct drawn d = draw();
		double truth = measure(&d, coarse, fine, MANY).ratio;
		struct gain gain = measure(&d, coarse, fine, TRIALS);

		covered += gain.low <= truth && truth <= gain.high;
		off += log(gain.ratio / truth) / RUNS;
	}
	printf("covered: %.1f %%; bias %+.2f %%\n", 100.0 * covered / RUNS, 100 * off);
	assert_true(covered >= RUNS * 0.92);
	assert_true(fabs(off) < 0.03);
}

TEST(equal_clocks_have_no_gain)
{
	enum { RUNS = 400 };
	double a[THINGS * TRIALS], b[THINGS * TRIALS];
	int claimed = 0;

	for (int run = 0; run < RUNS; run++) {
		struct drawn d = draw();
		struct gain gain;

		d.coarse = d.fine;
		gain = measure(&d, a, b, TRIALS);
		claimed += gain.low > 1 || gain.high < 1;
	}
	printf("a gain where there is none: %.1f %%\n", 100.0 * claimed / RUNS);
	assert_true(claimed <= RUNS * 0.08);
}

TEST(without_deviation_there_is_no_gain_to_speak_of)
{
	double same[THINGS * TRIALS] = {};
	double truths[THINGS] = {};
	const struct precision_pair pair = {same, same, truths, THINGS, TRIALS, BATCHES};

	assert_true(isnan(precision_gain(&pair).ratio));
}
