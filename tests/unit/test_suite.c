/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/check.h"
#include "tests/unit/made_suite.h"

#include <gsl/gsl_cdf.h>

enum { SUITES = 150, SAMPLES = 10 };

/* A comparison of 10 pairs whose ratio is so many of its standard errors above 1. */
static struct comparison made(double ratio, double t)
{
	double se = fabs(ratio - 1) / fabs(t);

	return (struct comparison){.design = DESIGN_PAIRS,
		.a.n = 10,
		.b.n = 10,
		.ratio = ratio,
		.ratio_low = ratio - 2.3 * se,
		.ratio_high = ratio + 2.3 * se,
		.alpha = 0.05,
		.t = t,
		.df = 8,
		.p = 2 * gsl_cdf_tdist_Q(fabs(t), 8),
		.rules = {.fail_if_slower = 2, .equal_within = -1}};
}

static struct suite_line line_of(struct comparison *c)
{
	return (struct suite_line){.comparisons = c};
}

TEST(a_difference_that_one_line_would_show_is_not_shown_by_one_of_twenty)
{
	struct comparison c[20][N_COMPARISON_CLOCKS] = {};
	struct suite_line lines[20];

	for (size_t i = 0; i < 20; i++) {
		c[i][0] = made(i % 2 ? 1.001 : 0.999, i % 2 ? 0.5 : -0.5);
		lines[i] = line_of(c[i]);
	}
	c[3][0] = made(1.04, 3.5);
	assert_int_equal(comparison_verdict(&c[3][0]), COMPARISON_SLOWER);
	suite_judge(lines, 20);
	assert_int_equal(comparison_verdict(&c[3][0]), COMPARISON_CANNOT_TELL);
	assert_true(suite_wants_again(&lines[3]));
	assert_false(suite_wants_again(&lines[1]));

	lines[3].again = true; /* and it is so with other samples */
	suite_judge(lines, 20);
	assert_int_equal(comparison_verdict(&c[3][0]), COMPARISON_SLOWER);
	assert_false(suite_wants_again(&lines[3]));
}

TEST(what_is_clear_needs_no_more_samples)
{
	struct comparison c[2][N_COMPARISON_CLOCKS] = {{made(1.7, 12)}, {made(0.999, -0.5)}};
	struct suite_line lines[] = {line_of(c[0]), line_of(c[1])};

	suite_judge(lines, 2);
	assert_int_equal(comparison_verdict(&c[0][0]), COMPARISON_SLOWER);
	assert_false(suite_wants_again(&lines[0]));
}

TEST(faster_is_shown_by_the_same_rule_and_not_measured_again)
{
	struct comparison c[2][N_COMPARISON_CLOCKS] = {{made(0.9, -12)}, {made(0.96, -2.4)}};
	struct suite_line lines[] = {line_of(c[0]), line_of(c[1])};

	suite_judge(lines, 2);
	assert_int_equal(comparison_verdict(&c[0][0]), COMPARISON_FASTER);
	assert_int_equal(comparison_verdict(&c[1][0]), COMPARISON_CANNOT_TELL);
	assert_false(suite_wants_again(&lines[0]));
	assert_false(suite_wants_again(&lines[1]));
}

/* So far beyond what sharing explains, p is that of one side: 0.00114. */
TEST(a_duet_is_tested_from_one_side_too)
{
	struct comparison c[1][N_COMPARISON_CLOCKS] = {{made(1.1, 4.4)}};
	struct suite_line lines[] = {line_of(c[0])};

	c[0][0].design = DESIGN_DUET;
	c[0][0].p = gsl_cdf_tdist_Q(4.4, 8);
	suite_judge(lines, 1);
	assert_int_equal(comparison_verdict(&c[0][0]), COMPARISON_CANNOT_TELL);
}

TEST(what_says_nothing_about_times_is_not_counted)
{
	struct comparison c[3][N_COMPARISON_CLOCKS] = {
		{made(1.2, 5.2)}, {made(1.5, 20)}, {made(1.5, 20)}};
	struct suite_line lines[] = {line_of(c[0]), line_of(c[1]), line_of(c[2]), {}};

	c[1][0].work = WORK_SAME_PROGRAM;
	c[2][0].unmeasurable = UNMEASURABLE_QUOTA;
	suite_judge(lines, ELEMENTS(lines));
	assert_int_equal(comparison_verdict(&c[0][0]), COMPARISON_SLOWER);
	assert_int_equal(comparison_verdict(&c[1][0]), COMPARISON_SAME_PROGRAM);
	assert_int_equal(comparison_verdict(&c[2][0]), COMPARISON_UNMEASURABLE);
	for (size_t i = 0; i < ELEMENTS(lines); i++)
		assert_false(suite_wants_again(&lines[i]));
}

/* tests/bench/suites.c has the figures of a thousand. */
TEST(suites_of_equal_programs_are_not_red_and_a_planted_one_is_found)
{
	const struct made_noise noises[] = {
		{"duet", true, .sd = 0.10, .correlation = 0.9, .of_sample = 0.014},
		{"in turn", false, .sd = 0.05, .correlation = 0.98, .of_sample = 0.01},
	};
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, check_seed(53));
	for (size_t k = 0; k < ELEMENTS(noises); k++) {
		int red = 0, found = 0;

		for (int i = 0; i < SUITES; i++) {
			red += made_suite_judge(&noises[k], rng, SAMPLES, 1).red;
			found += made_suite_judge(&noises[k], rng, SAMPLES, 1.05).found;
		}
		printf("%s: %d red, %d found of %d\n", noises[k].name, red, found, SUITES);
		assert_true(red <= 6);
		assert_true(found >= SUITES * 9 / 10);
	}
	gsl_rng_free(rng);
}
