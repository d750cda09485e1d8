/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What memory a process touches in a window of its CPU time: a real process that goes through a
 * known part of what it has, again and again. */
#include "tests/unit/check.h"

#include "lib/host/process/working_set.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { MIB = 1 << 20, HAS = 12 * MIB, LINE = 64 };

static struct error err;

/* Touches all of HAS bytes once, then these again and again, for a second of CPU time. */
static void go_through(size_t bytes, int shared)
{
	volatile char *all = mmap(NULL, HAS, PROT_READ | PROT_WRITE, shared | MAP_ANONYMOUS, -1, 0);

	madvise((void *)all, HAS, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < HAS; i += LINE)
		all[i] = 1;
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < NS_PER_S)
		for (size_t i = 0; i < bytes; i += LINE)
			all[i]++;
	_exit(0);
}

/* In windows of 100 ms, the first of which begins long after all was touched once. */
static void assert_touches(size_t bytes, int shared, bool in_child)
{
	struct working_set set = {};
	struct working_set_watch *watch = NULL;
	double seen;
	pid_t pid;

	assert_int_equal(working_set_watch_new(&watch, -1, &err), 0);
	pid = fork();
	if (pid == 0) {
		if (in_child && fork() > 0) {
			wait(NULL);
			_exit(0);
		}
		go_through(bytes, shared);
	}
	waitpid(pid, NULL, 0);
	working_set_watch_end(watch, &set);
	assert_true(set.n[WORKING_SET_WINDOWS - 1] > 0);
	seen = working_set_bytes(&set, 100 * NS_PER_MS);
	assert_true(seen >= (double)bytes);
	/* and code, its stack, and on a busy machine marks by others */
	assert_true(seen <= (double)bytes + MIB);
}

/* Two processes, or one, that compute. */
static bool is_parallel(int n)
{
	struct working_set set = {};
	struct working_set_watch *watch = NULL;
	pid_t pid;

	assert_int_equal(working_set_watch_new(&watch, -1, &err), 0);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < n; i++)
			if (fork() == 0)
				go_through(LINE, MAP_PRIVATE);
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	working_set_watch_end(watch, &set);
	assert_true(set.looks > 0);
	return working_set_is_parallel(&set);
}

TEST(programs_that_would_use_several_cpus_are_seen)
{
	assert_true(is_parallel(2));
	assert_false(is_parallel(1));
}

TEST(it_is_what_is_touched_again_not_what_the_program_has)
{
	assert_touches(16 << 10, MAP_PRIVATE, false);
	assert_touches(8 * MIB, MAP_PRIVATE, false);
}

TEST(shared_memory_counts)
{
	assert_touches(2 * MIB, MAP_SHARED, false);
}

TEST(children_count)
{
	assert_touches(4 * MIB, MAP_PRIVATE, true);
}

TEST(a_longer_window_has_at_most_so_many_times_what_the_next_shorter_one_has)
{
	struct working_set set = {.bytes = {3000, 4000}, .n = {3, 2}};

	assert_float_equal(working_set_bytes(&set, 2 * NS_PER_MS), 1000, 0);
	assert_float_equal(working_set_bytes(&set, 3 * NS_PER_MS), 1000, 0);
	assert_float_equal(working_set_bytes(&set, 10 * NS_PER_MS), 2000, 0);
	assert_float_equal(working_set_bytes(&set, 30 * NS_PER_MS), 6000, 0);
	assert_float_equal(working_set_bytes(&set, 100 * NS_PER_MS), 20000, 1e-6);
	assert_float_equal(working_set_bytes(&set, 200 * NS_PER_MS), 40000, 1e-6);
}

TEST(a_shorter_window_has_no_less_than_its_part_of_what_a_longer_one_has)
{
	struct working_set set = {.bytes = {300, 4000, 0, 60000}, .n = {3, 2, 0, 1}};

	assert_float_equal(working_set_bytes(&set, 3 * NS_PER_MS), 1800, 1e-6);
	assert_float_equal(working_set_bytes(&set, 10 * NS_PER_MS), 6000, 1e-6);
	assert_float_equal(working_set_bytes(&set, 30 * NS_PER_MS), 18000, 1e-6);
	assert_float_equal(working_set_bytes(&set, 100 * NS_PER_MS), 60000, 1e-6);
	assert_float_equal(working_set_bytes(&set, 200 * NS_PER_MS), 120000, 1e-6);
}

TEST(nothing_is_known_of_a_program_that_was_not_seen)
{
	struct working_set set = {};
	struct working_set_watch *watch = NULL;

	assert_int_equal(working_set_watch_new(&watch, 0, &err), 0);
	working_set_watch_end(watch, &set);
	assert_false(working_set_bytes(&set, 10 * NS_PER_MS) < INFINITY);
}
