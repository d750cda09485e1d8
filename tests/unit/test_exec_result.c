/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of executions: each member takes part in sums, means and in "nothing is known". */
#include "tests/unit/check.h"

#include "lib/host/process/exec_result.h"

#include <sys/resource.h>

TEST(every_byte_of_a_result_belongs_to_a_member_that_is_cleared)
{
	/* no member: what follows `escaped` up to the next one */
	const size_t gap = offsetof(struct exec_result, escaped) + sizeof(bool);
	const size_t gap_end = offsetof(struct exec_result, start_ns);
	unsigned char bytes[sizeof(struct exec_result)];
	struct exec_result result;

	assert_true(gap_end - gap < sizeof(int));
	memset(&result, 0x55, sizeof(result));
	exec_result_clear(&result);
	memcpy(bytes, &result, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		if (bytes[i] == 0x55 && (i < gap || i >= gap_end))
			fail_msg("byte %zu of struct exec_result belongs to no row", i);
}

TEST(nothing_is_known_of_a_cleared_result)
{
	struct exec_result result;

	exec_result_clear(&result);
	assert_int_equal(result.end, PROGRAM_ENDED);
	assert_int_equal(result.pt_ns, 0);
	assert_int_equal(result.wait_before_ns, -1);
	assert_int_equal(result.wait_ns, -1);
}

static const struct exec_result first = {
	.pid = 100,
	.left_behind = 1,
	.start_ns = 1000,
	.start_raw_ns = 2000,
	.et_ns = 30,
	.end_delay_ns = 5,
	.late_ns = 2,
	.pt_ns = 20,
	.user_ns = 15,
	.system_ns = 5,
	.before_ns = 7,
	.max_rss_bytes = 4096,
	.voluntary_switches = 3,
	.involuntary_switches = 4,
	.wait_before_ns = 8,
	.wait_ns = 9,
};

static const struct exec_result second = {
	.end = PROGRAM_TIMED_OUT,
	.pid = 101,
	.wait_status = 9,
	.left_behind = 2,
	.killed = 1,
	.escaped = true,
	.start_ns = 1100,
	.start_raw_ns = 2100,
	.et_ns = 50,
	.end_delay_ns = 6,
	.late_ns = 1,
	.pt_ns = 40,
	.user_ns = 25,
	.system_ns = 15,
	.before_ns = 8,
	.max_rss_bytes = 8192,
	.voluntary_switches = 5,
	.involuntary_switches = 8,
	.wait_before_ns = 10,
	.wait_ns = 11,
};

TEST(of_two_results_times_add_up_and_peaks_do_not)
{
	const struct exec_result wanted = {
		.pid = 100,
		.wait_status = 9,
		.left_behind = 3,
		.killed = 1,
		.escaped = true,
		.start_ns = 1000,
		.start_raw_ns = 2000,
		.et_ns = 80,
		.end_delay_ns = 5,
		.late_ns = 2,
		.pt_ns = 60,
		.user_ns = 40,
		.system_ns = 20,
		.before_ns = 7,
		.max_rss_bytes = 8192,
		.voluntary_switches = 8,
		.involuntary_switches = 12,
		.wait_before_ns = 8,
		.wait_ns = 9,
	};
	struct exec_result sum = first;

	exec_result_add(&sum, &second);
	assert_memory_equal(&sum, &wanted, sizeof(sum));
	exec_result_add(&sum, &first); /* neither undoes the escape nor the failure */
	assert_true(sum.escaped);
	assert_int_equal(sum.wait_status, 9);
	assert_int_equal(sum.max_rss_bytes, 8192);
}

TEST(a_mean_divides_times_and_switches_but_not_what_was_left_behind)
{
	struct exec_result mean = first;

	exec_result_add(&mean, &second);
	exec_result_divide(&mean, 2);
	assert_int_equal(mean.et_ns, 40);
	assert_int_equal(mean.pt_ns, 30);
	assert_int_equal(mean.user_ns, 20);
	assert_int_equal(mean.system_ns, 10);
	assert_int_equal(mean.voluntary_switches, 4);
	assert_int_equal(mean.involuntary_switches, 6);
	assert_int_equal(mean.left_behind, 3);
	assert_int_equal(mean.killed, 1);
	assert_int_equal(mean.max_rss_bytes, 8192);
	assert_int_equal(mean.start_ns, 1000);
}

TEST(what_is_not_known_of_one_is_left_out_of_the_sum)
{
	struct exec_result sum = first, unknown = second;

	unknown.pt_ns = -1;
	exec_result_add(&sum, &unknown);
	assert_int_equal(sum.pt_ns, first.pt_ns);
	sum.pt_ns = -1;
	exec_result_add(&sum, &second);
	assert_int_equal(sum.pt_ns, second.pt_ns);
	sum.pt_ns = -1;
	exec_result_divide(&sum, 2);
	assert_int_equal(sum.pt_ns, -1);
}

TEST(what_wait4_reports_is_added)
{
	const struct rusage usage = {.ru_utime = {1, 2},
		.ru_stime = {0, 3},
		.ru_maxrss = 4,
		.ru_nvcsw = 5,
		.ru_nivcsw = 6};
	struct exec_result result;

	exec_result_clear(&result);
	exec_result_add_usage(&result, &usage);
	assert_int_equal(result.user_ns, NS_PER_S + 2 * NS_PER_US);
	assert_int_equal(result.system_ns, 3 * NS_PER_US);
	assert_int_equal(result.pt_ns, NS_PER_S + 5 * NS_PER_US);
	assert_int_equal(result.max_rss_bytes, 4096);
	assert_int_equal(result.voluntary_switches, 5);
	assert_int_equal(result.involuntary_switches, 6);
}
