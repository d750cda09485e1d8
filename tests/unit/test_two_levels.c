/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two levels in a set of values. */
#include "tests/unit/check.h"

#include "lib/stats/summary.h"

#include <math.h>

enum { N = 40 };

TEST(two_clusters_are_divided_where_they_part)
{
	int64_t values[N];

	for (int i = 0; i < N; i++)
		values[i] = (i < 12 ? 1000 : 5000) + i;
	assert_int_equal(two_levels_of(values, N, 8, 1).n_low, 12);
	assert_true(fabs(two_levels_of(values, N, 8, 1).low - 1006) <= 1);
	assert_true(fabs(two_levels_of(values, N, 8, 1).high - 5026) <= 1);
	assert_true(two_levels_of(values, N, 8, 1).apart > 100);
}

TEST(one_cluster_has_no_two_levels_far_apart)
{
	int64_t values[N];

	for (int i = 0; i < N; i++)
		values[i] = 1000 + i;
	assert_true(two_levels_of(values, N, 8, 1).apart < 4);
}

TEST(a_part_has_at_least_so_many_values)
{
	int64_t values[N];

	for (int i = 0; i < N; i++)
		values[i] = i < 5 ? i : 9000 + i;
	assert_true(two_levels_of(values, N, 8, 1).apart < 6);
	assert_int_equal(two_levels_of(values, N, N, 1).n_low, 0);
}

TEST(values_in_coarse_steps_are_not_two_levels_because_of_a_step)
{
	int64_t values[N];

	for (int i = 0; i < N; i++)
		values[i] = i < 20 ? 1000000 : 2000000;
	assert_true(two_levels_of(values, N, 8, 1000000).apart <= 1);
}
