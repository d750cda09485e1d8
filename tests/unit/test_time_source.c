/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of time: all show that a process computes, and those of another process show that
 * one. */
#include "tests/unit/check.h"

#include "lib/clocks/time_source.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

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

		/* Ten ticks of /proc, and a sleep, which brings all of the kernel's numbers up to
		 * date. */
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

/* A process that computes. */
static pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile int i = 0;; i = !i)
			;
	}
	assert_true(pid > 0);
	return pid;
}

static void end_spinning(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(a_source_of_others_shows_the_other_process)
{
	pid_t pid = start_spinning();

	for (size_t i = 0; i < n_time_sources; i++) {
		struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
		struct time_reader reader;
		struct error err = {};
		int64_t before, least = 20 * NS_PER_MS; /* two ticks of /proc */

		if (!time_sources[i].of_others ||
			time_reader_open(&reader, &time_sources[i], pid, &err) < 0)
			continue;
		before = time_read(&reader);
		assert_true(before >= 0);
		while (time_read(&reader) - before < least)
			nanosleep(&moment, NULL);
		time_reader_close(&reader);
	}
	end_spinning(pid);
}

TEST(the_source_of_a_process_that_is_gone_says_so)
{
	struct time_reader reader = {};
	pid_t pid = start_spinning();

	end_spinning(pid);
	for (size_t i = 0; i < n_time_sources; i++) {
		struct error why = {};

		if (!time_sources[i].of_others)
			continue;
		assert_true(time_reader_open(&reader, &time_sources[i], pid, &why) < 0);
		assert_true(*why.text);
	}
}
