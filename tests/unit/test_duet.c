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
	m = (struct made_up){
		.row = {.slice_ns = 10 * NS_PER_MS, .working_set = 64000, .own_cache = -1}};
	for (uint32_t i = 0; i < N; i++) {
		int64_t pt_ns = (int64_t)(110e6 * (1 + (i % 2 ? 0.001 : -0.001)));

		m.samples[i] = (struct sample){.n = i + 1, .pt_ns = pt_ns, .et_ns = 2 * pt_ns};
		m.together[i] = (struct duet_sample){i + 1, 1, 1, 2 * pt_ns, -1};
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

static struct duet_cost cost(void)
{
	struct duet_cost cost;

	duet_costs_of(&m.program, 1, &cost);
	return cost;
}

static void assert_shared(double share)
{
	assert_float_equal(cost().shared, share, 1e-4);
}

TEST_OF_DUET(refilling_costs_at_most_100_ns_for_each_line_that_a_turn_touches)
{
	assert_float_equal(cost().slice_ns, 10e6, 1e5);
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
	assert_true(isnan(cost().shared));
}

TEST_OF_DUET(turns_that_were_counted_are_paid_for_and_no_other_switch)
{
	m.program.switches = 1100;
	for (int i = 0; i < N; i++)
		m.together[i].turns = 22;
	assert_float_equal(cost().slice_ns, 5e6, 1e5);
	assert_shared(0.02);
	for (int i = 0; i < N; i++) /* repeated: the times are means */
		m.together[i].repetitions = 2;
	assert_shared(0.01);
	for (int i = 0; i < N; i++) /* one turn each, in a tenth of their time */
		m.together[i] = (struct duet_sample){
			.repetitions = 1, .together_ns = 22 * NS_PER_MS, .turns = 1};
	assert_float_equal(cost().slice_ns, 11e6, 1e5);
	assert_shared(0.001);
	m.together[3].turns = -1; /* then it is each switch */
	assert_float_equal(cost().slice_ns, 0.1e6, 1e3);
}

/* 165 ms beside one of 55 ms: for 110 ms each has half of the CPU, then it has all. */
TEST_OF_DUET(a_longer_programs_turns_are_those_beside_the_shorter_one)
{
	struct duet_program two[] = {m.program, m.program};
	struct duet_cost costs[2];

	for (int i = 0; i < N; i++) {
		m.samples[i].pt_ns = 165 * NS_PER_MS;
		m.samples[i].et_ns = 220 * NS_PER_MS;
		m.together[i].together_ns = 110 * NS_PER_MS;
		m.together[i].turns = 11;
	}
	duet_costs_of(two, 2, costs);
	assert_float_equal(costs[0].slice_ns, 5e6, 1);
	assert_float_equal(costs[0].last, 0.5, 1e-9);
	assert_float_equal(costs[0].shared, 0.02 / 3, 1e-9);
	assert_float_equal(costs[0].switching, 11 * 40e3 / 165e6, 1e-9);
}

TEST_OF_DUET(programs_that_fit_into_the_cores_cache_together_read_lines_from_near)
{
	m.row.own_cache = 64000;
	assert_shared(0.005);
	m.row.own_cache--;
	assert_shared(0.01);
	m.row.own_cache = -1;
	assert_shared(0.01);
}

TEST_OF_DUET(a_program_of_unknown_memory_may_displace_all_lines)
{
	struct duet_row unknown = {.slice_ns = 10 * NS_PER_MS, .working_set = -1, .own_cache = -1};
	struct duet_program three[] = {m.program, m.program, m.program};
	struct duet_cost costs[3];

	m.row.own_cache = 1 << 20;
	duet_costs_of(three, 3, costs);
	assert_float_equal(costs[0].shared, 0.005, 1e-4);
	three[2].row = &unknown;
	duet_costs_of(three, 3, costs);
	assert_float_equal(costs[0].shared, 0.01, 1e-4);
	assert_true(isnan(costs[2].shared));
}

TEST_OF_DUET(switches_count_as_far_as_one_of_a_pair_has_more_of_them)
{
	struct duet_program two[] = {m.program, m.program};
	struct duet_cost costs[2];
	double shared[2];

	two[1].switches = 220; /* 40 us each, of 5 instead of 10 ms */
	duet_costs_of(two, 2, costs);
	duet_shares_of_pair(&costs[0], &costs[1], shared);
	assert_float_equal(shared[0], 0.01, 1e-4);
	assert_float_equal(shared[1], 0.02 + 0.004, 1e-4);
	duet_shares_of_pair(&costs[1], &costs[0], shared);
	assert_float_equal(shared[0], 0.02 + 0.004, 1e-4);
	costs[0].shared = NAN;
	costs[1].shared = 1;
	duet_shares_of_pair(&costs[0], &costs[1], shared);
	assert_true(isnan(shared[0]));
	assert_float_equal(shared[1], 1, 0);
}

TEST(a_program_much_shorter_than_another_is_switched_to_too_often_unless_repeated)
{
	static const struct duet_place once = {1, 1 << 20, false}, again = {1, 1 << 20, true};
	struct duet_candidate c[] = {{20 * NS_PER_MS, {{4096}, {1}}}, {NS_PER_S, {{4096}, {1}}}};
	size_t dearest = 7;

	assert_float_equal(
		duet_dearest(c, 2, 3 * NS_PER_MS, &once, &dearest), 0.0011 + 0.0131, 1e-4);
	assert_int_equal(dearest, 0);
	assert_float_equal(duet_dearest(c, 2, 3 * NS_PER_MS, &again, &dearest), 0.0011, 1e-4);
}

TEST_OF_DUET(programs_that_never_ran_at_once_pay_nothing)
{
	for (int i = 0; i < N; i++)
		m.together[i].together_ns = 0;
	assert_shared(0);
}

TEST_OF_DUET(the_mean_is_of_the_samples_kept)
{
	m.samples[0].pt_ns *= 10;
	m.out[0] = true;
	assert_float_equal(cost().pt_ns, 110e6, 1e5);
}

TEST_OF_DUET(the_time_without_another_program_is_known)
{
	assert_float_equal(cost().last, 0, 1e-9);
	for (int i = 0; i < N; i++)
		m.together[i].together_ns /= 4;
	assert_float_equal(cost().last, 0.75, 0.001);
}

TEST_OF_DUET(on_several_cpus_each_may_have_to_read_it_again)
{
	m.row.cpus = 2;
	for (int i = 0; i < N; i++) /* 1.1 CPUs in its own turns */
		m.samples[i].et_ns = 100 * NS_PER_MS;
	assert_float_equal(cost().et_ns, 100e6, 1);
	assert_true(isnan(cost().slice_ns));
	assert_shared(2 * 0.01 / 1.1);
	m.program.switches = 220; /* the partner has no turn because of them */
	assert_shared(2 * 0.01 / 1.1);
	for (int i = 0; i < N; i++) /* it waits most of the time, and has less of each turn */
		m.samples[i].et_ns = 1100 * NS_PER_MS;
	assert_shared(2 * 0.01 / 0.1);
}

TEST(before_a_duet_on_several_cpus_its_price_is_known)
{
	static const struct duet_place two = {2, -1};
	const double kb = 1e3;
	struct duet_candidate c = {200 * NS_PER_MS,
		{{32 * kb, 32 * kb, 64 * kb, 64 * kb}, {1, 1, 1, 1}}, 200 * NS_PER_MS, 0};
	size_t dearest = 7;

	/* in 20 ms of CPU time it touches as much as in 30 */
	assert_float_equal(duet_dearest(&c, 1, 10 * NS_PER_MS, &two, &dearest), 0.02, 1e-9);
	assert_float_equal(duet_turn_bytes(&c, 10 * NS_PER_MS, 2), 64 * kb, 1e-9);
	c.et_ns *= 2;
	assert_float_equal(duet_dearest(&c, 1, 10 * NS_PER_MS, &two, &dearest), 0.04, 1e-9);
	c.pt_ns = 79 * NS_PER_MS; /* less than four slices on each CPU */
	assert_true(isinf(duet_dearest(&c, 1, 10 * NS_PER_MS, &two, &dearest)));
}

TEST(a_program_that_waits_does_not_compute)
{
	struct duet_candidate c = {.pt_ns = 60, .et_ns = 100, .wait_ns = 25};

	assert_true(duet_computes(&c));
	c.wait_ns = 15;
	assert_false(duet_computes(&c));
	c.wait_ns = -1;
	assert_false(duet_computes(&c));
	c.pt_ns = 80;
	assert_true(duet_computes(&c));
}

TEST(a_program_must_be_known_and_have_four_slices)
{
	static const struct duet_place unknown = {1, -1}, fits = {1, 1 << 20};
	const double kb = 1e3;
	struct duet_candidate c[] = {
		{200 * NS_PER_MS, {{10 * kb, 10 * kb, 10 * kb, 10 * kb}, {1, 1, 1, 1}}},
		{200 * NS_PER_MS, {{64 * kb, 64 * kb, 64 * kb, 64 * kb}, {1, 1, 1, 1}}}};
	size_t dearest = 7;

	assert_float_equal(duet_dearest(c, 2, 10 * NS_PER_MS, &unknown, &dearest), 0.01, 1e-9);
	assert_int_equal(dearest, 1);
	assert_float_equal(duet_dearest(c, 2, 30 * NS_PER_MS, &unknown, &dearest), 0.01 / 3, 1e-9);
	assert_float_equal(duet_dearest(c, 2, 10 * NS_PER_MS, &fits, &dearest), 0.005, 1e-9);
	assert_true(isinf(duet_dearest(c, 2, 100 * NS_PER_MS, &unknown, &dearest)));
	assert_int_equal(dearest, 0); /* both are too short: the first */
	c[1].set.bytes[1] = 1e12;     /* no program loses more than all of its time */
	assert_float_equal(duet_dearest(c, 2, 10 * NS_PER_MS, &fits, &dearest), 1, 1e-9);
	c[0].set = (struct working_set){};
	assert_true(isinf(duet_dearest(c, 2, 10 * NS_PER_MS, &unknown, &dearest)));
	assert_int_equal(dearest, 0);
}
