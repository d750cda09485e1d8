/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of means, and how often they contain the mean. tests/bench/truth.py prints more. */
#include "tests/unit/drawn.h"
#include "tests/unit/student.h"

#include "lib/base/cleanup.h"
#include "lib/stats/time_series.h"

#include <math.h>
#include <stdbool.h>

TEST(uncorrelated_values_have_students_interval)
{
	const int64_t values[] = {100, 103, 99, 104, 98, 102, 97, 101, 103, 96};
	struct summary s = summary_of(values, 10);
	struct interval i = interval_of_mean(values, 10, NULL, 0);

	/* they are hardly skewed */
	assert_close((i.high_ns - i.low_ns) / 2, student_half(&s), 0.1);
	assert_close(i.effective_n, 10, 0);
}

TEST(correlated_values_are_worth_fewer)
{
	int64_t values[40];
	struct summary s;
	struct interval i;

	for (int k = 0; k < 40; k++)
		values[k] = 1000 + (k / 5 % 2 ? 10 : -10) + k % 3;
	s = summary_of(values, 40);
	i = interval_of_mean(values, 40, NULL, 0);
	assert_true(i.lag1 > 0.5);
	assert_true(i.effective_n < 20);
	assert_true(i.high_ns - i.low_ns > 3 * student_half(&s));
}

/* A clock of 1 ns, to which all values are rounded. */
TEST(one_value_has_no_interval_and_a_constant_has_that_of_its_clock)
{
	const int64_t same[10] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};

	assert_true(isnan(interval_of_mean(same, 1, NULL, 0).low_ns));
	assert_close(
		interval_of_mean(same, 10, NULL, 0).low_ns, 5 - 0.5 - 2.262157 / sqrt(120), 1e-6);
	assert_close(
		interval_of_mean(same, 10, NULL, 0).high_ns, 5 + 0.5 + 2.262157 / sqrt(120), 1e-6);
	assert_close(interval_of_mean(same, 10, NULL, 4).bias_ns, 2, 0);
	assert_close(interval_of_mean(same, 10, NULL, 0).effective_n, 10, 0);
}

/* The variance of the mean of four values is 1/16 of the sum of all their covariances. */
TEST(the_inflation_is_that_of_the_sum_of_covariances)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			sum += pow(0.6, abs(i - k));
	assert_close(correlation_inflation(0.6, 4), sum / 4, 1e-12);
	assert_close(correlation_inflation(0, 4), 1, 0);
}

struct made_of {
	size_t n;
	double lag1;
	bool skewed; /* exponential */
	const struct known_correlation *machine;
};

struct found {
	/* shares of the intervals; the mean of their widths, in Student's */
	double covered, width, beyond;
};

static struct found find(const struct made_of *of)
{
	enum { RUNS = 4000 };
	int64_t values[64];
	struct found found = {};

	for (int run = 0; run < RUNS; run++) {
		struct interval interval;
		struct summary s;
		double x = gsl_ran_ugaussian(rng);

		for (size_t i = 0; i < of->n; i++) {
			values[i] = llround(
				1e9 + 1e6 * (of->skewed ? -log(erfc(x / M_SQRT2) / 2) - 1 : x));
			/* One after another, with mean 0 and sd 1. */
			x = of->lag1 * x + sqrt(1 - of->lag1 * of->lag1) * gsl_ran_ugaussian(rng);
		}
		s = summary_of(values, of->n);
		interval = interval_of_mean(values, of->n, of->machine, 0);
		found.covered += (interval.low_ns <= 1e9 && interval.high_ns >= 1e9) / (double)RUNS;
		found.width += (interval.high_ns - interval.low_ns) / 2 / student_half(&s) / RUNS;
		found.beyond += (interval.low_ns < (double)s.min_ns ||
					interval.high_ns > (double)s.max_ns) /
				(double)RUNS;
	}
	return found;
}

static const struct known_correlation none = {}, uncorrelated = {0, 300}, correlated = {0.6, 300};

TEST_DRAWN(ninety_five_of_a_hundred_intervals_contain_the_mean, 1)
{
	static const struct {
		struct made_of of;
		double least, most;
	} cases[] = {
		{{5, 0, false, &none}, 0.94, 0.96},
		{{10, 0, false, &none}, 0.94, 0.975},
		{{20, 0, false, &none}, 0.94, 0.975},
		{{40, 0, false, &none}, 0.94, 0.975},
		/* ten values do not show what their correlation is: Student has 0.68 */
		{{10, 0.6, false, &none}, 0.84, 0.97},
		{{20, 0.6, false, &none}, 0.90, 0.97},
		{{40, 0.6, false, &none}, 0.92, 0.97},
		/* but the machine may be known */
		{{5, 0.6, false, &correlated}, 0.93, 0.97},
		{{10, 0.6, false, &correlated}, 0.93, 0.97},
		{{40, 0.6, false, &correlated}, 0.93, 0.97},
		{{10, 0, false, &uncorrelated}, 0.94, 0.97},
		/* Student has 0.90 and 0.92 */
		{{10, 0, true, &none}, 0.93, 0.97},
		{{20, 0, true, &uncorrelated}, 0.93, 0.97},
		/* Student has 0.65 and 0.68 */
		{{10, 0.6, true, &correlated}, 0.93, 0.97},
		{{40, 0.6, true, &correlated}, 0.93, 0.97},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		double share = find(&cases[i].of).covered;

		if (share < cases[i].least || share > cases[i].most)
			fail_msg("case %zu: n = %zu, lag 1 = %.1f: %.3f", i, cases[i].of.n,
				cases[i].of.lag1, share);
	}
}

/* Times that vary by as much as their mean: log-normal with this sd of the logarithm. */
static double cover_lognormal(size_t n, double sd)
{
	enum { RUNS = 4000 };
	int64_t values[64];
	double covered = 0, mean = 1e9 * exp(sd * sd / 2);

	for (int run = 0; run < RUNS; run++) {
		struct interval i;

		for (size_t k = 0; k < n; k++)
			values[k] = llround(1e9 * exp(sd * gsl_ran_ugaussian(rng)));
		i = interval_of_mean(values, n, NULL, 0);
		assert_true(i.low_ns > 0);
		covered += (i.low_ns <= mean && i.high_ns >= mean) / (double)RUNS;
	}
	return covered;
}

TEST_DRAWN(intervals_of_times_stay_above_0_and_contain_the_mean, 4)
{
	/* mean ± t * se has 0.934, 0.911, 0.898 and 0.894, and most of those of two reach below
	 * 0 */
	static const struct {
		size_t n;
		double sd, least;
	} cases[] = {{2, 0.3, 0.93}, {5, 0.3, 0.93}, {2, 0.6, 0.935}, {3, 0.6, 0.925},
		{5, 0.6, 0.91}, {2, 1, 0.925}, {10, 0.3, 0.94}, {20, 0.6, 0.92}};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		double share = cover_lognormal(cases[i].n, cases[i].sd);

		printf("n = %zu, sd %.1f: %.3f\n", cases[i].n, cases[i].sd, share);
		if (share < cases[i].least)
			fail_msg("n = %zu, sd %.1f: %.3f", cases[i].n, cases[i].sd, share);
	}
}

TEST_DRAWN(intervals_are_not_wider_than_coverage_demands, 2)
{
	static const struct {
		struct made_of of;
		double most;
	} cases[] = {
		{{10, 0, false, &none}, 1.5},
		{{20, 0, false, &none}, 1.3},
		{{10, 0, true, &none}, 1.6},
		{{10, 0, false, &uncorrelated}, 1.15},
		{{10, 0, true, &uncorrelated}, 1.3},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		double width = find(&cases[i].of).width;

		if (width < 1 || width > cases[i].most)
			fail_msg("case %zu: %.3f times Student's", i, width);
	}
}

TEST_DRAWN(eight_samples_or_more_bound_their_interval_unless_the_machine_is_known_to_be_slow, 3)
{
	static const struct made_of bounded[] = {{8, 0, true, &none}, {10, 0.6, false, &none},
		{20, 0.75, true, &none}, {8, 0, true, &uncorrelated},
		{20, 0.6, false, &correlated}};

	for (size_t i = 0; i < ELEMENTS(bounded); i++)
		assert_close(find(&bounded[i]).beyond, 0, 0);
	assert_true(find(&(struct made_of){10, 0.6, false, &correlated}).beyond > 0.5);
	assert_true(find(&(struct made_of){5, 0, false, &none}).beyond > 0.5);
}

TEST(a_known_machine_narrows_what_ten_values_seem_to_show)
{
	const int64_t values[] = {100, 101, 103, 104, 104, 103, 101, 99, 98, 97};
	const struct known_correlation machine = {0.1, 300};
	struct interval alone = interval_of_mean(values, 10, NULL, 0);
	struct interval known = interval_of_mean(values, 10, &machine, 0);

	assert_true(alone.effective_n < 5 && known.effective_n > 5);
	assert_true(known.calibrated && !alone.calibrated);
	assert_true(known.high_ns - known.low_ns < alone.high_ns - alone.low_ns);
}

TEST(an_interval_reaches_further_on_the_side_of_the_long_tail)
{
	const int64_t values[] = {100, 101, 100, 102, 101, 120, 100, 101, 103, 100};
	double mean = summary_of(values, 10).mean_ns;
	struct interval i = interval_of_mean(values, 10, NULL, 0);

	assert_true(i.low_ns < mean && i.high_ns > mean);
	assert_true(i.high_ns - mean > 1.5 * (mean - i.low_ns));
}

/* The inverse of Hall's transformation is vertical at a skewness that is not rare. */
TEST(a_little_more_skewness_does_not_make_an_interval_twice_as_wide)
{
	const struct known_correlation machine = {0, 300};
	double before = NAN;

	for (int64_t tail = 30; tail < 200; tail++) {
		const int64_t values[] = {
			1000, 1010, 1000, 1020, 1010, 1000 + tail, 1000, 1010, 1030, 1000};
		struct interval i = interval_of_mean(values, 10, &machine, 0);
		double width = i.high_ns - i.low_ns;

		assert_false(width > 1.1 * before);
		before = width;
	}
}
