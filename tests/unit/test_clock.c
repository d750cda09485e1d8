/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/check.h"

#include "lib/clock/emp-clock.h"

#include <errno.h>
#include <limits.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t kernel_ns(clockid_t clock)
{
	struct timespec now;

	assert_return_code(clock_gettime(clock, &now), errno);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

TEST(a_reading_lies_between_two_of_the_kernel)
{
	for (int i = 0; i < 10000; i++) {
		uint64_t before = kernel_ns(CLOCK_THREAD_CPUTIME_ID), thread = emp_clock_thread_ns();
		uint64_t after = kernel_ns(CLOCK_THREAD_CPUTIME_ID), process;

		assert_in_range(thread, before, after);
		before = kernel_ns(CLOCK_PROCESS_CPUTIME_ID);
		process = emp_clock_process_ns();
		after = kernel_ns(CLOCK_PROCESS_CPUTIME_ID);
		assert_in_range(process, before, after);
	}
}

TEST(cycles_and_nanoseconds_agree)
{
	uint64_t before = emp_clock_thread_ns(), cycles = emp_clock_thread_cycles(),
		 after = emp_clock_thread_ns();

	if (emp_clock_ns_to_cycles(1000000))
		assert_in_range(cycles, emp_clock_ns_to_cycles(before), emp_clock_ns_to_cycles(after));
	else
		assert_int_equal(cycles, 0);
}

TEST(the_times_of_others_are_read_by_their_ids)
{
	uint64_t before = emp_clock_thread_ns(), ns;

	assert_return_code(emp_clock_thread_ns_of(getpid(), &ns), errno);
	assert_true(ns <= emp_clock_thread_ns());
	assert_return_code(emp_clock_process_ns_of(getpid(), &ns), errno);
	assert_in_range(ns, before, emp_clock_process_ns());
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
