/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a clock that counts in steps hides. */
#include "tests/unit/check.h"

#include "lib/stats/rounding.h"

TEST(the_step_is_that_of_the_clock_or_that_of_the_times)
{
	const int64_t a[] = {40000000, 50000000, 40000000}, b[] = {60000000, 62000000},
		      same[] = {40000000, 40000000}, ticks[] = {44000000, 44000000},
		      exact[] = {40000001, 50000007};

	assert_int_equal(rounding_step(a, 3, NULL, 0, 1), 10000000);
	assert_int_equal(rounding_step(a, 3, b, 2, 0), 2000000);
	assert_int_equal(rounding_step(a, 3, b, 2, 1000000), 1000000);
	assert_int_equal(rounding_step(same, 2, same, 2, 0), 10000000); /* not 40 ms */
	assert_int_equal(rounding_step(ticks, 2, NULL, 0, 0), 4000000);
	assert_int_equal(
		rounding_step((int64_t[]){2000000000, 2000000000}, 2, NULL, 0, 0), 1000000000);
	assert_int_equal(rounding_step((int64_t[]){400000000, 400000000}, 2, NULL, 0, 0), 10000000);
	assert_int_equal(rounding_step(same, 2, exact, 2, 0), 1);
}

TEST(the_bias_is_half_a_step_of_equal_times_and_none_of_times_that_vary_by_a_step)
{
	const int64_t same[] = {70, 70, 70, 70}, two[] = {70, 80, 70, 80, 70, 80, 70, 80},
		      one_of_ten[] = {70, 70, 70, 70, 70, 80, 70, 70, 70, 70};
	struct rounding r = rounding_of(same, 4, 10);

	assert_close(r.bias_ns, 5, 1e-12);
	assert_close(r.variance, 100. / 12 / 4, 1e-12);
	assert_close(rounding_of(two, 8, 10).bias_ns, 0, 0);
	r = rounding_of(one_of_ten, 10, 10);
	assert_true(
		r.bias_ns > 3.8 && r.bias_ns < 5); /* as if the true time were just below 75: 4 */
}

TEST(a_few_long_samples_do_not_undo_the_rounding_of_the_others)
{
	int64_t times[40];

	for (size_t i = 0; i < 40; i++)
		times[i] = i == 7 || i == 30 ? 900 : 70;
	assert_close(rounding_of(times, 40, 10).bias_ns, 5, 1e-12);
}
