/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the bulk of an array lies, and how large a share is at least. */
#include "tests/unit/drawn.h"

#include "lib/base/cleanup.h"
#include "lib/clocks/precision.h"
#include "lib/stats/summary.h"

#include <math.h>
#include <stdbool.h>

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

TEST(the_median_of_a_coarse_counter_is_between_its_steps)
{
	const int64_t values[] = {26, 26, 26, 52, 52, 52, 52, 52, 52, 78};

	/* 5 of 10 are below: 3 in the steps before, and 2 of the 6 in its own, which is from 39 to
	 * 65 */
	assert_true(fabs(grouped_median_of(values, 10, 26) - (39 + 26 * 2.0 / 6)) < 1e-9);
	assert_true(fabs(grouped_median_of(values, 1, 26) - 26) < 1e-9);
}

static bool covers_the_median(struct bounds bounds, double median)
{
	return bounds.low <= median && median <= bounds.high;
}

/* Of an exponential distribution, far from symmetric, with its mean drawn. */
TEST_DRAWN(the_interval_of_the_median_covers_it, 1)
{
	enum { RUNS = 2000 };
	const size_t sizes[] = {10, 40, 101};

	for (size_t k = 0; k < ELEMENTS(sizes); k++) {
		int covered = 0;

		for (int run = 0; run < RUNS; run++) {
			double mean = gsl_ran_flat(rng, 1e3, 1e6);
			int64_t values[101];

			for (size_t i = 0; i < sizes[k]; i++)
				values[i] = llround(gsl_ran_exponential(rng, mean));
			sort_ascending(values, sizes[k]);
			covered += covers_the_median(
				median_interval(values, sizes[k]), mean * M_LN2);
		}
		printf("%zu values: %.1f %%\n", sizes[k], 100.0 * covered / RUNS);
		assert_true(covered >= RUNS * 0.935 && covered <= RUNS * 0.99);
	}
}

TEST(five_values_have_no_95_percent_interval_of_the_median)
{
	const int64_t values[] = {1, 2, 3, 4, 5, 6};

	assert_true(isnan(median_interval(values, 5).low));
	assert_true(median_interval(values, 6).low == 1 && median_interval(values, 6).high == 6);
}
