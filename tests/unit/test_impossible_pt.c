/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which PTs cannot be right. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/protocol/disturbances.h"

enum { N = 20, CHANGED = 7 };

/* A run on one CPU: PTs of 440 to 459 us, ETs 15 us longer, without W and steal. */
struct made_run {
	struct run run;
	struct sample samples[N];
	struct sample_counters counters[N];
};

/* Of one sample, in us. */
static struct made_run make_changed(int64_t pt_us, int64_t et_us, int64_t wait_us, int64_t steal_us)
{

	struct made_run m = {.run = {.cpu = 1, .wait_source = (char *)"bpf"}};

	for (uint32_t i = 0; i < N; i++) {
		int64_t pt_ns = (440 + i * 7 % N) * NS_PER_US;

		m.samples[i] = (struct sample){.n = i + 1, .pt_ns = pt_ns, .et_ns = pt_ns + 15 * NS_PER_US};
		m.counters[i].sample = i + 1;
		counters_set(&m.counters[i].changes, COUNTER_STEAL, 0);
	}

	m.samples[CHANGED].pt_ns = pt_us * NS_PER_US;
	m.samples[CHANGED].et_ns = et_us * NS_PER_US;
	m.samples[CHANGED].wait_ns = wait_us * NS_PER_US;
	counters_set(&m.counters[CHANGED].changes, COUNTER_STEAL, steal_us * NS_PER_US);
	return m;
}

static size_t count(const struct made_run *m, int64_t limit_us)
{
	_cleanup_(freep) struct impossible_pt *found = NULL;
	size_t n;

	n = impossible_pt_find(&m->run, m->samples, N, m->counters, N, &found);
	if (n > 0) {
		assert_int_equal(found[0].sample, CHANGED + 1);
		assert_int_equal(found[0].pt_ns, m->samples[CHANGED].pt_ns);
		assert_int_equal(found[0].limit_ns, limit_us * NS_PER_US);
	}
	return n;
}

TEST(a_pt_of_175_us_where_440_are_the_least_and_the_rest_was_taken_as_steal_is_impossible)
{
	struct made_run m = make_changed(175, 1900, 0, 1725);

	assert_int_equal(count(&m, 440), 1);
	m.samples[CHANGED].wait_ns = -1;
	assert_int_equal(count(&m, 440), 1);
}

TEST(a_short_pt_without_as_much_steal_is_possible)
{
	struct made_run asleep = make_changed(175, 1900, 0, 200), unknown = make_changed(175, 1900, 0, 0);

	unknown.counters[CHANGED].changes.known = 0;
	assert_int_equal(count(&asleep, 0), 0);
	assert_int_equal(count(&unknown, 0), 0);
}

TEST(a_program_that_had_no_more_time_was_fast)
{
	struct made_run fast = make_changed(175, 400, 0, 1725), waited = make_changed(175, 1900, 1500, 1725);

	assert_int_equal(count(&fast, 0), 0);
	assert_int_equal(count(&waited, 0), 0);
}

TEST(steal_that_is_not_missing_is_no_fault)
{
	struct made_run m = make_changed(440, 1900, 0, 1445);

	assert_int_equal(count(&m, 0), 0);
	m = make_changed(250, 1900, 0, 1650); /* a machine's speed may have changed */
	assert_int_equal(count(&m, 0), 0);
}

TEST(pts_that_spread_far_show_no_fault)
{
	struct made_run m = make_changed(175, 1900, 0, 1725);

	for (int i = 0; i < N; i++)
		if (i != CHANGED)
			m.samples[i].pt_ns += (i % 3 > 0) * NS_PER_MS;
	assert_int_equal(count(&m, 0), 0);
}

TEST(ten_samples_without_steal_are_needed)
{
	struct made_run m = make_changed(175, 1900, 0, 1725);

	for (int i = CHANGED + 1; i < N; i++) {
		counters_set(&m.counters[i].changes, COUNTER_STEAL, NS_PER_MS);
		m.samples[i].et_ns += NS_PER_MS;
	}
	assert_int_equal(count(&m, 0), 0);
}

TEST(on_one_cpu_a_pt_above_et_is_impossible)
{
	struct made_run m = make_changed(3000, 1900, 0, 0);

	assert_int_equal(count(&m, 1900), 1);
	m.run.cpu = -1;
	assert_int_equal(count(&m, 0), 0);
	m = make_changed(3000, 1900, 0, 0);
	m.samples[CHANGED].wait_ns = -1; /* some of it may have left the CPU */
	assert_int_equal(count(&m, 0), 0);
	m = make_changed(2200, 1900, 0, 0); /* its last task ends after ET */
	assert_int_equal(count(&m, 0), 0);
}
