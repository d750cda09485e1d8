/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of means, and how often they contain the mean. tests/bench/truth.py prints more. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/stats/interval.h"
#include "lib/stats/summary.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static void assert_near(double x, double y, double tolerance)
{
	if (!(fabs(x - y) <= tolerance))
		fail_msg("%.9g is not near %.9g", x, y);
}

TEST(uncorrelated_values_have_students_interval)
{
	const int64_t values[] = {100, 103, 99, 104, 98, 102, 97, 101, 103, 96};
	struct summary s = summary_of(values, 10);
	struct interval i = interval_of_mean(values, 10, 0.95);

	assert_near(i.half_ns, summary_interval(&s, 0.95), 1e-12);
	assert_near(i.effective_n, 10, 0);
}

TEST(correlated_values_are_worth_fewer)
{
	int64_t values[40];
	struct summary s;
	struct interval i;

	for (int k = 0; k < 40; k++)
		values[k] = 1000 + (k / 5 % 2 ? 10 : -10) + k % 3;
	s = summary_of(values, 40);
	i = interval_of_mean(values, 40, 0.95);
	assert_true(i.lag1 > 0.5);
	assert_true(i.effective_n < 20 && i.effective_n >= 3);
	assert_true(i.half_ns > 1.5 * summary_interval(&s, 0.95));
}

TEST(one_value_has_no_interval_and_a_constant_has_none_to_speak_of)
{
	const int64_t same[10] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};

	assert_true(isnan(interval_of_mean(same, 1, 0.95).half_ns));
	assert_near(interval_of_mean(same, 10, 0.95).half_ns, 0, 0);
	assert_near(interval_of_mean(same, 10, 0.95).effective_n, 10, 0);
}

/* The variance of the mean of four values is 1/16 of the sum of all their covariances. */
TEST(the_inflation_is_that_of_the_sum_of_covariances)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			sum += pow(0.6, abs(i - k));
	assert_near(correlation_inflation(0.6, 4), sum / 4, 1e-12);
	assert_near(correlation_inflation(0, 4), 1, 0);
}

static double coverage(gsl_rng *rng, size_t n, double lag1)
{
	enum { RUNS = 4000 };
	int64_t values[64];
	int covered = 0;

	for (int run = 0; run < RUNS; run++) {
		double x = gsl_ran_ugaussian(rng);
		struct summary s;

		for (size_t i = 0; i < n; i++) {
			values[i] = llround(1e9 + 1e6 * x);
			x = lag1 * x + sqrt(1 - lag1 * lag1) * gsl_ran_ugaussian(rng);
		}
		s = summary_of(values, n);
		covered += fabs(s.mean_ns - 1e9) <= interval_of_mean(values, n, 0.95).half_ns;
	}
	return (double)covered / RUNS;
}

TEST(ninety_five_of_a_hundred_intervals_contain_the_mean)
{
	static const struct {
		size_t n;
		double lag1, least, most;
	} cases[] = {
		{5, 0, 0.94, 0.96},
		{10, 0, 0.94, 0.97},
		{20, 0, 0.94, 0.97},
		{40, 0, 0.94, 0.97},
		{10, 0.6, 0.81,
			0.97}, /* ten values do not show what their correlation is: Student has 0.68 */
		{20, 0.6, 0.89, 0.97},
		{40, 0.6, 0.92, 0.97},
	};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, check_seed(1));
	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		double share = coverage(rng, cases[i].n, cases[i].lag1);

		if (share < cases[i].least || share > cases[i].most)
			fail_msg("n = %zu, lag 1 = %.1f: %.3f", cases[i].n, cases[i].lag1, share);
	}
	gsl_rng_free(rng);
}
