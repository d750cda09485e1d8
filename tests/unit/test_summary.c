/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of the papers' tables, and values that pass by once. */
#include "tests/unit/check.h"

#include "lib/stats/summary.h"

#include <math.h>

TEST(the_figures_are_those_of_the_definition)
{
	const int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct summary s = summary_of(values, ELEMENTS(values));

	assert_int_equal(s.n, 8);
	assert_int_equal(s.min_ns, 2);
	assert_int_equal(s.max_ns, 9);
	assert_true(s.mean_ns == 5);
	assert_true(s.median_ns == 4.5);
	assert_true(fabs(s.sd_ns - sqrt(32.0 / 7)) < 1e-12);
	assert_true(fabs(s.relative_error - s.sd_ns / 5) < 1e-12);
}

TEST(one_value_has_no_spread_and_none_has_nothing)
{
	const int64_t value = 7;
	struct summary one = summary_of(&value, 1), none = summary_of(NULL, 0);

	assert_true(one.sd_ns == 0 && one.mean_ns == 7 && one.median_ns == 7);
	assert_true(none.n == 0 && none.mean_ns == 0 && none.sd_ns == 0);
}

/* ETs of hours in ns have more digits than a sum of squares in doubles keeps. */
TEST(spread_of_a_nanosecond_in_days_is_seen)
{
	const int64_t day = INT64_C(86400000000000);
	const int64_t values[] = {8 * day, 8 * day + 1, 8 * day + 2};
	struct summary s = summary_of(values, ELEMENTS(values));

	assert_true(fabs(s.sd_ns - 1) < 1e-3);
}

TEST(values_that_pass_by_give_the_same_figures)
{
	const int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct running all = RUNNING_NONE, first = RUNNING_NONE, rest = RUNNING_NONE, both;

	for (size_t i = 0; i < ELEMENTS(values); i++) {
		running_add(&all, values[i]);
		running_add(i < 3 ? &first : &rest, values[i]);
	}
	both = running_join(&first, &rest);
	assert_true(fabs(running_sd(&all) - sqrt(32.0 / 7)) < 1e-12);
	assert_true(fabs(running_sd(&both) - running_sd(&all)) < 1e-12);
	assert_int_equal(both.max_ns, 9);
	assert_int_equal(both.n, 8);
	assert_true(running_sum(&both) == 40);
}

TEST(nothing_joined_to_values_leaves_them_as_they_are)
{
	struct running none = RUNNING_NONE, one = RUNNING_NONE, both;

	running_add(&one, 3);
	both = running_join(&none, &one);
	assert_int_equal(both.max_ns, 3);
	both = running_join(&one, &none);
	assert_int_equal(both.n, 1);
	assert_int_equal(running_join(&none, &none).max_ns, -1);
}
