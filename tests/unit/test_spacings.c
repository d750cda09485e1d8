/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps in a tail that the tail itself does not account for. */
#include "tests/unit/check.h"

#include "lib/stats/summary.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

static size_t count_breaks(const int64_t *values, size_t n, enum tail tail, int64_t quantum)
{
	_cleanup_(freep) struct tail_gap *gaps = NULL;
	size_t n_gaps = 0, breaks = 0;

	gaps = spacings_gaps(values, n, tail, quantum, 0.01, &n_gaps);
	for (size_t i = 0; i < n_gaps; i++)
		breaks += gaps[i].size > gaps[i].longest;
	return breaks;
}

/* Exponential values are what the statistic is exact for. */
TEST(exponential_values_show_a_break_once_in_a_hundred_times)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	enum { TIMES = 2000, N = 200 };
	int64_t values[N];
	int runs = 0;

	gsl_rng_set(rng, check_seed(0));
	for (int t = 0; t < TIMES; t++) {
		for (int i = 0; i < N; i++)
			values[i] = llround(1e9 + gsl_ran_exponential(rng, 1e6));
		sort_ascending(values, N);
		runs += count_breaks(values, N, TAIL_HIGH, 1) > 0;
	}
	gsl_rng_free(rng);
	printf("a break in %d of %d runs without one\n", runs, TIMES);
	assert_in_range(runs, 1, TIMES / 100);
}

TEST(values_far_out_are_beyond_a_break_on_their_side)
{
	int64_t values[40];

	for (int i = 0; i < 40; i++)
		values[i] = 1000 + i;
	values[38] = 2000;
	values[39] = 2500;
	assert_true(count_breaks(values, 40, TAIL_HIGH, 1) > 0);
	assert_int_equal(count_breaks(values, 40, TAIL_LOW, 1), 0);
	values[0] = 1;
	assert_true(count_breaks(values, 40, TAIL_LOW, 1) > 0);
}

/* Many outliers do not hide one another: none of them is in what they are compared with. */
TEST(a_third_of_the_values_far_out_is_seen)
{
	_cleanup_(freep) struct tail_gap *gaps = NULL;
	int64_t values[60];
	size_t n = 0, innermost = 0;

	for (int i = 0; i < 60; i++)
		values[i] = i < 40 ? 1000 + i : 5000 + 10 * i;
	gaps = spacings_gaps(values, 60, TAIL_HIGH, 1, 0.01, &n);
	while (innermost < n && gaps[innermost].size <= gaps[innermost].longest)
		innermost++;
	assert_true(innermost < n);
	assert_int_equal(gaps[innermost].beyond, 20);
}

/* In whole steps most gaps are zero, and one step is no gap. */
TEST(ties_and_the_next_step_are_no_break)
{
	int64_t values[200];

	for (int i = 0; i < 200; i++)
		values[i] = i < 195 ? 100000000 : 101000000;
	assert_int_equal(count_breaks(values, 200, TAIL_HIGH, 1000000), 0);
	values[199] = 120000000;
	assert_true(count_breaks(values, 200, TAIL_HIGH, 1000000) > 0);
}

TEST(a_few_values_are_no_tail)
{
	const int64_t values[] = {1, 2, 1000};

	assert_int_equal(count_breaks(values, 3, TAIL_HIGH, 1), 0);
	assert_int_equal(count_breaks(values, 1, TAIL_HIGH, 1), 0);
}

TEST(the_grain_is_the_step_that_all_values_share)
{
	const int64_t ms[] = {128000000, 129000000, 131000000}, ns[] = {128000000, 129000001},
		      zero[] = {0, 0};

	assert_int_equal(quantum_of(ms, 3), 1000000);
	assert_int_equal(quantum_of(ns, 2), 1);
	assert_int_equal(quantum_of(zero, 2), 1);
	assert_int_equal(quantum_of(NULL, 0), 1);
}
