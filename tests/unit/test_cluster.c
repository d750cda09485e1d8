/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The central cluster and the zooms that lead to it. */
#include "tests/unit/check.h"

#include "lib/protocol/analysis.h"

static struct error err;

enum { N = 60 };

static struct sample samples[N];
static struct cluster c;

/* 100 ms and up to 0.9 ms more, all different. */
static int make(void **state)
{
	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){
			.n = i + 1, .et_ns = 100 * NS_PER_MS + i * 37 % N * 15 * NS_PER_US};
	return 0;
}

static int clear(void **state)
{
	cluster_clear(&c);
	return 0;
}

#define TEST_OF_SAMPLES(name) TEST_WITH(name, make, clear)

static void find(int64_t bound_ns)
{
	cluster_clear(&c);
	assert_int_equal(cluster_find(&c, samples, N, 1, bound_ns, &err), 0);
}

TEST_OF_SAMPLES(each_zoom_leaves_out_what_is_beyond_a_gap)
{
	samples[3].et_ns = 150 * NS_PER_MS;
	samples[20].et_ns = 151 * NS_PER_MS;
	samples[41].et_ns = 9 * NS_PER_S;
	find(0);
	assert_int_equal(c.n_zooms, 3);
	assert_int_equal(c.zooms[0].left, N);
	assert_int_equal(c.zooms[0].beyond, 1);
	assert_int_equal(c.zooms[1].high_ns, 151 * NS_PER_MS);
	assert_int_equal(c.zooms[1].beyond, 2);
	assert_int_equal(c.zooms[2].end, ZOOM_LAST);
	assert_int_equal(c.zooms[2].high_ns, c.high_ns);
	assert_int_equal(c.n_central, N - 3);
	assert_int_equal(c.n_above, 3);
	assert_in_range(c.high_ns, 100 * NS_PER_MS, 101 * NS_PER_MS);
}

TEST_OF_SAMPLES(a_gap_on_the_short_side_is_cut_too)
{
	samples[0].et_ns = 20 * NS_PER_MS;
	find(0);
	assert_int_equal(c.n_below, 1);
	assert_true(c.zooms[0].below);
	assert_int_equal(c.n_above, 0);
}

TEST_OF_SAMPLES(pairs_are_in_an_arm_or_in_the_upper_right)
{
	samples[10].et_ns = samples[11].et_ns = 200 * NS_PER_MS; /* 11 and 12 are a pair */
	samples[21].et_ns = samples[22].et_ns = 200 * NS_PER_MS; /* 22 and 23 are in two */
	find(0);
	assert_int_equal(c.n_corners, 1);
	assert_int_equal(c.n_arms, 2);
}

TEST_OF_SAMPLES(a_bound_by_hand_overrules_the_eye)
{
	samples[7].et_ns = 300 * NS_PER_MS;
	find(NS_PER_S);
	assert_int_equal(c.n_central, N);
	assert_true(c.by_hand);
	find(100 * NS_PER_MS + 500 * NS_PER_US);
	assert_int_equal(c.zooms[0].end, ZOOM_HAND);
	assert_true(c.high_ns <= 100 * NS_PER_MS + 500 * NS_PER_US);
}

TEST_OF_SAMPLES(a_bound_below_all_samples_is_told)
{
	assert_int_equal(cluster_find(&c, samples, N, 1, NS_PER_MS, &err), -EINVAL);
	assert_non_null(strstr(err.text, "the shortest took 0.1 s"));
	assert_int_equal(cluster_find(&c, NULL, 0, 1, 0, &err), -EINVAL);
	assert_string_equal(err.text, "the run has no samples");
}

/* As made-up runs may be: the ETs share a step that is no clock's. */
TEST_OF_SAMPLES(a_run_without_noise_has_its_long_sample_all_the_same)
{
	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){.n = i + 1, .et_ns = i == 7 ? 2 * NS_PER_S : NS_PER_S};
	find(0);
	assert_int_equal(c.n_above, 1);
	assert_int_equal(c.high_ns, NS_PER_S);
}

TEST_OF_SAMPLES(one_sample_is_a_cluster)
{
	const struct sample sample = {.n = 1, .et_ns = NS_PER_S};

	assert_int_equal(cluster_find(&c, &sample, 1, 1, 0, &err), 0);
	assert_int_equal(c.n_central, 1);
	assert_int_equal(c.median_ns, NS_PER_S);
}

TEST(a_zoom_says_why_it_ended)
{
	const struct zoom gap = {
		.end = ZOOM_GAP, .beyond = 2, .gap_ns = NS_PER_S, .longest_ns = 3 * NS_PER_MS};
	const struct zoom last = {.end = ZOOM_LAST};

	assert_string_equal(zoom_why(&gap),
		"2 longer samples beyond a gap of 1.000 s (at most 3.000 ms expected)");
	assert_string_equal(zoom_why(&last), "no unusual gap left");
}
