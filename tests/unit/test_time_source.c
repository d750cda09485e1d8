/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of time: all show that a process computes, and those of another process show that one. */
#include "tests/unit/check.h"

#include "lib/clocks/bench.h"

#include <sched.h>

static int64_t cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

TEST(every_source_that_opens_advances_while_the_process_computes)
{
	size_t opened = 0;

	for (size_t i = 0; i < n_time_sources; i++) {
		struct time_reader reader;
		struct error why = {};
		int64_t before, cpu_before, spent, ns;
		struct timespec moment = {.tv_nsec = 1};

		if (time_reader_open(&reader, &time_sources[i], 0, &why) < 0) {
			printf("%s: %s\n", time_sources[i].name, why.text);
			assert_true(*why.text);
			continue;
		}
		opened++;
		before = time_read(&reader);
		cpu_before = cpu_ns();

		/* Ten ticks of /proc, and a sleep, which brings all of the kernel's numbers up to date. */
		int64_t until_ns = cpu_ns() + 100 * NS_PER_MS;

		while (cpu_ns() < until_ns)
			;
		nanosleep(&moment, NULL);
		ns = time_read(&reader) - before;
		spent = cpu_ns() - cpu_before;
		assert_true(before >= 0);
		if (reader.source->scope == TIME_OF_CALLER && llabs(ns - spent) > 25 * NS_PER_MS)
			fail_msg("%s shows %lld ns of %lld", time_sources[i].name, (long long)ns,
				(long long)spent);
		else if (reader.source->scope != TIME_OF_CHILDREN && ns <= 0)
			fail_msg("%s does not advance", time_sources[i].name);
		time_reader_close(&reader);
	}
	assert_true(opened >= 10); /* what no kernel and no user lacks */
}

static void spin(void *page, const void *data)
{
	for (;;)
		*(volatile int *)page = 1;
}

TEST(a_source_of_others_shows_the_other_process)
{
	_cleanup_(child_end) struct child child = {};
	struct error err = {};

	assert_int_equal(child_start(&child, sched_getcpu(), spin, NULL, &err), 0);
	for (size_t i = 0; i < n_time_sources; i++) {
		struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
		struct time_reader reader;
		int64_t before, least = 20 * NS_PER_MS; /* two ticks of /proc */

		if (!time_sources[i].of_others ||
			time_reader_open(&reader, &time_sources[i], child.pid, &err) < 0)
			continue;
		before = time_read(&reader);
		assert_true(before >= 0);
		while (time_read(&reader) - before < least)
			nanosleep(&moment, NULL);
		time_reader_close(&reader);
	}
}

TEST(the_source_of_a_process_that_is_gone_says_so)
{
	struct child child = {};
	struct error err = {};
	struct time_reader reader = {};
	pid_t pid;

	assert_int_equal(child_start(&child, sched_getcpu(), spin, NULL, &err), 0);
	pid = child.pid;
	child_end(&child);
	for (size_t i = 0; i < n_time_sources; i++) {
		struct error why = {};

		if (!time_sources[i].of_others)
			continue;
		assert_true(time_reader_open(&reader, &time_sources[i], pid, &why) < 0);
		assert_true(*why.text);
	}
}
