/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program waited for a CPU, by its first thread. */
#include "tests/unit/check.h"

#include "lib/host/process/program.h"

TEST(schedstat_is_read_where_the_kernel_counts)
{
	struct schedstat s;

	assert_true(schedstat_parse("171273 20 2\n", &s));
	assert_int_equal(s.run_ns, 171273);
	assert_int_equal(s.wait_ns, 20);
	assert_true(schedstat_parse("0 20 1\n", &s)); /* it has not been switched away from yet */
	assert_false(schedstat_parse("0 0 0\n", &s));
	assert_false(schedstat_parse("", &s));
	assert_false(schedstat_parse("1 -2 3", &s));
	assert_true(schedstat_read(getpid(), &s));
	assert_false(schedstat_read(-1, &s));
}

TEST(work_before_the_program_was_executed_is_not_its_own)
{
	struct exec_result exec = {.pt_ns = 900, .user_ns = 700, .system_ns = 200, .before_ns = 250};

	program_times(&exec, NULL);
	assert_int_equal(exec.pt_ns, 650);
	assert_int_equal(exec.user_ns, 650);
	assert_int_equal(exec.system_ns, 0);
	assert_int_equal(exec.before_ns, 250);
	assert_int_equal(exec.wait_ns, -1);
	exec.before_ns = 1000;
	program_times(&exec, NULL); /* no less than 0 */
	assert_int_equal(exec.pt_ns, 0);
	assert_int_equal(exec.before_ns, 650);
}

/* How long such a program waited for a CPU. */
static int64_t wait_of(struct exec_result exec, const struct schedstat *first)
{
	program_times(&exec, first);
	return exec.wait_ns;
}

TEST(the_wait_of_the_first_thread_is_the_programs_if_no_other_ran)
{
	struct exec_result exec = {.pt_ns = 5 * NS_PER_MS, .wait_before_ns = 100};
	const struct schedstat all = {5 * NS_PER_MS + 300, NS_PER_MS + 100},
			       part = {4 * NS_PER_MS, NS_PER_MS}, none = {5 * NS_PER_MS, 99};

	assert_int_equal(wait_of(exec, &all), NS_PER_MS);
	assert_int_equal(wait_of(exec, &none), 0);
	assert_int_equal(wait_of(exec, &part), -1);
	exec.escaped = true;
	assert_int_equal(wait_of(exec, &all), -1);
	exec = (struct exec_result){.pt_ns = 5 * NS_PER_MS, .wait_before_ns = -1};
	assert_int_equal(wait_of(exec, &all), -1);
}
