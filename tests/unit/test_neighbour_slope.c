/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slope of a program beside a neighbour, and times without one. tests/bench/neighbour.c
 * simulates how often the intervals are right. */
#include "tests/unit/check.h"

#include "lib/stats/neighbour.h"
#include "lib/stats/summary.h"

enum { RUNS = 3, EACH = 20, ALL = RUNS * EACH };

static double noise_state = 0.5;

/* In (-1, 1), the same in each run of the test. */
static double noise(void)
{
	noise_state = fmod(noise_state * 997 + 0.1234567, 1);
	return 2 * noise_state - 1;
}

/* Runs of different lengths, of a program with this slope: `from` to `to` of the time beside a
 * neighbour. */
static void make(struct neighbour_sample samples[ALL], double k, double from, double to)
{
	for (size_t i = 0; i < ALL; i++) {
		double base = 1e8 * (1 + 0.3 * (double)(i / EACH));
		double share = from + (to - from) * (double)(i % 5) / 4;

		samples[i] = (struct neighbour_sample){
			.run = i / EACH,
			.share = share,
			.time_ns = llround(base * (1 + 0.005 * noise()) / (1 - k * share)),
		};
	}
}

TEST(a_slope_is_found_in_runs_that_differ_for_other_reasons)
{
	struct neighbour_sample samples[ALL];
	struct neighbour_slope slope;

	for (double k = 0; k < 0.55; k += 0.1) {
		make(samples, k, 0, 1);
		slope = neighbour_slope_learn(samples, ALL);
		assert_close(slope.k, k, 0.015); /* what is usual counts a little */
		assert_true(slope.error > 0.005 && slope.error < 0.09);
	}
}

TEST(equal_shares_tell_nothing)
{
	struct neighbour_sample samples[ALL];
	struct neighbour_slope slope;

	make(samples, 0.5, 0.8, 0.8);
	slope = neighbour_slope_learn(samples, ALL);
	assert_close(slope.k, neighbour_slope_unknown.k, 1e-12);
	assert_close(slope.error, neighbour_slope_unknown.error, 1e-12);
	slope = neighbour_slope_learn(samples, 0);
	assert_close(slope.k, neighbour_slope_unknown.k, 1e-12);
}

TEST(samples_without_a_time_are_ignored)
{
	struct neighbour_sample samples[ALL];

	make(samples, 0.3, 0, 1);
	samples[7].time_ns = 0;
	assert_close(neighbour_slope_learn(samples, ALL).k, 0.3, 0.01);
}

TEST(errors_of_shares_do_not_make_the_slope_smaller)
{
	struct neighbour_sample samples[ALL];
	double sum = 0, without = 0;

	for (size_t seed = 0; seed < 40; seed++) {
		make(samples, 0.3, 0.2, 0.8);
		for (size_t i = 0; i < ALL; i++)
			samples[i].share += 0.2 * noise(); /* sd 0.2 / sqrt(3) */
		without += neighbour_slope_learn(samples, ALL).k / 40;
		for (size_t i = 0; i < ALL; i++)
			samples[i].share_error = 0.2 / sqrt(3);
		sum += neighbour_slope_learn(samples, ALL).k / 40;
	}
	assert_true(without < 0.26);
	assert_close(sum, 0.3, 0.015);
}

static struct summary adjusted(const struct neighbour_sample *samples, size_t n,
	const struct neighbour_slope *earlier, struct neighbour_adjustment *ret)
{
	int64_t times[ALL];

	*ret = neighbour_adjust(samples, n, earlier, times);
	return summary_of(times, n);
}

TEST(times_beside_a_neighbour_become_those_without)
{
	const struct neighbour_slope earlier = {.k = 0.4, .error = 0.02, .df = 8},
				     wrong = {.k = 0.4, .error = 0.1, .df = 8};
	struct neighbour_sample samples[ALL];
	struct neighbour_adjustment adjustment;
	struct summary s;

	make(samples, 0.4, 1, 1);
	s = adjusted(samples, EACH, &earlier, &adjustment);
	assert_close(s.mean_ns, 1e8, 4e5);
	assert_close(adjustment.slope.k, 0.4, 1e-12);
	assert_close(adjustment.mean_share, 1, 1e-12);
	assert_close(sqrt(adjustment.variance), 0.02 * 1e8 / 0.6, 1e5);

	/* an earlier slope that is wrong is corrected by a run with both kinds of samples */
	make(samples, 0.2, 0, 1);
	s = adjusted(samples, EACH, &wrong, &adjustment);
	assert_close(adjustment.slope.k, 0.2, 0.01);
	assert_close(s.mean_ns, 1e8, 4e5);

	/* estimates that deny each other have a greater error than each of them */
	adjusted(samples, EACH, &earlier, &adjustment);
	assert_true(adjustment.slope.error > 0.03);
}

TEST(the_interval_contains_the_error_of_the_slope)
{
	const struct neighbour_adjustment none = {.slope = {.df = 8}};
	const struct neighbour_adjustment adjustment = {
		.slope = {.k = 0.4, .error = 0.02, .df = 1e6}, .variance = 9e6 / 1.96 / 1.96};
	const struct interval by_scatter = {.low_ns = 96e3, .high_ns = 104e3};
	struct interval interval = neighbour_interval(&adjustment, 1e5, by_scatter);

	assert_close(interval.low_ns, 95e3, 1);
	assert_close(interval.high_ns, 105e3, 1);
	interval = neighbour_interval(&none, 1e5, by_scatter);
	assert_close(interval.low_ns, 96e3, 1e-6);
}

/* PT of gzip -6 in us, and the share with a neighbour in percent, as recorded on a virtual machine:
 * three stretches of 12 samples in which a neighbour came and went, and one beside a neighbour. */
static const struct {
	int pt_us, percent;
} recorded[4][12] = {
	{{49489, 17}, {47732, 4}, {50722, 12}, {48180, 11}, {50633, 13}, {51065, 20}, {48624, 7},
		{49167, 4}, {58578, 88}, {57337, 76}, {50198, 33}, {50121, 16}},
	{{60703, 78}, {59148, 79}, {60591, 73}, {60757, 75}, {50484, 31}, {49454, 10}, {48540, 10},
		{48337, 12}, {58592, 91}, {58711, 86}, {58892, 83}, {58938, 84}},
	{{48194, 10}, {47291, 7}, {48592, 7}, {48221, 9}, {58145, 95}, {60057, 91}, {58797, 79},
		{61026, 97}, {60639, 99}, {60192, 100}, {60810, 97}, {61122, 92}},
	{{61154, 99}, {61030, 100}, {59638, 95}, {63050, 93}, {60700, 88}, {60094, 83},
		{60961, 100}, {59133, 92}, {59051, 95}, {60009, 92}, {60800, 100}, {61950, 100}}};

/* The mean of all recorded samples that had a neighbour in less than 5 % of their time. */
static const double CLEAN_NS = 47619e3;

TEST(recorded_samples_beside_a_neighbour_become_those_without)
{
	struct neighbour_sample samples[ALL];
	struct neighbour_adjustment adjustment;
	struct neighbour_slope slope;
	struct interval interval;
	struct summary s;
	int64_t times[12];

	for (size_t i = 0; i < 48; i++)
		samples[i] = (struct neighbour_sample){
			.run = i / 12,
			.time_ns = recorded[i / 12][i % 12].pt_us * 1000,
			.share = recorded[i / 12][i % 12].percent / 100.0,
			.share_error = 0.02,
		};
	slope = neighbour_slope_learn(samples, 36);
	assert_close(slope.k, 0.23, 0.03); /* that of all 722 samples */
	for (size_t i = 0; i < 12; i++)
		times[i] = samples[36 + i].time_ns;
	assert_true(summary_of(times, 12).mean_ns > 1.25 * CLEAN_NS);

	adjustment = neighbour_adjust(samples + 36, 12, &slope, times);
	s = summary_of(times, 12);
	interval = neighbour_interval(&adjustment, s.mean_ns, interval_of_mean(times, 12, NULL, 0));
	assert_close(s.mean_ns, CLEAN_NS, 0.03 * CLEAN_NS);
	assert_true(interval.low_ns < CLEAN_NS && interval.high_ns > CLEAN_NS);
	assert_true(interval.high_ns - interval.low_ns < 0.2 * CLEAN_NS);
}
