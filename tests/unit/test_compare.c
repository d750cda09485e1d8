/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two samples of times compared. The expected figures are those of R's t.test, wilcox.test and of
 * counting by hand. */
#include "tests/unit/check.h"

#include "lib/stats/compare.h"

#include <math.h>

static struct comparison compare_by(
	const struct compare_plan *plan, const int64_t *a, size_t n_a, const int64_t *b, size_t n_b)
{
	struct error err = {};
	struct comparison c;

	if (compare(a, n_a, b, n_b, plan, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static const struct compare_plan independent = {.design = DESIGN_INDEPENDENT};

static struct comparison compare_ok(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b)
{
	return compare_by(&independent, a, n_a, b, n_b);
}

/* Mann and Whitney, three and three with no overlap: 2 of the 20 orderings are as extreme. */
TEST(separated_threes_have_p_one_tenth_tied_or_not)
{
	const int64_t a[] = {1, 2, 3}, b[] = {11, 12, 13}, ones[] = {1, 1, 1}, twos[] = {2, 2, 2};
	struct comparison c = compare_ok(a, 3, b, 3);

	assert_close(c.mann_whitney_u, 9, 0);
	assert_close(c.mann_whitney_p, 0.1, 1e-12);
	assert_close(c.ratio, 6, 1e-12);
	assert_close(compare_ok(ones, 3, twos, 3).mann_whitney_p, 0.1, 1e-12);
}

/* All orderings of 4 and 3 values, counted out one by one, agree with the recurrence. */
TEST(the_exact_p_is_that_of_all_orderings)
{
	int more = 0, all = 0;
	const int64_t a[] = {1, 3, 4, 6}, b[] = {2, 5, 7};
	/* U of b: 1 + 3 + 4 = 8, as far from 6 as 4 */
	struct comparison c = compare_ok(a, 4, b, 3);

	for (unsigned set = 0; set < 1u << 7; set++) {
		int u = 0, of_a = 0;

		if (__builtin_popcount(set) != 3)
			continue;
		for (int i = 0; i < 7; i++)
			if (set >> i & 1)
				u += of_a;
			else
				of_a++;
		all++;
		more += u >= 8 || u <= 4;
	}
	assert_close(c.mann_whitney_u, 8, 0);
	assert_close(c.mann_whitney_p, (double)more / all, 1e-12);
}

/* Student's sleep data (1908), times 1e6 so that they are whole, shifted to be positive; Welch's
 * test in R gives t = -1.8608, df = 17.776, p = 0.07939. */
TEST(welch_agrees_on_the_sleep_data)
{
	const double extra_1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	const double extra_2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	int64_t a[10], b[10];
	struct comparison c;

	for (int i = 0; i < 10; i++) {
		a[i] = llround((extra_1[i] + 100) * 1e6);
		b[i] = llround((extra_2[i] + 100) * 1e6);
	}
	c = compare_ok(a, 10, b, 10);
	assert_close(c.t, 1.8608, 1e-4);
	assert_close(c.df, 17.776, 1e-3);
	assert_close(c.p, 0.07939, 1e-5);
	assert_close(c.welch_p, c.p, 0);
	c = compare_by(&(struct compare_plan){.design = DESIGN_PAIRS}, a, 10, b, 10);
	/* t.test(paired = TRUE): the two drugs were given to the same ten */
	assert_close(c.t, 4.0621, 1e-4);
	assert_close(c.df, 9, 0);
	assert_close(c.p, 0.002833, 1e-6);
}

/* At an end of Fieller's interval, mean b - r mean a lies just t standard errors from 0. */
TEST(the_ends_of_the_interval_are_just_not_significant)
{
	const int64_t a[] = {100, 104, 97, 101, 99}, b[] = {110, 116, 109, 118, 113};
	struct comparison c = compare_ok(a, 5, b, 5);
	double va = c.a.sd_ns * c.a.sd_ns / 5, vb = c.b.sd_ns * c.b.sd_ns / 5;
	double low = (c.b.mean_ns - c.ratio_low * c.a.mean_ns) /
		     sqrt(vb + c.ratio_low * c.ratio_low * va);
	double high = (c.b.mean_ns - c.ratio_high * c.a.mean_ns) /
		      sqrt(vb + c.ratio_high * c.ratio_high * va);

	assert_true(c.ratio_low < c.ratio && c.ratio < c.ratio_high);
	assert_close(low, -high, 1e-9);
	assert_true(low > 2 && low < 3);
}

TEST(equal_samples_are_not_different)
{
	const int64_t a[] = {100, 102, 98, 101};
	struct comparison c = compare_ok(a, 4, a, 4);

	assert_close(c.ratio, 1, 0);
	assert_close(c.p, 1, 1e-12);
	assert_close(c.mann_whitney_p, 1, 1e-12);
}

/* All ways to divide tied values into 5 and 6. */
TEST(the_exact_p_with_ties_is_that_of_all_divisions)
{
	const int64_t a[] = {3, 1, 4, 1, 5}, b[] = {9, 2, 6, 5, 3, 5};
	int64_t all[11];
	struct comparison c = compare_ok(a, 5, b, 6);
	int far = 0, ways = 0;

	memcpy(all, a, sizeof(a));
	memcpy(all + 5, b, sizeof(b));
	for (unsigned set = 0; set < 1u << 11; set++) {
		double u = 0;

		if (__builtin_popcount(set) != 6)
			continue;
		for (int i = 0; i < 11; i++)
			for (int k = 0; k < 11; k++)
				if (set >> i & 1 && !(set >> k & 1))
					u += (all[i] > all[k]) + (all[i] == all[k]) / 2.0;
		ways++;
		far += fabs(u - 15) >= fabs(c.mann_whitney_u - 15);
	}
	assert_int_equal(ways, 462);
	assert_close(c.mann_whitney_p, (double)far / ways, 1e-12);
}

/* Whole ticks: either mean may be half a tick off. */
TEST(equal_times_of_a_coarse_clock_do_not_mean_certainty)
{
	const int64_t a[] = {7, 7, 7, 7, 7}, b[] = {8, 8, 8, 8, 8}, c[] = {10, 10, 10, 10, 10};
	struct comparison same = compare_ok(a, 5, a, 5), next = compare_ok(a, 5, b, 5),
			  longer = compare_ok(a, 5, c, 5);

	assert_close(same.p, 1, 0);
	assert_true(same.ratio_low < 6.5 / 7.5 && same.ratio_high > 7.5 / 6.5);
	assert_true(same.smallest_difference > 1. / 7);
	assert_true(next.ratio_low < 1 && next.ratio_high > 8.5 / 6.5);
	assert_true(longer.ratio_low > 1 && longer.ratio_low < 9.5 / 7.5 &&
		    longer.ratio_high > 10.5 / 6.5);
	assert_true(longer.p < 0.01);
}

/* 40 ms and 41.6 ms by a clock of 10 ms, as in files that only have whole ticks. */
TEST(a_difference_of_less_than_a_tick_is_not_excluded)
{
	const int64_t a[] = {40000000, 40000000, 40000000, 40000000};
	struct comparison c = compare_ok(a, 4, a, 4);

	assert_true(c.ratio_low < 1 / 1.04 && c.ratio_high > 1.04);
	c = compare_by(&(struct compare_plan){DESIGN_PAIRS}, a, 4, a, 4);
	assert_true(c.ratio_low < 1 / 1.04 && c.ratio_high > 1.04);
	c = compare_by(&(struct compare_plan){DESIGN_PAIRS, .step_ns = 1000000}, a, 4, a, 4);
	assert_true(c.ratio_high > 41. / 40 && c.ratio_high < 1.06);
}

/* Kalibera and Jones: the spread within the runs counts beside that between them, with its own
 * degrees of freedom. */
TEST(two_samples_each_do_not_become_certain_by_little_variation_between_runs)
{
	const int64_t a[] = {1000, 1010}, b[] = {1020, 1030};
	struct comparison c = compare_by(
		&(struct compare_plan){DESIGN_BETWEEN, 0.001, 1e6}, a, 2, b, 2);

	assert_true(c.df > 2 && c.df < 2.5);
	assert_true(c.ratio_low < 1);
	assert_close(c.t, 20 / sqrt(50 + 1e-6 * (1005. * 1005 + 1025. * 1025)), 1e-9);
}

/* Both rise by the same steps: the difference is a tenth of the spread. */
TEST(pairs_show_what_a_common_drift_hides)
{
	int64_t a[10], b[10];

	for (int i = 0; i < 10; i++) {
		a[i] = 1000 + 10 * i + i % 2;
		b[i] = a[i] + 5 + i % 3;
	}
	assert_true(compare_ok(a, 10, b, 10).ratio_low < 1);
	assert_true(
		compare_by(&(struct compare_plan){.design = DESIGN_PAIRS}, a, 10, b, 10).ratio_low >
		1);
}

TEST(separate_runs_have_no_verdict_unless_it_is_known_how_runs_differ)
{
	const int64_t a[] = {1000, 1001, 1002, 1001}, b[] = {1031, 1030, 1032, 1031};
	struct comparison unknown = compare_by(&(struct compare_plan){DESIGN_SEPARATE}, a, 4, b, 4);
	struct comparison close = compare_by(
		&(struct compare_plan){DESIGN_BETWEEN, 0.001, 9}, a, 4, b, 4);
	struct comparison wide = compare_by(
		&(struct compare_plan){DESIGN_BETWEEN, 0.02, 9}, a, 4, b, 4);

	assert_true(isnan(unknown.p) && isnan(unknown.ratio_low) && !isnan(unknown.ratio));
	assert_true(close.ratio_low > 1);
	assert_true(wide.ratio_low < 1 && wide.ratio_high > 1.03);
	assert_close(wide.t, 30 / (0.02 * sqrt(1001. * 1001 + 1031. * 1031)), 1e-3);
}

/* p-values of 0.02 and 0.04 and 0.2: Holm multiplies them by 3, 2 and 1. */
TEST(several_comparisons_share_the_risk)
{
	struct comparison c[3], *all[] = {&c[1], &c[0], &c[2]};
	const double t[] = {2.95, 2.4, 1.4};

	for (int i = 0; i < 3; i++) {
		const int64_t a[] = {1000, 1010, 1000, 1010, 1005},
			      b[] = {1000, 1010, 1000, 1010, 1005};

		c[i] = compare_ok(a, 5, b, 5);
		c[i].mean_b = c[i].mean_a + t[i] * sqrt(2 * c[i].variance_a);
		c[i].t = t[i];
		c[i].p = 0.02 * pow(2, i);
	}
	c[2].p = 0.2;
	comparisons_adjust(all, 3);
	assert_close(c[0].p_adjusted, 0.06, 1e-12);
	assert_close(c[1].p_adjusted, 0.08, 1e-12);
	assert_close(c[2].p_adjusted, 0.2, 1e-12);
	assert_close(c[0].alpha, 0.05 / 3, 1e-12);
	assert_close(c[2].alpha, 0.05 / 3, 1e-12);
	assert_true(c[0].ratio_low < 1);
}

/* The step-down: 0.001 is rejected at 1/3 of the level, 0.02 at 1/2, and then 0.04 at the whole of
 * it. */
TEST(what_remains_after_a_clear_difference_is_tested_at_a_higher_level)
{
	const int64_t a[] = {1000, 1010, 1000, 1010, 1005};
	struct comparison c[3], *all[] = {&c[0], &c[1], &c[2]};
	const double p[] = {0.001, 0.02, 0.04};

	for (int i = 0; i < 3; i++) {
		c[i] = compare_ok(a, 5, a, 5);
		c[i].p = p[i];
	}
	comparisons_adjust(all, 3);
	assert_close(c[0].alpha, 0.05 / 3, 1e-12);
	assert_close(c[1].alpha, 0.05 / 2, 1e-12);
	assert_close(c[2].alpha, 0.05, 1e-12);
	assert_close(c[2].p_adjusted, 0.04, 1e-12);
}

static double half_of(const struct comparison *c)
{
	return (c->ratio_high - c->ratio_low) / 2;
}

/* Whichever way the samples were taken, and at whatever level the test is: what would be found is
 * more than what the interval leaves open. */
TEST(of_several_comparisons_more_than_half_the_interval_is_detectable)
{
	static const struct compare_plan plans[] = {
		{.design = DESIGN_INDEPENDENT},
		{.design = DESIGN_PAIRS},
		{.design = DESIGN_BETWEEN, .between = 0.01, .between_df = 4},
		{.design = DESIGN_DUET},
	};
	const int64_t a[] = {1000, 1031, 1008, 1010, 1005}, b[] = {1011, 1002, 1025, 1001, 1017};

	for (size_t i = 0; i < ELEMENTS(plans); i++) {
		struct comparison c[10], *all[10];
		double alone;

		for (size_t k = 0; k < ELEMENTS(c); k++) {
			c[k] = compare_by(&plans[i], a, 5, b, 5);
			all[k] = &c[k];
		}
		alone = c->smallest_difference;
		assert_true(alone > half_of(c) && alone < 3 * half_of(c));
		comparisons_adjust(all, ELEMENTS(all));
		for (size_t k = 0; k < ELEMENTS(c); k++) {
			assert_close(c[k].alpha, 0.005, 1e-12);
			assert_true(c[k].smallest_difference > half_of(&c[k]));
			assert_true(c[k].smallest_difference > alone);
		}
	}
}

/* The further the ratio is from 1, the less is its p; the interval says the same. Of two and of
 * more samples, whoever of both may have paid for sharing the CPU. */
TEST(the_p_of_a_duet_falls_to_either_side_and_agrees_with_its_interval)
{
	static const double shares[][2] = {{0, 0}, {0.02, 0}, {0, 0.02}, {0.01, 0.03}, {1, 0.01}};
	static const int64_t about[] = {1000, 1007, 998, 1003, 1001, 996};
	int64_t a[6], b[6];

	for (size_t i = 0; i < ELEMENTS(shares); i++)
		for (size_t n = 2; n <= 6; n++) {
			double last = 0;
			bool falls = false;

			for (int more = -150; more <= 150; more++) {
				struct comparison c;
				bool different;

				for (size_t k = 0; k < n; k++) { /* by no clock of coarse steps */
					a[k] = 1000 * about[k] + (int64_t)k;
					b[k] = (1000 + more) * about[(k + 2) % n];
				}
				c = compare_by(&(struct compare_plan){.design = DESIGN_DUET,
						       .shared_a = shares[i][0],
						       .shared_b = shares[i][1]},
					a, n, b, n);
				assert_true(c.p >= 0 && c.p <= 1);
				different = c.ratio_low > 1 || c.ratio_high < 1;
				assert_int_equal(different, c.p < 0.05);
				falls |= c.p < last - 1e-9;
				assert_true(falls ? c.p <= last + 1e-9 : c.p >= last - 1e-9);
				last = c.p;
			}
		}
}

TEST(one_sample_each_gives_a_ratio_and_no_more)
{
	const int64_t a[] = {100}, b[] = {150};
	struct comparison c = compare_ok(a, 1, b, 1);

	assert_close(c.ratio, 1.5, 0);
	assert_true(isnan(c.p) && isnan(c.ratio_low) && isnan(c.smallest_difference));
}

TEST(nothing_to_compare_is_an_error)
{
	const int64_t a[] = {100}, zero[] = {0};
	struct error err = {};
	struct comparison c;

	assert_int_equal(compare(a, 1, NULL, 0, &independent, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "has no samples"));
	assert_int_equal(compare(zero, 1, a, 1, &independent, &c, &err), -EINVAL);
}

/* The mean of a is not surely above 0: there is no upper bound, but a lower one. */
TEST(times_that_spread_widely_have_a_lower_bound)
{
	const int64_t a[] = {1000, 5000, 20000}, b[] = {160000, 170000, 180000};
	struct comparison c = compare_ok(a, 3, b, 3);

	assert_true(c.ratio > 19 && c.p < 0.05);
	assert_true(c.ratio_low > 1 && c.ratio_low < c.ratio);
	assert_true(isinf(c.ratio_high));
	c = compare_ok(a, 3, a, 3); /* nor that of b: no bounds */
	assert_true(isnan(c.ratio_low) && isnan(c.ratio_high));
}
