/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve, against what comparisons find on made-up machines. */
#include "tests/unit/drawn.h"

#include "lib/protocol/sample_size.h"
#include "lib/record/profile.h"
#include "lib/report/notes.h"
#include "lib/stats/compare.h"

#include <math.h>

enum { N = 2000, SIZE = 10 };
static const double MEAN = 1e8, SD = 1e6;

/* The next time of a machine whose neighbouring times are correlated. */
static int64_t next_time(double *state, double lag1)
{
	*state = lag1 * *state + sqrt(1 - lag1 * lag1) * gsl_ran_ugaussian(rng);
	return llround(MEAN + SD * *state);
}

static struct mdd mdd_of(double lag1)
{
	static struct sample samples[N];
	struct mdd rows[N_MDD];
	double state = 0;

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){.n = i + 1, .pt_ns = next_time(&state, lag1)};
	mdd_find(rows, &(struct analysis){.samples = samples, .n_samples = N});
	assert_int_equal(rows[1].samples, SIZE);
	return rows[1];
}

/* How often b, which is longer by `more`, is found slower than a, in turn. */
static double power(double lag1, double more)
{
	enum { RUNS = 2000 };
	double state = 0;
	int found = 0;

	for (int run = 0; run < RUNS; run++) {
		int64_t a[SIZE], b[SIZE];
		struct comparison c;
		struct error err;

		for (int i = 0; i < SIZE; i++) {
			a[i] = next_time(&state, lag1);
			b[i] = llround((1 + more) * (double)next_time(&state, lag1));
		}
		assert_int_equal(
			compare(a, SIZE, b, SIZE, &(struct compare_plan){DESIGN_PAIRS}, &c, &err),
			0);
		found += c.ratio_low > 1;
	}
	return (double)found / RUNS;
}

TEST_DRAWN(what_is_said_to_be_resolved_is_found_in_four_cases_of_five, 1)
{
	struct mdd independent, correlated;

	independent = mdd_of(0);
	correlated = mdd_of(0.7);
	assert_true(fabs(independent.interleaved / independent.separate - 1) < 0.15);
	assert_true(power(0, independent.interleaved) > 0.72);
	assert_true(power(0, independent.interleaved) < 0.9);
	assert_true(power(0.7, correlated.interleaved) > 0.72);
	assert_true(power(0.7, correlated.interleaved) < 0.95);
}

/* Of independent samples the two are equal, and chance may make either estimate the greater. */
TEST_DRAWN(samples_in_turn_never_resolve_less_than_separate_runs, 1)
{
	int equal = 0;

	for (int i = 0; i < 40; i++) {
		struct mdd row = mdd_of(0);

		assert_true(row.interleaved <= row.separate);
		equal += row.interleaved == row.separate;
	}
	assert_true(equal > 5 && equal < 35);
}

/* Five blocks of 10 have four degrees of freedom: what they say by chance must not make neighbours
 * seem more alike. */
TEST_DRAWN(what_few_samples_say_of_a_machine_is_not_the_smaller_of_two_estimates, 1)
{
	enum { RUNS = 300, FEW = 50 };
	double truth = SD / MEAN * detectable_difference(SIZE - 2, 0.05) * sqrt(2. / SIZE), sum = 0;
	int too_small = 0;

	for (int run = 0; run < RUNS; run++) {
		struct sample samples[FEW];
		struct mdd rows[N_MDD];
		double of_this = 0;

		for (uint32_t i = 0; i < FEW; i++)
			samples[i] = (struct sample){.n = i + 1, .pt_ns = next_time(&of_this, 0)};
		mdd_find(rows, &(struct analysis){.samples = samples, .n_samples = FEW});
		sum += rows[1].interleaved / truth / RUNS;
		too_small += rows[1].interleaved < 0.75 * truth;
	}
	assert_true(fabs(sum - 1) < 0.05);
	assert_true(too_small < RUNS / 10);
}

/* PTs in whole ticks of 10 ms: the differences of neighbours are none, and that is no reason to
 * expect to see 0.1 %. */
TEST(a_coarse_clock_resolves_no_less_than_a_step)
{
	static struct sample samples[200];
	struct mdd rows[N_MDD];

	for (uint32_t i = 0; i < ELEMENTS(samples); i++)
		samples[i] = (struct sample){.n = i + 1, .pt_ns = i % 97 ? 400000000 : 410000000};
	mdd_find(rows, &(struct analysis){.samples = samples, .n_samples = ELEMENTS(samples)});
	for (size_t i = 0; i < N_MDD; i++)
		assert_true(rows[i].samples > 0 && rows[i].interleaved > 0.02 &&
			    rows[i].separate > 0.02);
}

TEST(neither_do_separate_runs_by_a_stored_estimate_resolve_more_than_samples_in_turn)
{
	const struct mdd rows[N_MDD] = {{.samples = 10, .interleaved = 0.046, .separate = 0.043}};

	assert_string_equal(mdd_text_of(rows, 10, false),
		"10 INC samples resolve 4.6 % interleaved, 4.6 % between separate runs");
}

/* sd of the logarithm of a ratio: 0.01; the programs that start first are 5 % faster. */
TEST_DRAWN(a_duet_resolves_what_its_ratios_vary_by, 1)
{
	struct mdd rows[N_MDD] = {{0}, {.samples = 10, .interleaved = 0.2, .separate = 0.5}};
	double ratios[400];

	for (size_t i = 0; i < ELEMENTS(ratios); i++)
		ratios[i] = 0.01 * gsl_ran_ugaussian(rng) + (i % 2 ? 0.025 : -0.025);
	mdd_add_duet(rows, ratios, 5);
	assert_true(rows[1].duet == 0);
	mdd_add_duet(rows, ratios, ELEMENTS(ratios));
	assert_true(rows[0].duet == 0);
	assert_true(fabs(rows[1].duet / 0.0101 - 1) < 0.15); /* 3.19 times 0.01 / sqrt(10) */
	rows[1].duet = 0.0331;
	assert_string_equal(mdd_text_of(rows, 10, false),
		"10 INC samples resolve 3.3 % by duet, 20 % interleaved, 50 % separate");
}

/* Two levels that change every 100 samples: blocks of 10 are alike, and runs are not. */
TEST(slow_changes_are_between_runs_and_hardly_in_turn)
{
	static struct sample samples[N];
	struct mdd rows[N_MDD];

	for (uint32_t i = 0; i < N; i++)
		samples[i] = (struct sample){
			.n = i + 1, .pt_ns = 1000000 + (i / 100 % 2) * 100000 + i % 7};
	mdd_find(rows, &(struct analysis){.samples = samples, .n_samples = N});
	assert_true(rows[1].interleaved < 0.5 * rows[1].separate);
}

TEST(l_samples_do_not_count_and_short_runs_say_nothing)
{
	static struct sample samples[60];
	uint32_t l_samples[] = {7, 30};
	struct analysis analysis = {
		.samples = samples, .n_samples = 60, .l_samples = l_samples, .n_l_samples = 2};
	struct mdd rows[N_MDD];

	for (uint32_t i = 0; i < 60; i++)
		samples[i] = (struct sample){.n = i + 1, .pt_ns = i == 6 || i == 29 ? 900 : 100};
	mdd_find(rows, &analysis);
	assert_true(rows[0].samples == 5 && rows[0].separate == rows[0].interleaved);
	assert_true(
		rows[0].interleaved > 1); /* equal times of a clock that may have steps of 100 */
	assert_int_equal(rows[1].samples, 10);
	assert_int_equal(rows[2].samples, 0);
	assert_int_equal(strncmp(mdd_text_of(rows, 12, false), "10 INC samples", 14), 0);
	assert_string_equal(mdd_text_of(rows, 4, false), "");
}

/* What is resolved by samples of which so many in four had a neighbour. */
static struct mdd resolved_beside(uint32_t beside)
{
	static struct sample samples[400];
	struct mdd rows[N_MDD];

	for (uint32_t i = 0; i < ELEMENTS(samples); i++) {
		bool neighbour = i % 4 < beside;

		samples[i] = (struct sample){.n = i + 1,
			.pt_ns = 1000000 + (neighbour ? 90000 : 0) + i * 7919 % 1000,
			.neighbour_ppm = neighbour ? PPM : 0};
	}
	mdd_find(rows, &(struct analysis){.samples = samples, .n_samples = ELEMENTS(samples)});
	return rows[1];
}

TEST(samples_beside_a_neighbour_do_not_count_unless_most_are)
{
	struct mdd none = resolved_beside(0), one = resolved_beside(1), most = resolved_beside(4);

	assert_true(one.interleaved > 0 && one.interleaved < 2 * none.interleaved);
	assert_int_equal(most.samples, 10);
}
