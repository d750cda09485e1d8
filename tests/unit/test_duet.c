/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The price of a duet, and the slice that is suggested by it. */
#include "tests/unit/check.h"

#include "lib/duet/duet_cost.h"

#include <math.h>

enum { N = 10 };

static struct made_up {
	struct sample samples[N];
	bool out[N];
	struct duet_sample together[N];
	struct duet_alone alone[2];
	struct duet_program program;
} m;

/* Samples of about 110 ms, each with a small error of its own, and 100 ms alone. */
static int make(void **state)
{
	m = (struct made_up){};
	for (uint32_t i = 0; i < N; i++) {
		int64_t pt_ns = (int64_t)(110e6 * (1 + (i % 2 ? 0.001 : -0.001)));

		m.samples[i] = (struct sample){.n = i + 1, .pt_ns = pt_ns, .et_ns = 2 * pt_ns};
		m.together[i] = (struct duet_sample){i + 1, 1, 1, 2 * pt_ns};
	}
	m.alone[0] = (struct duet_alone){1, 0, 0, 100000000, 100000000};
	m.alone[1] = (struct duet_alone){2, 5, 0, 100000000, 100000000};
	m.program = (struct duet_program){m.samples, m.out, N, m.together, N, m.alone, 2, 110};
	return 0;
}

#define TEST_OF_DUET(name) TEST_WITH(name, make, NULL)

TEST_OF_DUET(the_price_is_against_the_samples_around_each_run_alone)
{
	struct duet_cost cost = duet_cost_of(&m.program);

	assert_true(fabs(cost.price.log - log(1.1)) < 0.001);
	assert_true(cost.price.half > 0 && cost.price.half < 0.01);
	assert_true(fabs(cost.last) < 1e-9);
	assert_true(fabs(cost.slice_ns - 10e6) < 1e5);
}

TEST_OF_DUET(discarded_samples_are_not_neighbours)
{
	m.samples[0].pt_ns *= 10;
	m.out[0] = true;
	m.samples[4].pt_ns *= 10;
	m.out[4] = true;
	assert_true(fabs(duet_cost_of(&m.program).price.log - log(1.1)) < 0.002);
}

TEST_OF_DUET(without_runs_alone_there_is_no_price)
{
	struct duet_cost cost;

	m.program.n_alone = 0;
	cost = duet_cost_of(&m.program);
	assert_true(isnan(cost.price.log) && isnan(cost.alone_ns));
	assert_int_equal(duet_suggest_slice(10 * NS_PER_MS, &cost, 1), 0);
}

TEST_OF_DUET(the_time_without_another_program_is_known)
{
	for (int i = 0; i < N; i++)
		m.together[i].together_ns /= 4;
	assert_true(fabs(duet_cost_of(&m.program).last - 0.75) < 0.001);
}

TEST(a_longer_slice_is_suggested_by_the_price)
{
	struct duet_cost cost = {.price = {log(1.1), 0.01}, .together_ns = 1e9};

	assert_int_equal(duet_suggest_slice(3 * NS_PER_MS, &cost, 1), 30 * NS_PER_MS);
	assert_int_equal(duet_suggest_slice(10 * NS_PER_MS, &cost, 1), 100 * NS_PER_MS);
	assert_int_equal(duet_suggest_slice(100 * NS_PER_MS, &cost, 1), 0);
	cost.together_ns = 110e6; /* four slices of less than 30 ms */
	assert_int_equal(duet_suggest_slice(3 * NS_PER_MS, &cost, 1), 10 * NS_PER_MS);
	assert_int_equal(duet_suggest_slice(10 * NS_PER_MS, &cost, 1), 0);
	cost.together_ns = 1e9;
	cost.price.log = log(2); /* 100 ms make it 7 % */
	assert_int_equal(duet_suggest_slice(10 * NS_PER_MS, &cost, 1), 0);
	cost.price.log = log(1.1);
	cost.price.half = 0.2; /* not known well enough */
	assert_int_equal(duet_suggest_slice(3 * NS_PER_MS, &cost, 1), 0);
	cost.price = (struct duet_estimate){0.005, 0.001};
	assert_int_equal(duet_suggest_slice(3 * NS_PER_MS, &cost, 1), 0);
}

TEST(the_bias_is_the_difference_of_the_prices)
{
	const struct duet_cost a = {.price = {0.10, 0.03}}, b = {.price = {0.02, 0.04}};
	struct duet_estimate bias = duet_bias(&a, &b);

	assert_true(fabs(bias.log + 0.08) < 1e-12 && fabs(bias.half - 0.05) < 1e-12);
}
