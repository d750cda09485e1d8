/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace of one CPU, made intervals. nested.page was recorded on a kernel 6.18: a softirq, in
 * which another interrupt came. The numbers are those of 'trace-cmd report', in ticks. */
#include "tests/unit/check.h"

#include "lib/jitter/intervals.h"

enum { PAGE = 4096, WATCHER = 100 };

#define SYMBOLS "0000000000000007 t flush_work\n"

struct recorded {
	struct trace_decoder *decoder;
	char bytes[PAGE];
	struct trace_page page;
};

static void load(struct recorded *recorded)
{
	struct error err;
	char path[512];
	int directory, fd;

	snprintf(path, sizeof(path), "%s/trace", getenv("EMP_DATA"));
	directory = open(path, O_RDONLY | O_DIRECTORY);
	assert_true(directory >= 0);
	if (trace_decoder_new(&recorded->decoder, directory, SYMBOLS, &err) < 0)
		fail_msg("%s", err.text);
	fd = openat(directory, "nested.page", O_RDONLY);
	assert_int_equal(read(fd, recorded->bytes, PAGE), PAGE);
	close(fd);
	close(directory);
	assert_true(trace_page_open(&recorded->page, recorded->bytes, PAGE));
}

TEST(a_recorded_page_has_the_events_that_other_tools_see)
{
	struct recorded recorded;
	struct trace_event event;
	int kinds[8] = {};

	load(&recorded);
	assert_int_equal(recorded.page.lost, 0);
	while (trace_decode(recorded.decoder, &recorded.page, &event)) {
		kinds[event.kind]++;
		if (event.what == TRACE_SWITCH && kinds[TRACE_TASK] == 1) {
			assert_int_equal(event.at, 67197757879902);
			assert_int_equal(event.prev, 1012);
			assert_int_equal(event.next, 1009);
			assert_string_equal(event.prev_name, "qemu-system-x86");
			assert_false(event.preempted);
		}
		if (event.what == TRACE_BEGIN && event.kind == TRACE_SOFTIRQ)
			assert_string_equal(event.name, "TIMER");
	}
	assert_int_equal(kinds[TRACE_TASK], 7);
	assert_int_equal(kinds[TRACE_SOFTIRQ], 2);
	assert_int_equal(kinds[TRACE_VECTOR], 4);
	assert_int_equal(kinds[TRACE_FAULT], 95); /* the kernel's own were not described */
	trace_decoder_free(recorded.decoder);
}

static const char *name_of(const struct intervals *v, size_t i)
{
	return v->sources->items[v->items[i].source].name;
}

TEST(nested_interrupts_of_a_recorded_trace_count_once)
{
	struct recorded recorded;
	struct jitter_sources sources = {};
	struct trace_event event;
	struct intervals v;
	int found = 0;

	load(&recorded);
	intervals_begin(&v, 22125, &sources);
	while (trace_decode(recorded.decoder, &recorded.page, &event))
		intervals_add(&v, &event, (int64_t)event.at);
	assert_int_equal(v.broken, 0);
	for (size_t i = 0; i + 1 < v.n; i++) {
		if (strcmp(name_of(&v, i), "softirq:TIMER"))
			continue;
		found++;
		assert_int_equal(v.items[i].depth, 0);
		assert_int_equal(v.items[i].end_ns - v.items[i].start_ns, 71474);
		assert_int_equal(v.items[i].net_ns, 71474 - 1300);
		assert_string_equal(name_of(&v, i + 1), "reschedule");
		assert_int_equal(v.items[i + 1].depth, 1);
		assert_int_equal(v.items[i + 1].net_ns, 1300);
	}
	assert_int_equal(found, 1);
	intervals_clear(&v);
	jitter_sources_clear(&sources);
	trace_decoder_free(recorded.decoder);
}

/* Made-up events. */
static struct made {
	struct recorded recorded;
	struct intervals v;
	struct jitter_sources sources;
} m;

static int begin(void **state)
{
	m = (struct made){};
	load(&m.recorded);
	m.sources.decoder = m.recorded.decoder;
	intervals_begin(&m.v, WATCHER, &m.sources);
	return 0;
}

static int end(void **state)
{
	intervals_clear(&m.v);
	jitter_sources_clear(&m.sources);
	trace_decoder_free(m.recorded.decoder);
	return 0;
}

#define TEST_OF_INTERVALS(name) TEST_WITH(name, begin, end)

static void go(int64_t at_ns, pid_t prev, bool preempted, pid_t next, const char *name)
{
	intervals_add(&m.v,
		&(struct trace_event){.what = TRACE_SWITCH,
			.prev = prev,
			.prev_name = "x",
			.next = next,
			.next_name = name,
			.preempted = preempted},
		at_ns);
}

static void mark(int64_t at_ns, enum trace_what what, enum trace_kind kind, uint64_t number)
{
	intervals_add(&m.v,
		&(struct trace_event){.what = what,
			.kind = kind,
			.number = number,
			.pid = 5,
			.name = "n",
			.length_ns = 30},
		at_ns);
}

static void assert_interval(
	size_t i, const char *name, int64_t start_ns, int64_t end_ns, int64_t net_ns)
{
	assert_true(i < m.v.n);
	assert_string_equal(name_of(&m.v, i), name);
	assert_int_equal(m.v.items[i].start_ns, start_ns);
	assert_int_equal(m.v.items[i].end_ns, end_ns);
	assert_int_equal(m.v.items[i].net_ns, net_ns);
}

TEST_OF_INTERVALS(tasks_follow_one_another_and_interrupts_are_not_their_time)
{
	go(1000, WATCHER, true, 5, "first");
	mark(1100, TRACE_BEGIN, TRACE_IRQ, 9);
	mark(1150, TRACE_SPAN, TRACE_NMI, 0);
	mark(1200, TRACE_END, TRACE_IRQ, 9);
	go(2000, 5, false, 6, "second");
	go(3000, 6, true, WATCHER, "watcher");
	assert_int_equal(m.v.n, 4);
	assert_interval(0, "first", 1000, 2000, 900);
	assert_interval(1, "irq9:n", 1100, 1200, 70);
	assert_interval(2, "n", 1120, 1150, 30);
	assert_interval(3, "second", 2000, 3000, 1000);
	go(4000, WATCHER, true, 6, "second");
	assert_true(m.v.items[4].resumed); /* it was preempted */
	go(5000, 6, false, 5, "first");
	assert_false(m.v.items[5].resumed);
}

TEST_OF_INTERVALS(a_kernel_worker_is_known_by_what_it_does)
{
	go(1000, WATCHER, true, 5, "kworker/1:2");
	mark(1010, TRACE_BEGIN, TRACE_WORK, 7);
	go(1100, 5, true, WATCHER, "watcher");
	go(2000, WATCHER, true, 5, "kworker/1:2"); /* the same work goes on */
	mark(2100, TRACE_END, TRACE_WORK, 7);
	mark(2110, TRACE_BEGIN, TRACE_WORK, 8);
	mark(2200, TRACE_END, TRACE_WORK, 8);
	go(2300, 5, false, WATCHER, "watcher");
	go(3000, WATCHER, true, 5, "kworker/1:2");
	go(3100, 5, false, WATCHER, "watcher");
	assert_int_equal(m.v.n, 4);
	assert_interval(0, "kworker:flush_work", 1000, 1100, 100);
	assert_interval(1, "kworker:flush_work", 2000, 2110, 110);
	assert_interval(2, "kworker:unknown", 2110, 2300, 190);
	/* a thread that nobody called the kernel's */
	assert_interval(3, "kworker/1:2", 3000, 3100, 100);
}

TEST_OF_INTERVALS(missing_switches_are_counted_and_nobody_is_blamed)
{
	go(1000, WATCHER, true, 5, "first");
	go(2000, 6, false, WATCHER, "watcher"); /* from 5 to 6 is missing */
	assert_int_equal(m.v.broken, 1);
	assert_interval(0, "unknown task", 1000, 2000, 1000);
	go(3000, WATCHER, true, 5, "first");
	mark(3100, TRACE_BEGIN, TRACE_IRQ, 9);
	mark(3150, TRACE_END, TRACE_IRQ, 9);
	/* the switch back is missing: the gap says when it was */
	go(9000, WATCHER, true, 6, "second");
	assert_int_equal(m.v.broken, 2);
	assert_interval(1, "first", 3000, 3000, -50);
	assert_true(m.v.items[1].open_ended);
}

TEST_OF_INTERVALS(what_is_open_where_events_were_lost_is_dropped)
{
	go(1000, WATCHER, true, 5, "first");
	intervals_lost(&m.v);
	mark(1500, TRACE_END, TRACE_IRQ, 9);
	go(2000, 6, false, WATCHER, "watcher");
	assert_int_equal(m.v.n, 1);
	assert_true(m.v.items[0].end_ns < m.v.items[0].start_ns);
	assert_int_equal(m.v.broken, 0);
}

TEST_OF_INTERVALS(what_is_dropped_leaves_the_rest_as_it_is)
{
	mark(100, TRACE_BEGIN, TRACE_IRQ, 9);
	mark(200, TRACE_END, TRACE_IRQ, 9);
	go(1000, WATCHER, true, 5, "first");
	intervals_drop(&m.v, 2); /* the second is open, and stays */
	assert_int_equal(m.v.n, 1);
	go(2000, 5, false, WATCHER, "watcher");
	assert_interval(0, "first", 1000, 2000, 1000);
}
