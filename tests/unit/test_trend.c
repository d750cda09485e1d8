/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of the variance of a series is its course in time. */
#include "tests/unit/check.h"

#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum { N = 400 };

static int64_t values[N];

static struct trend make(double slope, double step, size_t at)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);

	for (size_t i = 0; i < N; i++)
		values[i] = llround(1e9 + 1e3 * (gsl_ran_gaussian(rng, 1) + slope * (double)i / N +
							(i >= at ? step : 0)));
	gsl_rng_free(rng);
	return trend_of(values, N, 0, INT64_MAX / 2);
}

TEST(noise_has_no_course_a_drift_is_a_line_and_a_step_is_where_it_is)
{
	struct trend noise = make(0, 0, 0), drift = make(10, 0, 0), step = make(0, 10, 130);

	assert_true(noise.slow < 0.1);
	assert_true(drift.slow > 0.8);
	assert_true(drift.line > drift.step);
	assert_true(step.slow > 0.8 && step.step > step.line);
	assert_int_equal(step.change, 130);
	assert_true(fabs(step.after - step.before - 10e3) < 500);
}

TEST(a_single_outlier_is_pulled_in)
{
	make(10, 0, 0);
	values[200] = INT64_C(3600000000000);
	assert_true(trend_of(values, N, 1000000000 - 5000, 1000000000 + 15000).slow > 0.8);
}

TEST(what_is_too_short_or_constant_has_none)
{
	const int64_t few[] = {1, 2, 3, 4, 5, 6}, same[40] = {};

	assert_true(trend_of(few, 6, 0, 10).slow == 0);
	assert_true(trend_of(same, 40, 0, 10).slow == 0);
}

static double alike(const int64_t *of, size_t n)
{
	int64_t sorted[N];

	memcpy(sorted, of, n * sizeof(*of));
	sort_ascending(sorted, n);
	return neighbours_alike(of, sorted, n);
}

TEST(neighbours_are_alike_in_a_slow_series_and_unlike_in_an_alternating_one)
{
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
