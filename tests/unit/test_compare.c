/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two samples of times compared. The expected figures are those of R's t.test, wilcox.test and of counting by
 * hand. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/stats/compare.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static struct comparison compare_ok(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b)
{
	struct error err = {};
	struct comparison c;

	if (compare(a, n_a, b, n_b, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static void assert_near(double x, double y, double tolerance)
{
	if (!(fabs(x - y) <= tolerance))
		fail_msg("%.9g is not near %.9g", x, y);
}

/* Mann and Whitney, three and three with no overlap: 2 of the 20 orderings are as extreme. */
TEST(separated_threes_have_p_one_tenth)
{
	const int64_t a[] = {1, 2, 3}, b[] = {11, 12, 13};
	struct comparison c = compare_ok(a, 3, b, 3);

	assert_near(c.mann_whitney_u, 9, 0);
	assert_near(c.mann_whitney_p, 0.1, 1e-12);
	assert_near(c.ratio, 6, 1e-12);
}

/* All orderings of 4 and 3 values, counted out one by one, agree with the recurrence. */
TEST(the_exact_p_is_that_of_all_orderings)
{
	int more = 0, all = 0;
	const int64_t a[] = {1, 3, 4, 6}, b[] = {2, 5, 7};
	struct comparison c = compare_ok(a, 4, b, 3); /* U of b: 1 + 3 + 4 = 8, as far from 6 as 4 */

	for (unsigned set = 0; set < 1u << 7; set++) {
		int u = 0, of_a = 0;

		if (__builtin_popcount(set) != 3)
			continue;
		for (int i = 0; i < 7; i++)
			set >> i & 1 ? (u += of_a) : of_a++;
		all++;
		more += u >= 8 || u <= 4;
	}
	assert_near(c.mann_whitney_u, 8, 0);
	assert_near(c.mann_whitney_p, (double)more / all, 1e-12);
}

/* Student's sleep data (1908), times 1e6 so that they are whole, shifted to be positive; Welch's test in R
 * gives t = -1.8608, df = 17.776, p = 0.07939. */
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
	assert_near(c.welch_t, 1.8608, 1e-4);
	assert_near(c.welch_df, 17.776, 1e-3);
	assert_near(c.welch_p, 0.07939, 1e-5);
}

/* At an end of Fieller's interval, mean b - r mean a lies just t standard errors from 0. */
TEST(the_ends_of_the_interval_are_just_not_significant)
{
	const int64_t a[] = {100, 104, 97, 101, 99}, b[] = {110, 116, 109, 118, 113};
	struct comparison c = compare_ok(a, 5, b, 5);
	double va = c.a.sd_ns * c.a.sd_ns / 5, vb = c.b.sd_ns * c.b.sd_ns / 5;
	double low = (c.b.mean_ns - c.ratio_low * c.a.mean_ns) / sqrt(vb + c.ratio_low * c.ratio_low * va);
	double high = (c.b.mean_ns - c.ratio_high * c.a.mean_ns) /
		      sqrt(vb + c.ratio_high * c.ratio_high * va);

	assert_true(c.ratio_low < c.ratio && c.ratio < c.ratio_high);
	assert_near(low, -high, 1e-9);
	assert_true(low > 2 && low < 3);
}

TEST(equal_samples_are_not_different)
{
	const int64_t a[] = {100, 102, 98, 101};
	struct comparison c = compare_ok(a, 4, a, 4);

	assert_near(c.ratio, 1, 0);
	assert_near(c.welch_p, 1, 1e-12);
	assert_near(c.mann_whitney_p, 1, 1e-12);
}

TEST(one_sample_each_gives_a_ratio_and_no_more)
{
	const int64_t a[] = {100}, b[] = {150};
	struct comparison c = compare_ok(a, 1, b, 1);

	assert_near(c.ratio, 1.5, 0);
	assert_true(isnan(c.welch_p) && isnan(c.ratio_low) && isnan(c.smallest_difference));
}

TEST(nothing_to_compare_is_an_error)
{
	const int64_t a[] = {100}, zero[] = {0};
	struct error err = {};
	struct comparison c;

	assert_int_equal(compare(a, 1, NULL, 0, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "has no samples"));
	assert_int_equal(compare(zero, 1, a, 1, &c, &err), -EINVAL);
}
