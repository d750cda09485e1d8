/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps and intervals, merged: the four cases of De, Kothari and Mann, and that nothing is
 * attributed by chance. */
#include "tests/unit/check.h"

#include "lib/jitter/attribution.h"

#include <math.h>

enum { ROUND_NS = 1000000000 };

static struct made {
	struct jitter_sources sources;
	struct attribution merge;
	uint32_t timer, tick, one, two;
} m;

static uint32_t source(pid_t pid, const char *name)
{
	int64_t index = jitter_source_of_thread(&m.sources, pid, name);

	assert_true(index >= 0);
	return (uint32_t)index;
}

static int begin(void **state)
{
	m = (struct made){};
	attribution_begin(&m.merge, 100, &m.sources);
	m.timer = source(1, "timer");
	m.tick = source(2, "tick");
	m.one = source(3, "dummydaemon1");
	m.two = source(4, "dummydaemon2");
	return 0;
}

static int end(void **state)
{
	attribution_clear(&m.merge);
	jitter_sources_clear(&m.sources);
	return 0;
}

#define TEST_OF_MERGE(name) TEST_WITH(name, begin, end)

static struct trace_interval outer(
	uint32_t from, int64_t start_ns, int64_t length_ns, bool switched)
{
	return (struct trace_interval){.source = from,
		.start_ns = start_ns,
		.end_ns = start_ns + length_ns,
		.net_ns = length_ns,
		.switched = switched};
}

static void attribute(
	const struct gap_seen *gaps, size_t n_gaps, const struct trace_interval *items, size_t n)
{
	struct jitter_cpu facts;

	assert_int_equal(attribution_round(&m.merge,
				 &(struct jitter_round){0, ROUND_NS, gaps, n_gaps, items, n}),
		n);
	facts = attribution_sums(&m.merge);
	assert_int_equal(
		facts.explained + facts.periodic + facts.unexplained + m.merge.outside.rest,
		facts.gaps);
	assert_int_equal(facts.explained_ns + facts.periodic_ns + facts.unexplained_ns +
				 m.merge.outside.rest_ns,
		facts.gaps_ns);
}

/* The row of the time domain; NULL: there is none. */
static const struct source_statistics *in_time(const char *name)
{
	for (size_t i = 0; i < m.merge.times.n; i++)
		if (m.merge.times.items[i].row.count > 0 && !strcmp(m.sources.items[i].name, name))
			return &m.merge.times.items[i];
	return NULL;
}

TEST_OF_MERGE(several_in_succession_are_a_source_of_their_own_and_counted_singly_as_well)
{
	const struct gap_seen gaps[] = {{1000000, 3500000}, {500000000, 502500000}};

	attribute(gaps, 2,
		(struct trace_interval[]){outer(m.one, 1001000, 1200000, true),
			outer(m.two, 2201000, 1250000, true),
			outer(m.two, 500001000, 2490000, true)},
		3);
	assert_int_equal(m.merge.cpu.explained, 2);
	assert_non_null(in_time("dummydaemon1_dummydaemon2"));
	assert_int_equal(in_time("dummydaemon1_dummydaemon2")->row.max_ns, 2450000);
	assert_null(in_time("dummydaemon1"));
	assert_int_equal(in_time("dummydaemon2")->row.count, 1);
	assert_int_equal(m.merge.frequencies.items[m.one].row.count, 1);
	assert_int_equal(m.merge.frequencies.items[m.one].row.total_ns, 1200000);
	assert_int_equal(m.merge.frequencies.items[m.two].row.count, 2);
	assert_int_equal(m.merge.frequencies.items[m.two].row.total_ns, 1250000 + 2490000);
}

TEST_OF_MERGE(a_combination_has_one_name_whatever_its_order)
{
	const struct gap_seen gaps[] = {{1000000, 3500000}, {500000000, 502500000}};

	attribute(gaps, 2,
		(struct trace_interval[]){outer(m.one, 1001000, 1200000, true),
			outer(m.two, 2201000, 1250000, true),
			outer(m.two, 500001000, 1200000, true),
			outer(m.one, 501201000, 1200000, true)},
		4);
	assert_int_equal(in_time("dummydaemon1_dummydaemon2")->row.count, 2);
	assert_int_equal(m.sources.n_combinations, 1);
}

TEST_OF_MERGE(the_net_time_of_the_outer_excludes_the_inner_and_the_gap_counts_once)
{
	const struct gap_seen gaps[] = {{1000000, 1010000}, {5000000, 5010000}};
	struct trace_interval items[4];

	for (int i = 0; i < 2; i++) {
		items[2 * i] = outer(m.timer, 1000500 + i * 4000000, 9000, true);
		items[2 * i].net_ns = 9000 - 2000;

		int64_t start_ns = 1003000 + i * 4000000;
		struct trace_interval v = outer(m.tick, start_ns, 2000, false);

		v.depth = 1;
		items[2 * i + 1] = v;
	}
	attribute(gaps, 2, items, 4);
	assert_int_equal(m.merge.frequencies.items[m.timer].row.total_ns, 14000);
	assert_int_equal(m.merge.frequencies.items[m.tick].row.total_ns, 4000);
	assert_int_equal(in_time("tick_timer")->row.min_ns, 9000); /* not 11000 */
	assert_int_equal(m.merge.cpu.explained_ns, 20000);
}

TEST_OF_MERGE(a_small_part_is_counted_but_not_in_the_name)
{
	const struct gap_seen gap = {1000000, 3500000};

	attribute(&gap, 1,
		(struct trace_interval[]){outer(m.timer, 1000500, 10000, false),
			outer(m.one, 1020000, 2470000, true)},
		2);
	assert_int_equal(in_time("dummydaemon1")->row.count, 1);
	assert_int_equal(m.merge.frequencies.items[m.timer].row.count, 1);
}

TEST_OF_MERGE(what_ends_with_its_gap_has_the_rest_of_it)
{
	const struct gap_seen gap = {1000000, 3000000};
	struct trace_interval item = outer(0, 1500000, 0, true);

	item.source = m.one;
	item.open_ended = true;
	item.net_ns = -30000; /* an interrupt was nested in it */
	attribute(&gap, 1, &item, 1);
	assert_int_equal(in_time("dummydaemon1")->row.total_ns, 1500000);
	assert_int_equal(m.merge.frequencies.items[m.one].row.total_ns, 1470000);
}

TEST_OF_MERGE(intervals_after_the_last_gap_wait_and_those_in_no_gap_are_counted)
{
	const struct gap_seen gap = {1000000, 1010000};
	struct trace_interval items[3];

	items[0] = outer(m.timer, 500000, 1000, false);
	items[1] = outer(m.timer, 1001000, 8000, false);
	items[2] = outer(m.timer, 2000000, 1000, false);
	assert_int_equal(
		attribution_round(&m.merge, &(struct jitter_round){0, ROUND_NS, &gap, 1, items, 3}),
		2);
	assert_int_equal(m.merge.cpu.in_no_gap, 1);
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

enum { MOST = 400 };

/* n times in a round, ascending and apart. */
static size_t draw(int64_t *at, size_t n, int64_t apart_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		at[i] = (int64_t)(drand48() * (ROUND_NS - apart_ns));
	qsort(at, n, sizeof(*at), by_number);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || at[i] - at[kept - 1] > apart_ns)
			at[kept++] = at[i];
	return kept;
}

/* Gaps of that length, and short interrupts that have nothing to do with them (related: that are in
 * them). The share of the gaps that have an interrupt in them and are attributed. */
static double attributed(bool related, int64_t gap_ns)
{
	static int64_t gap_at[MOST], event_at[MOST];
	static struct gap_seen gaps[MOST];
	static struct trace_interval items[MOST];
	double share;

	begin(NULL);
	for (int round = 0; round < 5; round++) {
		size_t n = draw(gap_at, 100, gap_ns), events = draw(event_at, 300, 10000);

		for (size_t i = 0; i < n; i++)
			gaps[i] = (struct gap_seen){gap_at[i], gap_at[i] + gap_ns};
		events = related ? n : events;
		for (size_t i = 0; i < events; i++)
			items[i] = outer(m.timer,
				related ? gap_at[i] + (int64_t)(drand48() * (double)(gap_ns - 3000))
					: event_at[i],
				3000, false);
		attribution_round(
			&m.merge, &(struct jitter_round){0, ROUND_NS, gaps, n, items, events});
	}
	share = (double)m.merge.cpu.explained / (double)m.merge.cpu.gaps;
	end(NULL);
	return share;
}

TEST(nothing_is_attributed_where_a_random_shift_does_as_well)
{
	enum { RUNS = 300 };
	double mine = 0, of_others = 0;

	srand48((long)check_seed(21));
	for (int i = 0; i < RUNS; i++) {
		int64_t gap_ns = (int64_t)exp(log(5000) + drand48() * log(400));

		mine += attributed(true, gap_ns) / RUNS;
		of_others += attributed(false, gap_ns) / RUNS;
	}
	printf("attributed: %.4f of those that are, %.4f of those that are not\n", mine, of_others);
	assert_true(mine > 0.95);
	assert_true(of_others < 0.01);
}

TEST_OF_MERGE(a_period_is_that_of_its_executions_not_of_their_slices)
{
	for (int i = 0; i < 20; i++) {
		int64_t at_ns = 1000000 + i * INT64_C(40000000);
		const struct gap_seen gaps[] = {
			{at_ns, at_ns + 3000000}, {at_ns + 6000000, at_ns + 9000000}};
		struct trace_interval items[] = {outer(m.one, at_ns + 1000, 2990000, true),
			outer(m.one, at_ns + 6001000, 2990000, true)};

		items[1].resumed = true;
		attribution_round(&m.merge,
			&(struct jitter_round){at_ns, at_ns + 40000000, gaps, 2, items, 2});
	}
	assert_int_equal(m.merge.frequencies.items[m.one].row.count, 40);
	assert_int_equal(source_period(&m.merge.frequencies.items[m.one]), 40000000);
}

TEST_OF_MERGE(rounds_are_summed_as_the_book_wants_them)
{
	const int64_t times_ns[] = {0, 3000, 1000};

	for (int i = 0; i < 3; i++) {
		struct gap_seen gap = {1000000, 1000000 + times_ns[i] + 500};
		struct trace_interval item = outer(m.one, 1000100, times_ns[i], true);

		attribution_round(&m.merge, &(struct jitter_round){0, ROUND_NS, &gap,
						    times_ns[i] > 0, &item, times_ns[i] > 0});
	}
	assert_int_equal(m.merge.frequencies.items[m.one].row.rounds, 2);
	assert_true(m.merge.frequencies.items[m.one].row.round_squares_ns2 == 9e6 + 1e6);
	assert_true(m.merge.frequencies.items[m.one].row.round_steps_ns2 == 9e6 + 4e6);
}

static struct jitter_cpu facts_of(void)
{
	return attribution_sums(&m.merge);
}

TEST_OF_MERGE(a_gap_outside_the_kernel_has_no_event_and_is_a_source_of_its_own)
{
	const struct gap_seen gaps[] = {{1000000, 1010000, GAP_IN_KERNEL},
		{1010010, 1090000, GAP_OUTSIDE_KERNEL}, {5000000, 5000300, GAP_OUTSIDE_KERNEL},
		{6000000, 6007000, GAP_IN_KERNEL}};

	m.sources.outside = "host or processor";
	attribute(gaps, 4,
		(struct trace_interval[]){
			outer(m.timer, 1001000, 8000, false), outer(m.tick, 1010040, 100, true)},
		2);
	assert_int_equal(facts_of().explained, 1);
	assert_int_equal(facts_of().outside_kernel, 2);
	assert_int_equal(facts_of().outside_kernel_ns, 79990 + 300);
	assert_int_equal(facts_of().unexplained, 1); /* the kernel ran, and no event says why */
	assert_int_equal(facts_of().unexplained_ns, 7000);
	assert_int_equal(m.merge.cpu.in_no_gap, 1);
	assert_int_equal(in_time("host or processor")->row.max_ns, 79990);
	assert_int_equal(m.merge.longest[0].length_ns, 79990);
	assert_string_equal(m.sources.items[m.merge.longest[0].source].name, "host or processor");
	assert_int_equal(m.sources.items[m.merge.longest[0].source].kind, SOURCE_OUTSIDE);
}

TEST_OF_MERGE(where_the_kernel_ran_a_single_event_names_the_gap)
{
	struct gap_seen gap = {1000000, 1010000, GAP_IN_KERNEL};
	const struct trace_interval item = {
		.source = 0, .start_ns = 1001000, .end_ns = 1009000, .net_ns = 8000};

	attribute(&gap, 1, &item, 1);
	assert_int_equal(m.merge.cpu.explained, 1);
	gap.origin = GAP_UNKNOWN; /* one is not more than chance */
	end(NULL);
	begin(NULL);
	attribute(&gap, 1, &item, 1);
	assert_int_equal(m.merge.cpu.explained, 0);
	assert_int_equal(facts_of().outside_kernel, -1);
}

TEST_OF_MERGE(a_shifted_trace_explains_no_gap_outside_the_kernel)
{
	static struct gap_seen gaps[MOST];
	static struct trace_interval items[MOST];

	for (int i = 0; i < MOST; i++) {
		gaps[i] = (struct gap_seen){
			i * INT64_C(2500000), i * INT64_C(2500000) + 2400000, GAP_OUTSIDE_KERNEL};
		items[i] = outer(m.timer, i * INT64_C(2500000) + 100000, 1000, true);
	}
	attribute(gaps, MOST, items, MOST);
	assert_int_equal(m.merge.cpu.chance, 0);
	assert_int_equal(m.merge.cpu.explained, 0);
	assert_int_equal(m.merge.cpu.in_no_gap, MOST);
}

TEST_OF_MERGE(periods_of_both_kinds_of_gaps_are_kept_apart)
{
	static struct gap_seen gaps[2 * MOST];
	size_t n = 0;

	for (int i = 0; i < MOST; i++) {
		gaps[n++] = (struct gap_seen){
			i * INT64_C(2000000), i * INT64_C(2000000) + 9000, GAP_OUTSIDE_KERNEL};
		gaps[n++] = (struct gap_seen){i * INT64_C(2000000) + 700000 + i * 100,
			i * INT64_C(2000000) + 705000 + i * 100, GAP_IN_KERNEL};
	}
	attribute(gaps, n, NULL, 0);
	assert_int_equal(m.merge.outside.periods[0].period_ns, 2000000);
	assert_int_equal(m.merge.outside.periods[0].count, MOST);
	assert_in_range(m.merge.unexplained.periods[0].period_ns, 2000000, 2000200);
	assert_int_equal(m.merge.unexplained.periods[0].count, MOST);
	assert_int_equal(facts_of().periodic, 2 * MOST);
	assert_int_equal(facts_of().outside_kernel, 0);
}
