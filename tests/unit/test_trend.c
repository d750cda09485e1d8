/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of the variance of a series is its course in time. */
#include "tests/unit/check.h"

#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

enum { N = 400 };

static void make(int64_t *values, double slope, double step, size_t at)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	for (size_t i = 0; i < N; i++)
		values[i] = llround(1e9 + 1e3 * (gsl_ran_gaussian(rng, 1) + slope * (double)i / N +
							(i >= at ? step : 0)));
	gsl_rng_free(rng);
}

TEST(noise_has_no_course)
{
	int64_t values[N];
	struct trend c;

	make(values, 0, 0, 0);
	c = trend_of(values, N, 0, INT64_MAX / 2);
	assert_true(c.slow < 0.1);
}

TEST(a_drift_is_a_line)
{
	int64_t values[N];
	struct trend c;

	make(values, 10, 0, 0);
	c = trend_of(values, N, 0, INT64_MAX / 2);
	assert_true(c.slow > 0.8);
	assert_true(c.line > c.step);
}

TEST(a_step_is_found_where_it_is)
{
	int64_t values[N];
	struct trend c;

	make(values, 0, 10, 130);
	c = trend_of(values, N, 0, INT64_MAX / 2);
	assert_true(c.slow > 0.8 && c.step > c.line);
	assert_int_equal(c.change, 130);
	assert_true(fabs(c.after - c.before - 10e3) < 500);
}

TEST(a_single_outlier_is_pulled_in)
{
	int64_t values[N];
	struct trend c;

	make(values, 10, 0, 0);
	values[200] = INT64_C(3600000000000);
	c = trend_of(values, N, 1000000000 - 5000, 1000000000 + 15000);
	assert_true(c.slow > 0.8);
}

TEST(what_is_too_short_or_constant_has_none)
{
	const int64_t values[] = {1, 2, 3, 4, 5, 6}, same[40] = {};

	assert_true(trend_of(values, 6, 0, 10).slow == 0);
	assert_true(trend_of(same, 40, 0, 10).slow == 0);
}

static double alike(const int64_t *values, size_t n)
{
	int64_t sorted[N];

	memcpy(sorted, values, n * sizeof(*values));
	sort_ascending(sorted, n);
	return neighbours_alike(values, sorted, n);
}

TEST(neighbours_are_alike_in_a_slow_series_and_unlike_in_an_alternating_one)
{
	int64_t values[N];

	for (int i = 0; i < N; i++)
		values[i] = llround(1e6 * sin(i * 2 * M_PI / 40));
	assert_true(alike(values, N) > 0.95);
	for (int i = 0; i < N; i++)
		values[i] = i % 2 * 1000 + i * 7919 % 100;
	assert_true(alike(values, N) < -0.5);
	for (int i = 0; i < N; i++)
		values[i] = i * 37 % 101;
	assert_true(fabs(alike(values, N)) < 0.6);
	/* by hand: ranks about their mean -1, 1, 0 have steps of 2 and 1 */
	assert_true(fabs(alike((const int64_t[]){5, 900, 6}, 3) - (1 - 5.0 / 2 / 2)) <= 1e-12);
	assert_true(fabs(alike((const int64_t[]){7, 7, 7}, 3) - 0) <= 0);
}
