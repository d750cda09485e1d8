/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of level: small cases whose answer is known, and that chance alone shows few. How many,
 * by kind of series: tests/bench/truth.py. */
#include "tests/unit/check.h"

#include "lib/trend/change_points.h"
#include "lib/trend/division.h"
#include "lib/trend/trend_verdict.h"

#include <math.h>
#include <time.h>

enum { MOST = 400 };

static uint64_t seed;

/* Another one each time. */
static void begin_random(void)
{
	seed = check_seed((unsigned long)time(NULL));
}

static double normal(void)
{
	double u = random_unit(&seed);

	return sqrt(-2 * log(u > 0 ? u : 0.5)) * cos(2 * M_PI * random_unit(&seed));
}

/* So many values about 0, each with its part of the one before. */
static void make(double *values, size_t n, double lag1)
{
	double state = normal();

	for (size_t i = 0; i < n; i++) {
		values[i] = state;
		state = lag1 * state + sqrt(1 - lag1 * lag1) * normal();
	}
}

static void raise_from(double *values, size_t n, size_t at, double by)
{
	for (size_t i = at; i < n; i++)
		values[i] += by;
}

static struct trend_judgement judged(
	const struct levels *levels, size_t reference, double allowed_percent)
{
	const struct comparison_rules rules = {
		.fail_if_slower = allowed_percent, .equal_within = -1};

	return trend_judge(levels, reference, &rules);
}

static struct levels find(const double *values, size_t n)
{
	struct levels levels;

	change_points_find(values, n, 0, &levels);
	return levels;
}

TEST(a_step_between_values_that_do_not_vary_is_where_it_is)
{
	for (size_t at = CHANGE_POINTS_LEAST; at <= 12 - CHANGE_POINTS_LEAST; at++) {
		double values[12] = {};
		_cleanup_(levels_clear) struct levels levels = {};

		raise_from(values, 12, at, 1);
		levels = find(values, 12);
		assert_int_equal(levels.n, 2);
		assert_int_equal(levels.items[0].n, at);
		assert_int_equal(levels.items[1].first, at);
		assert_true(
			fabs(levels.items[0].mean) < 1e-9 && fabs(levels.items[1].mean - 1) < 1e-9);
		assert_true(fabs(levels.items[1].change.by - 1) < 1e-9);
	}
}

TEST(equal_values_have_one_level)
{
	double values[50];

	for (size_t n = 0; n <= ELEMENTS(values); n++) {
		_cleanup_(levels_clear) struct levels levels = {};

		for (size_t i = 0; i < n; i++)
			values[i] = 0.1;
		levels = find(values, n);
		assert_int_equal(levels.n, n > 0);
	}
}

TEST(too_few_values_claim_nothing)
{
	const double values[] = {0, 0, 0, 100, 100};
	_cleanup_(levels_clear) struct levels levels = find(values, ELEMENTS(values));

	assert_int_equal(levels.n, 1);
	assert_true(isinf(levels.items[0].half));
	assert_true(isinf(levels_detectable(&levels, ELEMENTS(values), 2)));
}

TEST(single_bad_values_are_no_level)
{
	double values[40];
	size_t hits = 0;

	begin_random();
	for (int times = 0; times < 200; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 40, 0);
		values[20] += 1000;
		values[30] -= 1000;
		values[39] += 1000;
		levels = find(values, 40);
		hits += levels.n > 1;
		assert_true(levels.n > 1 || fabs(levels.items[0].mean) < 1.5);
	}
	assert_true(hits <= 20);
}

/* Up and down again: the whole has the level of its middle, so that no single step is clear. */
TEST(a_level_between_two_equal_ones_is_found)
{
	size_t hits = 0;
	double values[60];

	begin_random();
	for (int times = 0; times < 100; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 60, 0);
		raise_from(values, 60, 20, 5);
		raise_from(values, 60, 40, -5);
		levels = find(values, 60);
		hits += levels.n == 3 && labs((long)levels.items[1].first - 20) <= 1 &&
			labs((long)levels.items[2].first - 40) <= 1;
	}
	assert_true(hits >= 90);
}

/* The best division by trying all, for a few values and the penalty that was used. */
static double least_cost(const double *values, size_t n, double penalty)
{
	double best[32] = {};

	for (size_t end = 1; end <= n; end++) {
		best[end] = INFINITY;
		for (size_t first = 0; first + CHANGE_POINTS_LEAST <= end; first++) {
			double sum = 0, squares = 0;

			for (size_t i = first; i < end; i++)
				sum += values[i];
			for (size_t i = first; i < end; i++)
				squares += pow(values[i] - sum / (double)(end - first), 2);
			best[end] = fmin(best[end], best[first] + squares + penalty);
		}
	}
	return best[n];
}

TEST(no_division_is_better_than_the_one_that_is_found)
{
	double values[30];

	begin_random();
	for (int times = 0; times < 300; times++) {
		double penalty = 20 * random_unit(&seed), sum = penalty;
		size_t bounds[31], n;

		make(values, 30, 0.3);
		raise_from(values, 30, 5 + random_next(&seed) % 20, 8 * random_unit(&seed));
		raise_from(values, 30, 5 + random_next(&seed) % 20, -8 * random_unit(&seed));
		n = division_best(values, 30, CHANGE_POINTS_LEAST, penalty, bounds);
		for (size_t k = 0, first = 0; k <= n; k++) {
			size_t end = k < n ? bounds[k] : 30;
			double mean = 0;

			for (size_t i = first; i < end; i++)
				mean += values[i] / (double)(end - first);
			for (size_t i = first; i < end; i++)
				sum += pow(values[i] - mean, 2);
			sum += k > 0 ? penalty : 0;
			first = end;
		}
		assert_true(sum <= least_cost(values, 30, penalty) * (1 + 1e-9) + 1e-9);
	}
}

TEST(the_values_beside_a_step_are_no_outliers)
{
	size_t beside = 0, elsewhere = 0;
	double expected;
	double values[40];

	begin_random();
	for (int times = 0; times < 600; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 40, 0);
		raise_from(values, 40, 20, 12);
		values[30] += 30;
		levels = find(values, 40);
		if (levels.n != 2 || levels.items[1].first != 20)
			continue;
		assert_true(levels.in_level[30] < values[30]);
		for (size_t i = 0; i < 40; i++)
			if (levels.in_level[i] != values[i] && i != 30)
				*(i >= 18 && i < 22 ? &beside : &elsewhere) += 1;
	}
	/* few are marked at all, so that chance matters; twice as many and more with windows that
	 * span the step */
	expected = 4 * (double)elsewhere / 35;
	assert_true((double)beside <= 1.4 * expected + 3 * sqrt(expected));
}

/* In percent. Long series take long. */
static size_t percent_false(double lag1, size_t n)
{
	double values[MOST];
	size_t hits = 0, all = n < 40 ? 400 : 100;

	for (size_t times = 0; times < all; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, n, lag1);
		levels = find(values, n);
		hits += levels.n > 1;
	}
	return 100 * hits / all;
}

TEST(series_without_a_change_show_few)
{
	begin_random();
	for (size_t n = 6; n < MOST; n *= 2) {
		assert_true(percent_false(0, n) <= 5); /* about 1 % are expected */
		assert_true(percent_false(0.5, n) <= 8);
	}
}

TEST(the_unit_of_the_values_does_not_matter)
{
	double values[40], other[40];
	_cleanup_(levels_clear) struct levels a = {}, b = {};

	begin_random();
	make(values, 40, 0.2);
	raise_from(values, 40, 25, 6);
	for (size_t i = 0; i < 40; i++)
		other[i] = 1e4 + 1e-3 * values[i];
	a = find(values, 40);
	b = find(other, 40);
	assert_int_equal(a.n, b.n);
	for (size_t k = 0; k < a.n; k++) {
		assert_int_equal(a.items[k].first, b.items[k].first);
		assert_true(fabs(1e-3 * a.items[k].half / b.items[k].half - 1) < 1e-3);
	}
}

/* The case of six runs of 90 ms, and then four of 180 ms; and all lengths with three values on
 * either side. */
TEST(a_large_step_is_found_with_three_values_on_either_side)
{
	size_t hits = 0, all = 0;
	double values[24];

	begin_random();
	for (size_t n = 6; n <= 24; n += 2)
		for (int times = 0; times < 40; times++, all++) {
			size_t at = 3 + random_next(&seed) % (n - 5);

			_cleanup_(levels_clear) struct levels levels = {};

			make(values, n, 0);
			raise_from(values, n, at, 10);
			levels = find(values, n);
			hits += levels.n == 2 && levels.items[1].first == at;
		}
	assert_true(50 * (all - hits) <= all);
}

/* A program that gets twice as slow bit by bit. */
TEST(a_drift_is_a_drift_and_no_staircase)
{
	double values[60];
	size_t hits = 0;

	begin_random();
	for (int times = 0; times < 40; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 60, 0);
		for (size_t i = 0; i < 60; i++)
			values[i] = 0.005 * values[i] + log(2) * (double)i / 59;
		levels = find(values, 60);
		hits += levels.drifts && levels.n == 1 &&
			fabs(levels.drift.by - log(2) / 59) < 4e-4 &&
			judged(&levels, 0, 100 * 0.02).verdict == COMPARISON_SLOWER;
	}
	assert_true(hits >= 38);
}

TEST(a_step_in_a_drift_is_found_beside_it)
{
	double values[60];
	size_t hits = 0;

	begin_random();
	for (int times = 0; times < 40; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 60, 0);
		for (size_t i = 0; i < 60; i++)
			values[i] = 0.005 * values[i] + 0.1 * (double)i / 59 + (i >= 25 ? 0.05 : 0);
		levels = find(values, 60);
		hits += levels.drifts && levels.n == 2 && levels.items[1].first == 25;
	}
	assert_true(hits >= 36);
}

TEST(four_bad_values_in_a_row_are_no_level)
{
	size_t hits = 0;
	double values[60];

	begin_random();
	for (int times = 0; times < 100; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 60, 0);
		for (size_t i = 30; i < 34; i++)
			values[i] += 12;
		levels = find(values, 60);
		hits += levels.n > 1;
	}
	assert_true(hits <= 8);
}

/* 15 % slow values, by one size. */
TEST(bad_values_at_chance_are_no_levels)
{
	size_t hits = 0;
	double values[100];

	begin_random();
	for (int times = 0; times < 200; times++) {
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, 100, 0);
		for (size_t i = 0; i < 100; i++)
			values[i] += random_unit(&seed) < 0.15 ? 20 : 0;
		levels = find(values, 100);
		hits += levels.n > 1;
	}
	assert_true(hits <= 12);
}

/* The noise that is known of the values themselves. */
TEST(a_step_within_the_known_noise_is_not_shown)
{
	const double values[] = {0, 0.1, 0.05, 1, 1.1, 1.05};
	_cleanup_(levels_clear) struct levels unknown = find(values, 6), known = {};

	change_points_find(values, 6, 1, &known);
	assert_int_equal(unknown.n, 2);
	assert_int_equal(known.n, 1);
}

/* The gate sees what has come together since the first value, not the last step alone. */
TEST(the_last_level_is_judged_against_the_reference)
{
	double values[45];
	struct trend_judgement first, second;
	_cleanup_(levels_clear) struct levels levels = {};

	begin_random();
	make(values, 45, 0);
	for (size_t i = 0; i < 45; i++)
		values[i] = 0.001 * values[i] + (i >= 15 ? 0.1 : 0) - (i >= 30 ? 0.014 : 0);
	levels = find(values, 45);
	assert_int_equal(levels.n, 3);
	first = judged(&levels, 0, 100 * 0.05);
	second = judged(&levels, 20, 100 * 0.05);
	assert_int_equal(first.verdict, COMPARISON_SLOWER);
	assert_true(fabs(first.change.by - 0.086) < 0.002);
	assert_int_equal(second.verdict, COMPARISON_EQUAL);
	assert_int_equal(judged(&levels, 20, 1).verdict, COMPARISON_FASTER);
	assert_true(judged(&levels, 0, 100 * 0.2).verdict == COMPARISON_EQUAL);
}

/* One value apart may be bad; two may begin a level, which the next value shows. */
TEST(two_values_apart_at_the_end_are_not_equal_to_the_others)
{
	for (size_t apart = 1; apart <= 3; apart++)
		for (int up = -1; up <= 1; up += 2) {
			double values[20];
			struct trend_judgement j;
			_cleanup_(levels_clear) struct levels levels = {};

			/* in 1 of 70 series, noise makes a level of two and the value before */
			seed = apart;
			make(values, 20, 0);
			for (size_t i = 0; i < 20; i++)
				values[i] *= 0.002;
			raise_from(values, 20, 20 - apart, up * 0.5);
			levels = find(values, 20);
			j = judged(&levels, 0, 2);
			if (apart == 1) {
				assert_int_equal(j.verdict, COMPARISON_EQUAL);
				assert_int_equal(levels.n_apart, 1);
			} else if (apart == 2) {
				assert_int_equal(j.verdict, COMPARISON_CANNOT_TELL);
				assert_true(j.last == 2 && fabs(j.change.by - up * 0.5) < 0.01);
				assert_true(j.missing > 0 && j.missing <= 1);
			} else {
				assert_int_equal(
					j.verdict, up > 0 ? COMPARISON_SLOWER : COMPARISON_FASTER);
			}
			if (apart == 2)
				assert_int_equal(judged(&levels, 0, 80).verdict, COMPARISON_EQUAL);
		}
}

/* A clock of coarse steps: what it may hide is in each interval, and so in the verdict. */
TEST(what_the_clock_hides_is_in_each_interval)
{
	double values[12] = {};
	_cleanup_(levels_clear) struct levels levels = {};
	struct level_change before, after;

	raise_from(values, 12, 6, 0.1);
	levels = find(values, 12);
	before = levels_between(&levels, 0, 11);
	levels_widen(&levels, 0.05);
	after = levels_between(&levels, 0, 11);
	assert_true(fabs(after.by - before.by) <= 0 && fabs(after.half - before.half - 0.1) < 1e-9);
	assert_true(levels.items[0].half >= 0.05 && levels.items[1].change.half >= 0.1);
	assert_true(levels_at(&levels, 3).half >= 0.05);
	assert_true(
		levels_last(&levels, 6, 3).half >= 0.1 && levels_detectable(&levels, 6, 3) >= 0.1);
	assert_int_equal(judged(&levels, 6, 2).verdict, COMPARISON_CANNOT_TELL);
}

/* Series of sd, judged again after as many more values at the level. */
TEST(with_as_many_more_values_as_are_said_to_be_missing_it_can_be_told)
{
	size_t said = 0, told = 0;

	seed = 1;
	for (int times = 0; times < 60; times++) {
		double values[MOST];
		_cleanup_(levels_clear) struct levels levels = {}, later = {};
		struct trend_judgement now;

		make(values, MOST, 0);
		for (size_t i = 0; i < MOST; i++)
			values[i] *= 0.04;
		levels = find(values, 20);
		now = judged(&levels, 0, 5);
		if (now.verdict != COMPARISON_CANNOT_TELL) {
			assert_true(isnan(now.missing));
			continue;
		}
		if (!(now.missing <= MOST - 20))
			continue;
		said++;
		later = find(values, 20 + (size_t)now.missing);
		told += judged(&later, 0, 5).verdict != COMPARISON_CANNOT_TELL;
	}
	print_message("%zu of %zu told\n", told, said);
	assert_true(said >= 10 && 10 * told >= 4 * said);
}

/* What stays uncertain is the level of its three values. */
TEST(more_values_do_not_help_where_the_reference_is_too_short)
{
	static const double scatter[] = {0, 0.02, -0.02};
	double values[60];
	_cleanup_(levels_clear) struct levels few = {}, many = {};

	for (size_t i = 0; i < 60; i++)
		values[i] = scatter[i % 3] + (i >= 3 ? 0.3 : 0);
	few = find(values, 9);
	many = find(values, 60);
	assert_true(few.n == 2 && many.n == 2);
	assert_true(isinf(judged(&few, 0, 36).missing) && isinf(judged(&many, 0, 36).missing));
	assert_int_equal(judged(&many, 0, 36).verdict, COMPARISON_CANNOT_TELL);
	assert_int_equal(judged(&many, 3, 36).verdict, COMPARISON_EQUAL);
}

/* Noise that hides in five values what is allowed does not do so in more. */
TEST(as_many_of_the_last_values_are_compared_as_it_takes)
{
	double values[200];
	_cleanup_(levels_clear) struct levels levels = {};

	for (size_t i = 0; i < 200; i++)
		values[i] = i * 7919 % 101 / 101.0 * 0.1 - 0.05;
	levels = find(values, 200);
	assert_int_equal(levels.n, 1);
	assert_int_equal(judged(&levels, 0, 10).last, 5);
	assert_int_equal(judged(&levels, 0, 3).verdict, COMPARISON_EQUAL);
	assert_in_range(judged(&levels, 0, 3).last, 6, 100);
	for (size_t i = 195; i < 200; i++)
		values[i] += 0.035;
	levels_clear(&levels);
	levels = find(values, 200);
	assert_true(levels.n > 1 || judged(&levels, 0, 3).verdict == COMPARISON_CANNOT_TELL);
}

/* Of so many series of n values of sd that drift by `by`, those called equal within 2 %. */
static int count_equal(int series, size_t n, double sd, double by)
{
	int equal = 0;

	seed = 1;
	for (int s = 0; s < series; s++) {
		double values[MOST];
		_cleanup_(levels_clear) struct levels levels = {};

		make(values, n, 0);
		for (size_t i = 0; i < n; i++)
			values[i] = sd * values[i] + by * (double)i / (double)(n - 1);
		levels = find(values, n);
		equal += judged(&levels, 0, 2).verdict == COMPARISON_EQUAL;
	}
	return equal;
}

/* In one series of twenty it may be (tests/bench/trend.c). */
TEST(a_drift_of_what_is_allowed_is_not_called_equal_because_it_is_not_clear)
{
	for (size_t n = 12; n <= 20; n += 4) {
		assert_in_range(count_equal(100, n, 0.005, log1p(0.02)), 0, 8);
		assert_in_range(count_equal(100, n, 0.01, log1p(0.02)), 0, 8);
		assert_in_range(count_equal(100, n, 0.005, 0), 90, 100);
	}
}

/* Without a gate, too: what no step shows is equal if it is within 2 %. */
TEST(a_difference_that_no_step_shows_is_equal_if_it_is_small)
{
	double values[40];
	_cleanup_(levels_clear) struct levels levels = {};

	for (size_t i = 0; i < 40; i++)
		values[i] = i * 7919 % 101 / 101.0 * 0.002 + (i >= 35 ? 0.001 : 0);
	levels = find(values, 40);
	assert_int_equal(levels.n, 1);
	assert_true(levels_last(&levels, 40, 5).by > levels_last(&levels, 40, 5).half);
	assert_int_equal(judged(&levels, 0, -1).verdict, COMPARISON_EQUAL);
}

TEST(what_cannot_be_seen_cannot_be_told)
{
	double values[40];
	_cleanup_(levels_clear) struct levels few = {}, many = {}, none = {};

	begin_random();
	make(values, 40, 0);
	for (size_t i = 0; i < 40; i++)
		values[i] *= 0.01;
	none = find(values, 5);
	assert_int_equal(judged(&none, 0, 100 * 0.5).verdict, COMPARISON_CANNOT_TELL);
	few = find(values, 40);
	if (few.n > 1 || few.drifts) /* one series in twenty */
		return;
	assert_int_equal(judged(&few, 0, 100 * 0.001).verdict, COMPARISON_CANNOT_TELL);
	assert_int_equal(judged(&few, 0, 100 * 0.1).verdict, COMPARISON_EQUAL);
	assert_true(judged(&few, 0, 100 * 0.1).detectable > 0.005);
	assert_true(judged(&few, 0, 100 * 0.1).detectable < 0.1);
}
