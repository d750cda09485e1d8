/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of means, and how often they contain the mean. tests/bench/truth.py prints more. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/stats/interval.h"
#include "lib/stats/summary.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>

static void assert_near(double x, double y, double tolerance)
{
	if (!(fabs(x - y) <= tolerance))
		fail_msg("%.9g is not near %.9g", x, y);
}

TEST(uncorrelated_values_have_students_interval)
{
	const int64_t values[] = {100, 103, 99, 104, 98, 102, 97, 101, 103, 96};
	struct summary s = summary_of(values, 10);
	struct interval i = interval_of_mean(values, 10, 0.95, NULL);

	assert_near((i.high_ns - i.low_ns) / 2, summary_interval(&s, 0.95), 0.1); /* they are hardly skewed */
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
	i = interval_of_mean(values, 40, 0.95, NULL);
	assert_true(i.lag1 > 0.5);
	assert_true(i.effective_n < 20 && i.effective_n >= 3);
	assert_true(i.high_ns - i.low_ns > 3 * summary_interval(&s, 0.95));
}

TEST(one_value_has_no_interval_and_a_constant_has_none_to_speak_of)
{
	const int64_t same[10] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};

	assert_true(isnan(interval_of_mean(same, 1, 0.95, NULL).low_ns));
	assert_near(interval_of_mean(same, 10, 0.95, NULL).low_ns, 5, 0);
	assert_near(interval_of_mean(same, 10, 0.95, NULL).high_ns, 5, 0);
	assert_near(interval_of_mean(same, 10, 0.95, NULL).effective_n, 10, 0);
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

/* One after another, with mean 0 and sd 1. */
static double next_normal(gsl_rng *rng, double before, double lag1)
{
	return lag1 * before + sqrt(1 - lag1 * lag1) * gsl_ran_ugaussian(rng);
}

static double coverage(
	gsl_rng *rng, size_t n, double lag1, bool skewed, const struct known_correlation *machine)
{
	enum { RUNS = 4000 };
	int64_t values[64];
	int covered = 0;

	for (int run = 0; run < RUNS; run++) {
		double x = gsl_ran_ugaussian(rng);
		struct interval interval;

		for (size_t i = 0; i < n; i++) {
			values[i] = llround(1e9 + 1e6 * (skewed ? gsl_ran_exponential(rng, 1) - 1 : x));
			x = next_normal(rng, x, lag1);
		}
		interval = interval_of_mean(values, n, 0.95, machine);
		covered += interval.low_ns <= 1e9 && interval.high_ns >= 1e9;
	}
	return (double)covered / RUNS;
}

TEST(ninety_five_of_a_hundred_intervals_contain_the_mean)
{
	static const struct known_correlation none = {}, uncorrelated = {0, 300}, correlated = {0.6, 300};
	static const struct {
		size_t n;
		double lag1, least, most;
		const struct known_correlation *machine;
		bool skewed;
	} cases[] = {
		{5, 0, 0.94, 0.96, &none},
		{10, 0, 0.94, 0.97, &none},
		{20, 0, 0.94, 0.97, &none},
		{40, 0, 0.94, 0.97, &none},
		/* ten values do not show what their correlation is: Student has 0.68 */
		{10, 0.6, 0.81, 0.97, &none},
		{20, 0.6, 0.89, 0.97, &none},
		{40, 0.6, 0.92, 0.97, &none},
		/* but the machine may be known */
		{5, 0.6, 0.93, 0.97, &correlated},
		{10, 0.6, 0.93, 0.97, &correlated},
		{40, 0.6, 0.93, 0.97, &correlated},
		{10, 0, 0.94, 0.97, &uncorrelated},
		/* Student has 0.90 and 0.92 */
		{10, 0, 0.93, 0.97, &none, true},
		{20, 0, 0.93, 0.97, &uncorrelated, true},
	};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, check_seed(1));
	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		double share = coverage(rng, cases[i].n, cases[i].lag1, cases[i].skewed, cases[i].machine);

		if (share < cases[i].least || share > cases[i].most)
			fail_msg(
				"case %zu: n = %zu, lag 1 = %.1f: %.3f", i, cases[i].n, cases[i].lag1, share);
	}
	gsl_rng_free(rng);
}

TEST(a_known_machine_narrows_what_ten_values_seem_to_show)
{
	const int64_t values[] = {100, 101, 103, 104, 104, 103, 101, 99, 98, 97};
	const struct known_correlation machine = {0.1, 300};
	struct interval alone = interval_of_mean(values, 10, 0.95, NULL);
	struct interval known = interval_of_mean(values, 10, 0.95, &machine);

	assert_true(alone.effective_n < 5 && known.effective_n > 5);
	assert_true(known.high_ns - known.low_ns < alone.high_ns - alone.low_ns);
}

TEST(an_interval_reaches_further_on_the_side_of_the_long_tail)
{
	const int64_t values[] = {100, 101, 100, 102, 101, 120, 100, 101, 103, 100};
	double mean = summary_of(values, 10).mean_ns;
	struct interval i = interval_of_mean(values, 10, 0.95, NULL);

	assert_true(i.low_ns < mean && i.high_ns > mean);
	assert_true(i.high_ns - mean > 1.5 * (mean - i.low_ns));
}
