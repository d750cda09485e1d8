/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the bulk of an array lies, and how large a share is at least. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/stats/robust.h"
#include "lib/stats/proportion.h"

#include <math.h>

TEST(the_median_of_an_even_number_is_halfway)
{
	const int64_t values[] = {9, 1, 4, 2};

	assert_true(median_of(values, 4) == 3);
	assert_true(median_of(values, 3) == 4);
	assert_true(isnan(median_of(values, 0)));
}

TEST(quantiles_are_interpolated)
{
	const int64_t values[] = {0, 10, 20, 30, 40};

	assert_true(quantile_of(values, 5, 0) == 0);
	assert_true(quantile_of(values, 5, 1) == 40);
	assert_true(fabs(quantile_of(values, 5, 0.3) - 12) < 1e-9);
}

TEST(the_shorth_is_where_the_values_are_densest)
{
	const int64_t values[] = {0, 50, 100, 101, 102, 103, 104, 500, 900};
	struct shorth s = shorth_of(values, ELEMENTS(values));

	assert_true(s.middle == 102);
	assert_true(fabs(s.sd - 2 / 0.67449) < 1e-3);
}

TEST(equal_values_have_a_shorth_without_width)
{
	const int64_t values[] = {7, 7, 7, 7, 9};
	struct shorth s = shorth_of(values, ELEMENTS(values));

	assert_true(s.middle == 7 && s.sd == 0);
	assert_true(shorth_of(values, 1).middle == 7);
}

TEST(a_share_seen_in_few_cases_is_worth_less)
{
	assert_true(proportion_at_least(0, 0) == 0);
	assert_true(fabs(proportion_at_least(0, 10)) < 1e-12);
	assert_true(fabs(proportion_at_least(5, 10) - 0.2693) < 1e-3);
	assert_true(proportion_at_least(50, 100) > proportion_at_least(5, 10));
	assert_true(proportion_at_least(100, 100) < 1);
}
