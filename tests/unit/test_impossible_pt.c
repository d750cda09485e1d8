/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which PTs cannot be right. */
#include "tests/unit/check.h"

#include "lib/protocol/disturbances.h"

enum { N = 20, CHANGED = 7 };

/* A run on one CPU: PTs of 440 to 459 us, ETs 15 us longer, without W and steal. */
struct made_run {
	struct run run;
	struct sample samples[N];
	struct counters counters[N];
};

/* Of one sample, in us. */
static struct made_run make_changed(int64_t pt_us, int64_t et_us, int64_t wait_us, int64_t steal_us)
{
	struct made_run m = {.run = {.cpu = 1, .wait_source = (char *)"bpf"}};

	for (uint32_t i = 0; i < N; i++) {
		int64_t pt_ns = (440 + i * 7 % N) * NS_PER_US;

		m.samples[i] = (struct sample){
			.n = i + 1, .pt_ns = pt_ns, .et_ns = pt_ns + 15 * NS_PER_US};
		m.counters[i] = COUNTERS_NONE;
		m.counters[i].sample = i + 1;
		m.counters[i].value[COUNTER_STEAL] = 0;
	}
	m.samples[CHANGED].pt_ns = pt_us * NS_PER_US;
	m.samples[CHANGED].et_ns = et_us * NS_PER_US;
	m.samples[CHANGED].wait_ns = wait_us * NS_PER_US;
	m.counters[CHANGED].value[COUNTER_STEAL] = steal_us * NS_PER_US;
	return m;
}

/* It is found with this limit; 0: it is not found. */
static void assert_limit(const struct made_run *m, int64_t limit_us)
{
	struct impossible_pt found = impossible_pt_find(&m->run, m->samples, N, m->counters, N);

	assert_int_equal(found.n, limit_us > 0);
	if (found.n > 0) {
		assert_int_equal(found.sample, CHANGED + 1);
		assert_int_equal(found.pt_ns, m->samples[CHANGED].pt_ns);
		assert_int_equal(found.limit_ns, limit_us * NS_PER_US);
	}
}

TEST(a_pt_is_impossible_where_steal_has_what_is_missing_or_one_cpu_would_do_more_than_it_can)
{
	static const struct {
		int64_t pt_us, et_us, wait_us, steal_us, limit_us;
	} cases[] = {
		{175, 1900, 0, 1725, 440}, /* 440 are the least, and the rest was taken as steal */
		{175, 1900, 0, 200, 0},    /* it may have been asleep */
		{175, 400, 0, 1725, 0},    /* it had no more time, and was fast */
		{175, 1900, 1500, 1725, 0}, {440, 1900, 0, 1445, 0}, /* nothing is missing */
		/* the machine's speed may have changed */
		{250, 1900, 0, 1650, 0}, {3000, 1900, 0, 0, 1900},
		{2200, 1900, 0, 0, 0}, /* its last task ends after ET */
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct made_run m = make_changed(
			cases[i].pt_us, cases[i].et_us, cases[i].wait_us, cases[i].steal_us);

		assert_limit(&m, cases[i].limit_us);
	}
}

TEST(without_a_waiting_time_or_steal_less_is_known)
{
	struct made_run m = make_changed(175, 1900, 0, 1725),
			unknown = make_changed(175, 1900, 0, 0),
			above = make_changed(3000, 1900, 0, 0), anywhere = above;

	m.samples[CHANGED].wait_ns = -1;
	assert_limit(&m, 440);
	unknown.counters[CHANGED].value[COUNTER_STEAL] = INT64_MIN;
	assert_limit(&unknown, 0);
	above.samples[CHANGED].wait_ns = -1; /* some of it may have left the CPU */
	assert_limit(&above, 0);
	anywhere.run.cpu = -1;
	assert_limit(&anywhere, 0);
}

TEST(pts_that_spread_far_show_no_fault)
{
	struct made_run m = make_changed(175, 1900, 0, 1725);

	for (int i = 0; i < N; i++)
		if (i != CHANGED)
			m.samples[i].pt_ns += (i % 3 > 0) * NS_PER_MS;
	assert_limit(&m, 0);
}

TEST(ten_samples_without_steal_are_needed)
{
	struct made_run m = make_changed(175, 1900, 0, 1725);

	for (int i = CHANGED + 1; i < N; i++) {
		m.counters[i].value[COUNTER_STEAL] = NS_PER_MS;
		m.samples[i].et_ns += NS_PER_MS;
	}
	assert_limit(&m, 0);
}
