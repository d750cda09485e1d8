/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples stand out, so that --trace explains them. */
#include "lib/jitter/program_trace.h"

#include "tests/unit/check.h"

enum { N = 40 };

static void fill(struct sample *samples, int spread)
{
	for (size_t i = 0; i < N; i++)
		samples[i] = (struct sample){
			.n = (uint32_t)i + 1, .et_ns = 100000000 + (int64_t)(i * 7 % N) * spread};
}

TEST(long_samples_stand_out_the_longest_first)
{
	struct sample samples[N];
	size_t which[3];
	double median;

	fill(samples, 1000);
	samples[7].et_ns += 91000000;
	samples[20].et_ns += 5000000;
	assert_int_equal(trace_outstanding(samples, N, which, 3, &median), 2);
	assert_int_equal(which[0], 7);
	assert_int_equal(which[1], 20);
	assert_true(median > 100000000 && median < 100040000);
}

TEST(in_an_even_spread_none_stands_out)
{
	struct sample samples[N];
	size_t which[3];
	double median;

	fill(samples, 100000);
	assert_int_equal(trace_outstanding(samples, N, which, 3, &median), 0);
	fill(samples, 0); /* nor where all are alike but for a hair */
	samples[3].et_ns += 90000;
	assert_int_equal(trace_outstanding(samples, N, which, 3, &median), 0);
}

TEST(at_most_so_many_are_named)
{
	struct sample samples[N];
	size_t which[3];
	double median;

	fill(samples, 1000);
	for (int i = 0; i < 5; i++)
		samples[i].et_ns += 10000000 * (i + 1);
	assert_int_equal(trace_outstanding(samples, N, which, 3, &median), 3);
	assert_int_equal(which[0], 4);
	assert_int_equal(which[2], 2);
}
