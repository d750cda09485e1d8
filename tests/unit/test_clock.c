/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/check.h"

#include "lib/clock/emp-clock.h"

#include <limits.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t kernel_ns(clockid_t clock)
{
	struct timespec now;

	assert_return_code(clock_gettime(clock, &now), errno);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* What a hypervisor or an interrupt takes is not CPU time; the library notices late. */
enum { AHEAD_NS = 100000, BEHIND_NS = 1000 };

static void check_between(uint64_t before, uint64_t ns, uint64_t after)
{
	assert_in_range(ns + BEHIND_NS, before, after + BEHIND_NS + AHEAD_NS);
}

TEST(a_reading_lies_between_two_of_the_kernel)
{
	for (int i = 0; i < 10000; i++) {
		uint64_t before = kernel_ns(CLOCK_THREAD_CPUTIME_ID), ns = emp_clock_thread_ns();

		check_between(before, ns, kernel_ns(CLOCK_THREAD_CPUTIME_ID));
		before = kernel_ns(CLOCK_PROCESS_CPUTIME_ID);
		ns = emp_clock_process_ns();
		check_between(before, ns, kernel_ns(CLOCK_PROCESS_CPUTIME_ID));
	}
}

TEST(cycles_and_nanoseconds_agree)
{
	uint64_t before = emp_clock_thread_ns(), cycles = emp_clock_thread_cycles(),
		 after = emp_clock_thread_ns();

	if (emp_clock_ns_to_cycles(1000000))
		assert_in_range(cycles, emp_clock_ns_to_cycles(before) - 3,
			emp_clock_ns_to_cycles(after) + 3);
	else
		assert_int_equal(cycles, 0);
}

TEST(a_forked_child_begins_at_its_own_time)
{
	uint64_t begin = emp_clock_thread_ns();
	int status;

	while (emp_clock_thread_ns() < begin + 20000000)
		;
	begin = emp_clock_process_ns();
	if (fork() == 0)
		_exit(emp_clock_thread_ns() > begin / 2 || emp_clock_process_ns() > begin / 2);
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
}

TEST(most_readings_need_no_system_call)
{
	struct emp_clock_counts before, after;

	emp_clock_counts(&before);
	for (int i = 0; i < 100000; i++)
		emp_clock_thread_ns();
	emp_clock_counts(&after);
	assert_true(after.fast - before.fast + after.system_calls - before.system_calls >= 100000);
	if (after.fast == before.fast)
		skip(); /* no counter, or no restartable sequences */
	assert_in_range(after.fast - before.fast, 80000, 100000);
}

TEST(the_times_of_others_are_read_by_their_ids)
{
	uint64_t before = kernel_ns(CLOCK_PROCESS_CPUTIME_ID), ns;

	assert_return_code(emp_clock_process_ns_of(getpid(), &ns), errno);
	check_between(before, ns, kernel_ns(CLOCK_PROCESS_CPUTIME_ID));
	assert_return_code(emp_clock_thread_ns_of(getpid(), &ns), errno);
	check_between(before, ns, kernel_ns(CLOCK_THREAD_CPUTIME_ID));
	assert_return_code(emp_clock_thread_ns_of(getppid(), &ns), errno);
	assert_true(ns > 0);
	assert_return_code(emp_clock_process_ns_of(getppid(), &ns), errno);
	assert_true(ns > 0);
}

TEST(an_id_that_nobody_has_is_ESRCH_and_what_is_no_id_EINVAL)
{
	uint64_t ns = 7;
	pid_t gone = fork();

	if (gone == 0)
		_exit(0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	assert_int_equal(emp_clock_thread_ns_of(gone, &ns), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(emp_clock_process_ns_of(gone, &ns), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(emp_clock_thread_ns_of(0, &ns), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(emp_clock_process_ns_of(INT_MIN, &ns), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ns, 7);
}
