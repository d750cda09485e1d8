/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ratios of times that were taken together, and how often their intervals contain the true one. */
#include "tests/unit/drawn.h"

#include "lib/base/cleanup.h"
#include "lib/stats/compare.h"

#include <math.h>

TEST(what_slows_both_by_one_factor_cancels)
{
	const int64_t a[] = {100000, 150000, 80000, 220000}, b[] = {102000, 153000, 81600, 224400};
	struct log_ratio r;

	r = log_ratio_of(a, b, NULL, 4);
	assert_close(exp(r.mean), 1.02, 1e-9);
	assert_close(r.sd, 0, 1e-9);
	assert_true(r.neighbours_sd > 0.1);
}

/* Student's interval of log 2, log 3, log 4 by hand. */
TEST(the_interval_is_students_of_the_logarithms)
{
	const int64_t a[] = {1, 1, 1}, b[] = {2, 3, 4};
	struct log_ratio r;

	r = log_ratio_of(a, b, NULL, 3);
	assert_close(r.mean, log(24) / 3, 1e-12);
	assert_close(r.sd, 0.348237, 1e-6);
	assert_close(log_ratio_half(&r, 0.05), 4.302653 * 0.348237 / sqrt(3), 1e-5);
	assert_true(isnan(r.robust));
}

TEST(what_the_order_of_starting_does_is_no_spread)
{
	const int64_t a[] = {1000, 1010, 1000, 1010, 1000, 1010},
		      b[] = {1010, 1000, 1010, 1000, 1010, 1000};
	const bool a_first[] = {true, false, true, false, true, false};
	struct log_ratio r;

	r = log_ratio_of(a, b, a_first, 6);
	assert_close(r.mean, 0, 1e-12);
	assert_close(r.sd, 0, 1e-12);
	r = log_ratio_of(a, b, a_first, 5); /* three of one order, two of the other */
	assert_close(r.mean, 0, 1e-12);
}

/* Wilcoxon's table: at n = 10 and 5 %, rank sums up to 8 are rejected, so that the interval begins
 * at the ninth mean. */
TEST(the_robust_interval_is_that_of_the_signed_ranks)
{
	int64_t a[10], b[10];
	struct log_ratio r;

	for (int i = 0; i < 10; i++) {
		a[i] = 1000;
		b[i] = 1000 + (1 << i);
	}
	r = log_ratio_of(a, b, NULL, 10);
	assert_close(r.robust_low, 0.005980, 1e-6); /* by another program */
	assert_close(r.robust_high, 0.208713, 1e-6);
	b[9] = 1000000;
	r = log_ratio_of(a, b, NULL, 10);
	assert_true(r.robust < log(1.2));
	assert_true(exp(r.mean) > 1.5);
}

TEST(one_pair_has_no_interval)
{
	const int64_t a = 100, b = 200;
	struct log_ratio r = log_ratio_of(&a, &b, NULL, 1);
	struct comparison c;
	struct error err;

	assert_close(r.mean, log(2), 1e-12);
	assert_true(isnan(r.se) && isnan(log_ratio_half(&r, 0.05)));
	assert_int_equal(compare(&a, 1, &b, 1, &(struct compare_plan){DESIGN_DUET}, &c, &err), 0);
	assert_true(isnan(c.p));
}

TEST_DRAWN(intervals_contain_the_ratio_in_95_of_100_cases, 1)
{
	int cases = 4000, contained = 0, robust = 0;

	for (int k = 0; k < cases; k++) {
		int64_t a[10], b[10];
		bool a_first[10];
		struct log_ratio r;
		double speed = 0;

		/* The machine's speed is a random walk, and each time has an error of its own; the
		 * order of starting costs 0.5 %. */
		for (size_t i = 0; i < 10; i++) {
			speed += gsl_ran_gaussian(rng, 0.05);
			a_first[i] = i % 2 == 0;
			a[i] = (int64_t)(1e8 * exp(speed + gsl_ran_gaussian(rng, 0.005) +
						       (a_first[i] ? 0 : 0.005)));
			b[i] = (int64_t)(1.02e8 * exp(speed + gsl_ran_gaussian(rng, 0.005) +
							  (a_first[i] ? 0.005 : 0)));
		}
		r = log_ratio_of(a, b, a_first, 10);
		contained += fabs(r.mean - log(1.02)) <= log_ratio_half(&r, 0.05);
		robust += r.robust_low <= log(1.02) && log(1.02) <= r.robust_high;
	}
	assert_close((double)contained / cases, 0.95, 0.015);
	assert_true((double)robust / cases > 0.93);
}
