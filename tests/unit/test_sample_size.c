/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples would have been enough. */
#include "tests/unit/drawn.h"

#include "lib/base/cleanup.h"
#include "lib/protocol/sample_size.h"

#include <errno.h>
#include <math.h>

static struct sample_sizes find(const struct sample *samples, size_t n, const struct discarding *d)
{
	_cleanup_(freep) bool *none = calloc(n, sizeof(*none));
	struct discarding kept = *d;
	struct sample_sizes sizes = {};
	struct error err = {};

	if (!kept.out)
		kept.out = none;
	assert_int_equal(sample_sizes_find(&sizes, &kept, samples, n, false, &err), 0);
	return sizes;
}

static struct sample *make(size_t n)
{
	struct sample *samples = calloc(n, sizeof(*samples));

	for (size_t i = 0; i < n; i++)
		samples[i] = (struct sample){.n = (uint32_t)i + 1, .pt_ns = 1000 + (int64_t)i % 5};
	return samples;
}

TEST(sizes_are_halved_and_end_as_the_papers_do)
{
	static const size_t want[] = {800, 400, 200, 100, 40, 30, 20, 10};
	_cleanup_(freep) struct sample *samples = make(800);
	struct sample_sizes sizes = find(samples, 800, &(struct discarding){});

	assert_int_equal(sizes.n, ELEMENTS(want));
	for (size_t i = 0; i < sizes.n; i++)
		assert_int_equal(sizes.rows[i].n, want[i]);
}

TEST(a_few_samples_are_looked_at_whole)
{
	_cleanup_(freep) struct sample *samples = make(6);
	struct sample_sizes sizes = find(samples, 6, &(struct discarding){});

	assert_int_equal(sizes.n, 1);
	assert_int_equal(sizes.suggested, 6);
}

TEST(discarded_and_incomplete_samples_are_left_out)
{
	bool out[100] = {[2] = true, [6] = true, [49] = true};
	const struct discarding d = {.out = out};
	_cleanup_(freep) struct sample *samples = make(100);
	struct sample_sizes sizes = {};

	samples[2].pt_ns = samples[6].pt_ns = samples[49].pt_ns = 1000000;
	sizes = find(samples, 100, &d);
	assert_int_equal(sizes.rows[0].by_cutoff, 3);
	assert_int_equal(sizes.rows[1].n, 40);
	assert_int_equal(sizes.rows[1].by_cutoff, 2);
	assert_true(sizes.rows[0].sd_ns < 2);
}

/* The first 40 are wide, the rest is not: what the first 10 to 40 look like says nothing of the
 * whole. */
TEST(a_size_is_suggested_if_all_larger_ones_are_close_too)
{
	_cleanup_(freep) struct sample *samples = make(800);
	struct sample_sizes sizes = {};

	for (size_t i = 0; i < 40; i++)
		samples[i].pt_ns = 1000 + 40 * ((int64_t)i % 2);
	for (size_t i = 0; i < 10; i++)
		samples[i].pt_ns = 1000 + (int64_t)i % 5;
	sizes = find(samples, 800, &(struct discarding){});
	assert_true(sizes.suggested > 40);
}

/* Independent, normal: any size shows their sd. One block of ten would show it within 10 % in one
 * case of three. */
TEST_DRAWN(of_independent_samples_ten_are_enough, 1)
{
	for (int run = 0; run < 50; run++) {
		_cleanup_(freep) struct sample *samples = make(800);
		struct sample_sizes sizes = {};

		for (size_t i = 0; i < 800; i++)
			samples[i].pt_ns = llround(1e8 + 1e6 * gsl_ran_ugaussian(rng));
		sizes = find(samples, 800, &(struct discarding){});
		if (sizes.suggested > 20)
			fail_msg("run %d: %zu", run, sizes.suggested);
	}
}

/* A block of 30 says little of 40 samples: by itself, it would end the search in two of three
 * runs. */
TEST_DRAWN(a_size_with_a_single_block_is_not_judged, 2)
{
	int whole = 0;

	for (int run = 0; run < 500; run++) {
		_cleanup_(freep) struct sample *samples = make(40);
		struct sample_sizes sizes = {};

		for (size_t i = 0; i < 40; i++)
			samples[i].pt_ns = llround(1e8 + 1e6 * gsl_ran_ugaussian(rng));
		sizes = find(samples, 40, &(struct discarding){});
		assert_true(sizes.rows[0].judged);
		assert_int_equal(sizes.rows[1].blocks, 1);
		assert_false(sizes.rows[1].judged);
		assert_true(sizes.rows[2].judged);
		assert_int_not_equal(sizes.suggested, 30);
		whole += sizes.suggested == 40;
	}
	if (whole > 80)
		fail_msg("%d of 500", whole);
}

/* t.975(n - 1) * 1 % / sqrt(n) = 0.5 % for n = 18; 1.96² * 100 for 0.1 %, and a little for t. */
TEST(a_precision_needs_so_many_samples)
{
	_cleanup_(freep) struct sample *samples = make(100);
	struct discarding d = {.pt = {.kept = {.n = 100, .relative_error = 0.01},
				       .interval = {.effective_n = 100}}};
	struct sample_sizes sizes = find(samples, 100, &d);

	assert_int_equal(sizes.needed[2], 18);
	assert_int_equal(sizes.needed[3], 387);
	d.pt.interval.effective_n = 25; /* four samples are worth one */
	sizes = find(samples, 100, &d);
	assert_true(fabs(sizes.needed[3] - 4 * 387) <= 4);
}

/* Ticks of 10 ms in 1 s: 0.5 % may be hidden by the clock however many samples there are. */
TEST(no_number_of_samples_shows_what_the_clock_hides)
{
	_cleanup_(freep) struct sample *samples = make(100);
	struct discarding d = {
		.pt = {.kept = {.n = 100, .mean_ns = 1e9},
			.interval = {.effective_n = 100, .step_ns = 1e7, .bias_ns = 5e6}}};
	struct sample_sizes sizes = find(samples, 100, &d);

	assert_true(sizes.needed[0] >= 2 && sizes.needed[0] < 6);
	assert_true(sizes.needed[1] > sizes.needed[0]);
	assert_true(isnan(sizes.needed[2]) && isnan(sizes.needed[3]));
	assert_true(sizes.step_ns == 1e7);
}

TEST(a_run_without_samples_is_told)
{
	struct sample_sizes sizes = {};
	struct error err = {};

	assert_int_equal(
		sample_sizes_find(&sizes, &(struct discarding){}, NULL, 0, false, &err), -EINVAL);
	assert_string_equal(err.text, "the run has no samples");
}
