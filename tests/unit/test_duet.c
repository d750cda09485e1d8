/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a duet costs at most, and the slices that it has by that. */
#include "tests/unit/check.h"

#include "lib/duet/duet_cost.h"

#include <math.h>

enum { N = 10 };

static struct made_up {
	struct sample samples[N];
	bool out[N];
	struct duet_sample together[N];
	struct duet_row row;
	struct duet_program program;
} m;

/* Samples of about 110 ms, in turns of 10 ms, of a program that touches 64 kB in each. */
static int make(void **state)
{
	m = (struct made_up){.row = {.slice_ns = 10 * NS_PER_MS, .working_set = 64000}};
	for (uint32_t i = 0; i < N; i++) {
		int64_t pt_ns = (int64_t)(110e6 * (1 + (i % 2 ? 0.001 : -0.001)));

		m.samples[i] = (struct sample){.n = i + 1, .pt_ns = pt_ns, .et_ns = 2 * pt_ns};
		m.together[i] = (struct duet_sample){i + 1, 1, 1, 2 * pt_ns};
	}
	m.program = (struct duet_program){.samples = m.samples,
		.out = m.out,
		.n_samples = N,
		.together = m.together,
		.n_together = N,
		.switches = 110,
		.row = &m.row};
	return 0;
}

#define TEST_OF_DUET(name) TEST_WITH(name, make, NULL)

static void assert_shared(double share)
{
	assert_float_equal(duet_cost_of(&m.program).shared, share, 1e-4);
}

TEST_OF_DUET(refilling_costs_at_most_100_ns_for_each_line_that_a_turn_touches)
{
	assert_float_equal(duet_cost_of(&m.program).slice_ns, 10e6, 1e5);
	assert_shared(0.01);
	m.program.switches = 220; /* others took the CPU in between */
	assert_shared(0.02);
	m.program.switches = 55; /* longer turns touch more, and there are fewer of them */
	assert_shared(0.01);
	m.program.switches = -1;
	assert_shared(0.01);
	m.row.working_set = INT64_MAX;
	assert_shared(1);
	m.row.working_set = -1;
	assert_true(isnan(duet_cost_of(&m.program).shared));
}

TEST_OF_DUET(the_mean_is_of_the_samples_kept)
{
	m.samples[0].pt_ns *= 10;
	m.out[0] = true;
	assert_float_equal(duet_cost_of(&m.program).pt_ns, 110e6, 1e5);
}

TEST_OF_DUET(the_time_without_another_program_is_known)
{
	assert_float_equal(duet_cost_of(&m.program).last, 0, 1e-9);
	for (int i = 0; i < N; i++)
		m.together[i].together_ns /= 4;
	assert_float_equal(duet_cost_of(&m.program).last, 0.75, 0.001);
}

TEST(a_program_must_be_known_and_have_four_slices)
{
	const double kb = 1e3;
	struct duet_candidate c[] = {
		{200 * NS_PER_MS, 0, {{10 * kb, 10 * kb, 10 * kb, 10 * kb}, {1, 1, 1, 1}}},
		{200 * NS_PER_MS, -1, {{64 * kb, 64 * kb, 64 * kb, 64 * kb}, {1, 1, 1, 1}}}};
	size_t dearest = 7;

	assert_float_equal(duet_dearest(c, 2, 10 * NS_PER_MS, &dearest), 0.01, 1e-9);
	assert_int_equal(dearest, 1);
	assert_float_equal(duet_dearest(c, 2, 30 * NS_PER_MS, &dearest), 0.01 / 3, 1e-9);
	assert_true(isinf(duet_dearest(c, 2, 100 * NS_PER_MS, &dearest)));
	assert_int_equal(dearest, 0); /* both are too short: the first */
	c[1].switches = 20;           /* every 10 ms by somebody else */
	assert_float_equal(duet_dearest(c, 2, 10 * NS_PER_MS, &dearest), 0.02, 1e-9);
	c[1].switches = 20000; /* no program loses more than all of its time */
	assert_float_equal(duet_dearest(c, 2, 10 * NS_PER_MS, &dearest), 1, 1e-9);
	c[0].set = (struct working_set){};
	assert_true(isinf(duet_dearest(c, 2, 10 * NS_PER_MS, &dearest)));
	assert_int_equal(dearest, 0);
}
