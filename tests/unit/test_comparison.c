/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples are compared, in pairs or as separate runs, and how much separate runs vary. */
#include "tests/unit/scratch.h"

#include "lib/base/number.h"
#include "lib/protocol/comparison.h"
#include "lib/protocol/disturbances.h"
#include "lib/report/run_result.h"

#include <errno.h>
#include <math.h>

enum { N = 10 };

static struct made_up_side {
	struct comparison_time items[N];
	struct comparison_side side;
} a, b;

/* Samples of 1 s, one every `step` s from `first`; their times drift by 10 ms a step, and have a
 * little noise. */
static void make_side(struct made_up_side *m, int64_t first, int64_t step, int64_t more_ns)
{
	for (int i = 0; i < N; i++)
		m->items[i] = (struct comparison_time){(uint32_t)i + 1,
			(1000 + first + step * i) * NS_PER_S,
			NS_PER_S + i * 10 * NS_PER_MS + (i * 7 + first) % 3 * NS_PER_MS + more_ns};
	m->side = (struct comparison_side){m->items, N, .origin = {.machine = "this", .cpu = 1}};
}

static struct comparison compare_sides(const struct run_variation *variation)
{
	struct comparison c;
	struct error err;

	assert_int_equal(comparison_make(&a.side, &b.side, variation, &c, &err), 0);
	return c;
}

TEST(samples_that_were_taken_in_turn_are_compared_in_pairs)
{
	struct comparison c;

	make_side(&a, 0, 2, 0);
	make_side(&b, 1, 2, 10 * NS_PER_MS); /* of which the drift within a pair explains 5 ms */
	c = compare_sides(NULL);
	assert_int_equal(c.design, DESIGN_PAIRS);
	assert_int_equal(comparison_verdict(&c), COMPARISON_SLOWER);
	assert_true(fabs(c.ratio / 1.005 - 1) < 0.001);
	b.side.items += 1; /* the first of b was discarded: the first of a has no partner */
	b.side.n -= 1;
	c = compare_sides(NULL);
	assert_int_equal(c.design, DESIGN_PAIRS);
	assert_int_equal(c.a.n, N - 1);
	assert_int_equal(c.b.n, N - 1);
}

/* Two runs at the same time: starts alternate, and more than neighbours they are not. */
TEST(runs_that_overlap_are_separate_whatever_their_starts_say)
{
	make_side(&a, 0, 2, 0);
	make_side(&b, 1, 2, 0);
	for (int i = 0; i < N; i++) {
		a.items[i].end_ns = a.items[i].start_ns + NS_PER_S;
		b.items[i].end_ns = b.items[i].start_ns + NS_PER_S;
	}
	assert_int_equal(compare_sides(NULL).design, DESIGN_PAIRS);
	b.items[4].end_ns += NS_PER_S / 10; /* into the next round */
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
	b.items[4].end_ns -= NS_PER_S / 10;
	a.items[4].end_ns += NS_PER_S / 10; /* into its partner */
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
	a.side.origin.call = b.side.origin.call = "one process"; /* the clock was set meanwhile */
	assert_int_equal(compare_sides(NULL).design, DESIGN_PAIRS);
}

TEST(samples_in_turn_are_of_one_machine_and_cpu_or_of_one_call)
{
	make_side(&a, 0, 2, 0);
	make_side(&b, 1, 2, 0);
	b.side.origin.cpu = 0;
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
	b.side.origin = (struct comparison_origin){.machine = "another", .cpu = 1};
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
	b.side.origin.machine = NULL; /* of one it is known, and of the other not */
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
	a.side.origin.call = b.side.origin.call = "one process";
	assert_int_equal(compare_sides(NULL).design, DESIGN_PAIRS);
	b.side.origin.call = "another process";
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
}

TEST(two_programs_of_different_duets_are_no_duet)
{
	make_side(&a, 0, 2, 0);
	make_side(&b, 1, 2, 0);
	a.side.duet = b.side.duet = true;
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
	a.side.origin.call = b.side.origin.call = "one duet";
	assert_int_equal(compare_sides(NULL).design, DESIGN_DUET);
}

TEST(a_round_may_begin_with_either)
{
	make_side(&a, 0, 4, 0);
	make_side(&b, 1, 4, 0);
	a.items[3].start_ns += 2 * NS_PER_S;
	assert_int_equal(compare_sides(NULL).design, DESIGN_PAIRS);
	a.items[3].start_ns += 2 * NS_PER_S;
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
}

TEST(separate_runs_need_to_know_how_runs_vary)
{
	const struct run_variation little = {.sd = 0.0001, .df = 9, .n_runs = 10},
				   much = {.sd = 0.1, .df = 9, .n_runs = 10};
	struct comparison_rules gate = {.fail_if_slower = 2, .strict = true};
	struct error err = {};
	struct comparison c;

	make_side(&a, 0, 1, 0);
	make_side(&b, 1000, 1, 150 * NS_PER_MS);
	c = compare_sides(NULL);
	assert_int_equal(c.design, DESIGN_SEPARATE);
	assert_int_equal(comparison_verdict(&c), COMPARISON_CANNOT_TELL);
	c.rules = gate;
	assert_int_equal(comparison_judge(&c, "a", "b", &err), STATUS_CANNOT_TELL);
	assert_non_null(strstr(err.text, "cannot be told"));
	c = compare_sides(&little);
	c.rules = gate;
	assert_int_equal(comparison_verdict(&c), COMPARISON_SLOWER);
	assert_int_equal(comparison_judge(&c, "a", "b", &err), STATUS_NOT_FIT);
	c = compare_sides(&much);
	c.rules = gate;
	assert_int_equal(comparison_verdict(&c), COMPARISON_CANNOT_TELL);
	assert_int_equal(comparison_judge(&c, "a", "b", &err), STATUS_CANNOT_TELL);
	c.rules.strict = false;
	assert_int_equal(comparison_judge(&c, "a", "b", &err), STATUS_DONE);
}

TEST(a_program_without_a_sample_that_is_kept_is_unmeasurable)
{
	const struct discarding all = {.out = (bool[]){true, true}};
	const struct sample samples[] = {
		{.n = 1, .pt_ns = 5, .et_ns = 5}, {.n = 2, .pt_ns = 5, .et_ns = 5}};

	make_side(&a, 0, 2, 0);
	_cleanup_(comparison_side_clear) struct comparison_side side = comparison_side_make(
		&all, samples, 2, COMPARISON_PT);
	b.side = side;
	const struct comparison c = compare_sides(NULL);
	assert_int_equal(comparison_verdict(&c), COMPARISON_UNMEASURABLE);
	assert_int_equal(c.unmeasurable, UNMEASURABLE_DISTURBED);
	assert_true(comparison_is_made(&c));
}

TEST(times_of_0_are_shorter_than_the_clock_sees)
{
	const struct discarding none = {.out = (bool[2]){}};
	const struct sample samples[] = {{.n = 1, .et_ns = 5}, {.n = 2, .et_ns = 5}};
	struct comparison_time times[2] = {{1, 1, 5}, {2, 3, 5}};

	make_side(&b, 0, 2, 0);
	_cleanup_(comparison_side_clear) struct comparison_side side = comparison_side_make(
		&none, samples, 2, COMPARISON_PT);
	a.side = side;
	const struct comparison c = compare_sides(NULL);
	assert_int_equal(comparison_verdict(&c), COMPARISON_UNMEASURABLE);
	assert_int_equal(c.unmeasurable, UNMEASURABLE_SHORT);
	assert_int_equal(c.a.n, 2);
	assert_true(c.a.mean_ns == 0);
	assert_int_equal(c.b.n, N);
	assert_true(c.b.mean_ns > 0);
	/* nor does a clock of ticks see less than one */
	const struct discarding ticks = {
		.run.resolution_ns = 10, .out = (bool[2]){}, .pt.kept.mean_ns = 5};
	_cleanup_(comparison_side_clear) struct comparison_side coarse = comparison_side_make(
		&ticks, samples, 2, COMPARISON_PT);
	coarse.items[0] = times[0];
	coarse.items[1] = times[1];
	b.side = coarse;
	a.side = (struct comparison_side){times, 2};
	assert_int_equal(compare_sides(NULL).unmeasurable, UNMEASURABLE_SHORT);
}

TEST(kinds_of_cpu_are_not_compared)
{
	make_side(&a, 0, 2, 0);
	make_side(&b, 1, 2, 50 * NS_PER_MS);
	a.side.cpu_kind = "P-core";
	b.side.cpu_kind = "P-core";
	assert_int_equal(compare_sides(NULL).unmeasurable, MEASURABLE);
	b.side.cpu_kind = "E-core";
	assert_int_equal(compare_sides(NULL).unmeasurable, UNMEASURABLE_CPU_KINDS);
}

TEST(a_step_in_the_middle_of_a_separate_run_is_no_mean_to_compare)
{
	const struct run_variation little = {.sd = 0.0001, .df = 9, .n_runs = 10};
	struct comparison_time items[2][40];
	const struct comparison_side sides[] = {{items[0], 40}, {items[1], 40}};
	struct comparison c;

	for (int i = 0; i < 40; i++) {
		items[0][i] = (struct comparison_time){
			(uint32_t)i + 1, 1000 + i, NS_PER_S + i * 7 % 3 * 1000};
		items[1][i] = (struct comparison_time){
			(uint32_t)i + 1, 9000 + i, NS_PER_S * (i < 25 ? 1 : 2) + i * 7 % 3 * 1000};
	}
	assert_int_equal(comparison_make(&sides[0], &sides[1], &little, &c, NULL), 0);
	assert_int_equal(c.unmeasurable, UNMEASURABLE_SPEED_STEP);
	assert_int_equal(comparison_make(&sides[0], &sides[0], &little, &c, NULL), 0);
	assert_int_equal(c.unmeasurable, MEASURABLE);
	for (int i = 25; i < 40; i++) /* 0.1 % is none */
		items[1][i].time_ns = NS_PER_S + NS_PER_S / 1000 + i * 7 % 3 * 1000;
	assert_int_equal(comparison_make(&sides[0], &sides[1], &little, &c, NULL), 0);
	assert_int_equal(c.unmeasurable, MEASURABLE);
}

TEST(stolen_time_and_a_clock_that_steps_leave_no_verdict)
{
	struct counters counters[20];
	struct sample samples[20];

	for (uint32_t i = 0; i < 20; i++) {
		counters[i] = COUNTERS_NONE;
		counters[i].value[COUNTER_STEAL] = 9;
		counters[i].value[COUNTER_SPEED] = 1000 * (i % 3);
		samples[i] = (struct sample){.n = i + 1, .et_ns = 100};
	}
	assert_int_equal(counters_unmeasurable(counters, 20, samples, 20), MEASURABLE);
	for (size_t i = 0; i < 20; i++)
		counters[i].value[COUNTER_SPEED] -= i < 8 ? 0 : 200000;
	assert_int_equal(counters_unmeasurable(counters, 20, samples, 20), UNMEASURABLE_SPEED_STEP);
	counters[3].value[COUNTER_STEAL] = 100;
	assert_int_equal(counters_unmeasurable(counters, 20, samples, 20), UNMEASURABLE_STOLEN);
	for (size_t i = 0; i < 20; i++)
		samples[i].pt_ns = 8 * samples[i].et_ns; /* on many CPUs */
	assert_int_equal(counters_unmeasurable(counters, 20, samples, 20), UNMEASURABLE_SPEED_STEP);
}

/* Sides by clock, whose PT is this share of ET. */
static unsigned clocks_of(double share_of_a, double share_of_b, unsigned asked, bool duet)
{
	struct comparison_time pt[2] = {
		{1, 0, llround(share_of_a * 1e9)}, {1, 0, llround(share_of_b * 1e9)}};
	struct comparison_time et = {1, 0, NS_PER_S};
	struct comparison_side of_a[] = {
		{&pt[0], share_of_a > 0, COMPARISON_PT, duet}, {&et, 1, COMPARISON_ET, duet}};
	struct comparison_side of_b[] = {
		{&pt[1], share_of_b > 0, COMPARISON_PT, duet}, {&et, 1, COMPARISON_ET, duet}};

	return comparison_clocks(asked, of_a, of_b);
}

TEST(programs_that_were_held_back_for_long_have_no_verdict)
{
	const struct discarding none = {.out = (bool[N]){}};
	struct sample samples[N];
	struct error err = {};
	struct comparison c;

	for (int longer = 0; longer < 2; longer++) {
		make_side(&a, 0, 2, 0);
		make_side(&b, 1, 2, 50 * NS_PER_MS);
		for (int i = 0; i < N; i++)
			samples[i] = (struct sample){.n = (uint32_t)i + 1,
				.et_ns = NS_PER_S,
				.pt_ns = NS_PER_S - (90 + 20 * longer) * NS_PER_MS,
				.held_back_ns = (90 + 20 * longer) * NS_PER_MS};
		_cleanup_(comparison_side_clear) struct comparison_side side = comparison_side_make(
			&none, samples, N, COMPARISON_PT);

		a.side.unmeasurable = side.unmeasurable;
		c = compare_sides(NULL);
		c.rules = (struct comparison_rules){.fail_if_slower = 1, .strict = true};
		assert_int_equal(comparison_verdict(&c),
			longer ? COMPARISON_UNMEASURABLE : COMPARISON_SLOWER);
		assert_int_equal(comparison_judge(&c, "a", "b", &err),
			longer ? STATUS_CANNOT_TELL : STATUS_NOT_FIT);
		assert_int_equal(strstr(err.text, "held back by a control group") != NULL, longer);
	}
}

TEST(elapsed_times_are_compared_as_well_where_a_program_waits_or_has_threads)
{
	assert_int_equal(clocks_of(0.99, 1.01, COMPARE_DEFAULT, false), COMPARE_PT);
	assert_int_equal(clocks_of(0.94, 1, COMPARE_DEFAULT, false), COMPARE_BOTH);
	assert_int_equal(clocks_of(1, 1.06, COMPARE_DEFAULT, false), COMPARE_BOTH);
	assert_int_equal(clocks_of(1, 0.004, COMPARE_PT, false), COMPARE_PT);
	assert_int_equal(clocks_of(1, 1, COMPARE_ET, false), COMPARE_ET);
	/* hyperfine's document */
	assert_int_equal(clocks_of(1, 0, COMPARE_DEFAULT, false), COMPARE_ET);
	assert_int_equal(clocks_of(0.5, 0.5, COMPARE_DEFAULT, true), COMPARE_PT);
}

/* One that only others kept from the CPU has no more to say by its ET. */
TEST(elapsed_times_are_not_compared_where_others_took_the_difference)
{
	char bpf[] = "bpf", elapsed[] = "elapsed", schedstat[] = "schedstat";
	const struct {
		char *wait_source;
		int64_t wait_ns;
		unsigned clocks;
	} cases[] = {
		{bpf, 390, COMPARE_PT},
		{bpf, 100, COMPARE_BOTH}, /* it waited itself, too */
		{elapsed, 390, COMPARE_BOTH},
		{schedstat, 390, COMPARE_PT}, /* of a program with one task */
		{schedstat, -1, COMPARE_BOTH},
	};
	bool out = false;

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		const struct discarding d = {.run.wait_source = cases[i].wait_source, .out = &out};
		const struct sample sample = {
			.n = 1, .pt_ns = 600, .et_ns = 1000, .wait_ns = cases[i].wait_ns};
		struct comparison_side sides[N_COMPARISON_CLOCKS];

		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			sides[clock] = comparison_side_make(&d, &sample, 1, clock);
		assert_int_equal(comparison_clocks(COMPARE_DEFAULT, sides, sides), cases[i].clocks);
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			comparison_side_clear(&sides[clock]);
	}
}

/* A script's processes wait for a CPU on a busy machine, which only BPF sees. */
TEST(elapsed_times_are_not_compared_where_two_samples_needed_no_waiting)
{
	char bpf[] = "bpf", schedstat[] = "schedstat";
	const struct {
		char *wait_source;
		int64_t wait_ns;
		int n_on_cpu;
		unsigned clocks;
	} cases[] = {
		{schedstat, -1, 2, COMPARE_PT},
		{schedstat, -1, 1, COMPARE_BOTH},
		{bpf, 0, 2, COMPARE_BOTH}, /* nobody kept it from its CPU */
		{bpf, -1, 2, COMPARE_PT},
	};
	bool out[N] = {};
	struct sample samples[N];

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		const struct discarding d = {.run.wait_source = cases[i].wait_source, .out = out};
		struct comparison_side sides[N_COMPARISON_CLOCKS];

		for (int k = 0; k < N; k++)
			samples[k] = (struct sample){.n = (uint32_t)k + 1,
				.pt_ns = 1000,
				.et_ns = k < cases[i].n_on_cpu ? 1040 : 3000,
				.wait_ns = cases[i].wait_ns};
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			sides[clock] = comparison_side_make(&d, samples, N, clock);
		assert_int_equal(comparison_clocks(COMPARE_DEFAULT, sides, sides), cases[i].clocks);
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			comparison_side_clear(&sides[clock]);
	}
}

TEST(samples_whose_end_was_seen_late_are_in_no_comparison_of_et)
{
	struct sample samples[N] = {};
	bool out[N] = {[0] = true};
	const struct discarding d = {.out = out};
	struct comparison_side sides[N_COMPARISON_CLOCKS];

	for (int i = 0; i < N; i++)
		samples[i] = (struct sample){
			.n = (uint32_t)i + 1, .pt_ns = NS_PER_S, .et_ns = NS_PER_S};
	for (int late = 0; late < N; late++) {
		samples[N - 1 - late].et_ns *= 2;
		samples[N - 1 - late].et_late_ns = NS_PER_S;
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			sides[clock] = comparison_side_make(&d, samples, N, clock);
		assert_int_equal(sides[COMPARISON_PT].n, N - 1);
		assert_int_equal(sides[COMPARISON_ET].n, late + 1 < N ? N - 2 - late : 0);
		assert_int_equal(comparison_clocks(COMPARE_DEFAULT, sides, sides), COMPARE_PT);
		for (enum comparison_clock clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			comparison_side_clear(&sides[clock]);
	}
}

/* A gate must not fail because the end of one was seen late. */
TEST(of_two_samples_elapsed_times_are_compared_only_if_both_ends_are_known)
{
	struct comparison_time pt[] = {{1, 1, 600}, {2, 3, 600}}, et[] = {{2, 3, 1200}};
	struct comparison_side sides[] = {{pt, 2, COMPARISON_PT}, {et, 1, COMPARISON_ET}};

	assert_int_equal(comparison_clocks(COMPARE_DEFAULT, sides, sides), COMPARE_PT);
}

TEST(elapsed_times_of_a_duet_are_not_compared_with_those_of_one_program)
{
	struct comparison_time pt = {1, 1, 500}, et = {1, 1, 1000}, et_alone = {1, 1, 500};
	struct comparison_side of_duet[] = {
		{&pt, 1, COMPARISON_PT, true}, {&et, 1, COMPARISON_ET, true}};
	struct comparison_side alone[] = {{&pt, 1, COMPARISON_PT}, {&et_alone, 1, COMPARISON_ET}};

	assert_int_equal(comparison_clocks(COMPARE_DEFAULT, of_duet, alone), COMPARE_PT);
	assert_int_equal(comparison_clocks(COMPARE_DEFAULT, alone, of_duet), COMPARE_PT);
	assert_int_equal(comparison_clocks(COMPARE_DEFAULT, of_duet, of_duet), COMPARE_PT);

	of_duet[COMPARISON_PT].origin.cpu = -1; /* on several CPUs */
	assert_int_equal(comparison_clocks(COMPARE_DEFAULT, of_duet, of_duet), COMPARE_BOTH);
	assert_int_equal(comparison_clocks(COMPARE_DEFAULT, of_duet, alone), COMPARE_PT);
}

TEST(a_file_without_starts_is_a_separate_run)
{
	make_side(&a, 0, 2, 0);
	make_side(&b, 1, 2, 0);
	for (int i = 0; i < N; i++)
		a.items[i].start_ns = b.items[i].start_ns = 0;
	assert_int_equal(compare_sides(NULL).design, DESIGN_SEPARATE);
}

static struct run_variation find(const double *means, size_t n, size_t without)
{
	struct run_mean items[16];

	for (size_t i = 0; i < n; i++)
		items[i] = (struct run_mean){
			(int64_t)i + 1, 100 * (int64_t)i, 100 * (int64_t)i + 50, means[i], 10};
	return run_variation_find(
		&(struct run_means){items, n}, NULL, &items[n - without], without);
}

TEST(variation_is_the_sd_of_the_means_of_the_other_runs)
{
	const double means[] = {99, 100, 101, 200, 300};
	struct run_variation v = find(means, 5, 2);

	assert_true(fabs(v.sd - 0.01) < 1e-12);
	assert_int_equal(v.df, 2);
	assert_int_equal(v.n_runs, 3);
	assert_int_equal(find(means, 4, 2).df, 0); /* two others are too few */
}

TEST(runs_at_the_same_time_count_once)
{
	struct run_mean items[] = {{1, 0, 10, 100, 10}, {2, 1, 11, 100, 10}, {3, 20, 30, 110, 10},
		{4, 21, 31, 110, 10}, {5, 40, 50, 120, 10}};
	struct run_means means = {items, 5};

	assert_int_equal(run_variation_find(&means, NULL, NULL, 0).n_runs, 3);
	items[4].n_samples = 4;
	assert_int_equal(run_variation_find(&means, NULL, NULL, 0).df, 0);
}

static int64_t add_run(struct scratch *s, const char *command, int64_t environment, int64_t pt_ns)
{
	struct run run = scratch_run("solver");

	run.command = strdup(command);
	run.environment = environment;
	return scratch_add_run(s, run, pt_ns);
}

static int64_t add_environment(struct scratch *s, const char *digest, const char *identity)
{
	char document[128];
	int64_t id;

	snprintf(document, sizeof(document),
		"{\"identity\": {\"cpu\": \"%s\"}, \"settings\": {\"x\": \"%s\"}}", identity,
		digest);
	assert_done(s, book_put_environment(s->book, digest, NULL, document, &id, &s->err));
	return id;
}

TEST_IN_BOOK(the_book_knows_how_runs_of_a_command_vary_on_a_machine)
{
	int64_t here = add_environment(s, "d1", "old"), set = add_environment(s, "d2", "old"),
		other = add_environment(s, "d3", "new"), first, last;
	struct run_variation v;

	add_run(s, "[\"solver\"]", here, 99000);
	add_run(s, "[\"solver\"]", set, 100000); /* another setting of the same machine */
	add_run(s, "[\"solver\"]", here, 101000);
	add_run(s, "[\"solver\"]", other, 200000);
	add_run(s, "[\"solver\", \"-x\"]", here, 300000);
	first = add_run(s, "[\"solver\"]", here, 150000);
	last = add_run(s, "[\"solver\"]", set, 160000);
	assert_done(s, run_variation_load(s->book, first, last, false, &v, &s->err));
	assert_int_equal(v.n_runs, 3);
	assert_true(fabs(v.sd - 0.01) < 1e-5);
	last = add_run(s, "[\"solver\", \"-y\"]", here, 160000);
	assert_done(s, run_variation_load(s->book, first, last, true, &v, &s->err));
	/* those of the first one's command, the former last among them */
	assert_int_equal(v.n_runs, 4);
	assert_true(v.sd == 0);
}
