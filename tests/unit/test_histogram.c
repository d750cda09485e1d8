/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms with buckets of variable width. */
#include "tests/unit/check.h"

#include "lib/jitter/histogram.h"

TEST(every_value_is_in_the_bucket_around_it)
{
	for (int shift = 0; shift < 62; shift++)
		for (int off = -1; off <= 1; off++) {
			struct histogram h = {};
			int64_t value = (INT64_C(1) << shift) + off;

			histogram_add(&h, value);
			assert_int_equal(h.n, 1);
			assert_true(h.buckets[0].low <= value && value < h.buckets[0].high);
			assert_true(
				value < 32 || (h.buckets[0].high - h.buckets[0].low) * 32 <= value);
			histogram_clear(&h);
		}
}

TEST(buckets_ascend_meet_and_hold_what_was_added)
{
	struct histogram h = {};
	unsigned long seed = check_seed(7);
	int64_t total = 0, count = 0, of_buckets = 0;

	srandom((unsigned int)seed);
	for (int i = 0; i < 20000; i++) {
		int64_t value = random() >> (random() % 31);

		histogram_add(&h, value);
		total += value;
	}
	for (size_t i = 0; i < h.n; i++) {
		const struct histogram_bucket *b = &h.buckets[i];

		assert_true(b->total >= b->low * b->count && b->total < b->high * b->count);
		assert_true(i == 0 || h.buckets[i - 1].high <= b->low);
		count += b->count;
		of_buckets += b->total;
	}
	assert_int_equal(count, 20000);
	assert_int_equal(h.count, 20000);
	assert_int_equal(of_buckets, total);
	histogram_clear(&h);
}

TEST(a_quantile_is_the_mean_of_its_bucket)
{
	struct histogram h = {};

	assert_int_equal(histogram_quantile(&h, 0.5), 0);
	for (int i = 1; i <= 9; i++)
		histogram_add(&h, i);
	histogram_add(&h, 1000000);
	assert_int_equal(histogram_quantile(&h, 0.5), 5);
	assert_int_equal(histogram_quantile(&h, 1), 1000000);
	histogram_clear(&h);
}
