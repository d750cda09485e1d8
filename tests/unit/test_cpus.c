/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists and masks of CPUs, and how fast they may run, out of made-up trees of /sys. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/cpu/cpus.h"

static void assert_text(char *text, const char *wanted)
{
	assert_string_equal(text, wanted);
	free(text);
}

TEST(cpus_leave_a_list_as_the_kernel_writes_it)
{
	static const int cpus[] = {1, 35};

	assert_text(cpu_list_without("0-3,8", cpus, 2), "0,2-3,8");
	assert_text(cpu_list_without("0-40", cpus, 2), "0,2-34,36-40");
	assert_text(cpu_list_without("1", cpus, 2), "");
	assert_text(cpu_list_without("2", cpus, 2), "2");
	assert_null(cpu_list_without("x", NULL, 0));
}

TEST(a_mask_keeps_its_digits_and_commas)
{
	static const int cpus[] = {1, 35};

	assert_text(cpu_mask("3", cpus, 2, true), "1");
	assert_text(cpu_mask("ff,ffffffff", cpus, 2, true), "f7,fffffffd");
	assert_text(cpu_mask("00000002", cpus, 2, true), "00000000");
	assert_null(cpu_mask("0x3", NULL, 0, true));
	assert_text(cpu_mask("ff,ffffffff", (const int[]){0, 1, 33}, 3, false), "02,00000003");
}

TEST(two_lists_make_one)
{
	_cleanup_(freep) char *both = cpu_list_join("2-3,8", "0,3-4"), *one = cpu_list_join("", "5"),
			      *none = cpu_list_join("", "");

	assert_string_equal(both, "0,2-4,8");
	assert_string_equal(one, "5");
	assert_string_equal(none, "");
}

TEST(a_list_has_what_its_ranges_have)
{
	assert_true(cpu_list_has("0-3,8", 2));
	assert_false(cpu_list_has("0-3,8", 4));
	assert_false(cpu_list_has("", 0));
	assert_false(cpu_list_has(NULL, 0));
}

TEST_IN_TREE(a_machine_without_cpufreq_has_no_policy)
{
	struct frequency frequency;

	frequency_read(&frequency, tree.fd);
	assert_int_equal(frequency.n_policies, 0);
	assert_int_equal(frequency.no_turbo, -1);
	assert_int_equal(frequency.boost, -1);
	frequency_clear(&frequency);
}

#define POLICY(n) "sys/devices/system/cpu/cpufreq/policy" #n

TEST_IN_TREE(policies_come_in_the_order_of_their_numbers)
{
	struct frequency frequency;

	tree_put(POLICY(10) "/scaling_governor", "powersave\n");
	tree_put(POLICY(2) "/scaling_governor", "performance\n");
	tree_put(POLICY(2) "/scaling_min_freq", "800000\n");
	tree_put(POLICY(2) "/base_frequency", "3600000\n");
	tree_put("sys/devices/system/cpu/cpu10/acpi_cppc/nominal_freq", "2450\n");
	tree_put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	tree_put("sys/devices/system/cpu/intel_pstate/status", "active\n");
	frequency_read(&frequency, tree.fd);
	assert_int_equal(frequency.n_policies, 2);
	assert_int_equal(frequency.policies[0].number, 2);
	assert_int_equal(frequency.policies[0].min_khz, 800000);
	assert_int_equal(frequency.policies[0].base_khz, 3600000);
	assert_int_equal(frequency.policies[0].boost, -1);
	assert_int_equal(frequency.policies[1].base_khz, 2450000);
	assert_string_equal(frequency.policies[1].governor, "powersave");
	assert_int_equal(frequency.no_turbo, 0);
	assert_string_equal(frequency.pstate_status, "active");
	frequency_clear(&frequency);
}

/* The base frequency of a policy whose driver lists its states. */
static int64_t base_of_list(const char *list)
{
	struct frequency frequency;
	int64_t base;

	tree_put(POLICY(0) "/scaling_available_frequencies", list);
	frequency_read(&frequency, tree.fd);
	base = frequency.policies[0].base_khz;
	frequency_clear(&frequency);
	return base;
}

/* Whatever the order; the entry that stands for turbo is not the base. */
TEST_IN_TREE(the_base_is_the_highest_state_without_turbo)
{
	assert_int_equal(base_of_list("3701000 3700000 2800000 2200000\n"), 3700000);
	assert_int_equal(base_of_list("3700000 2800000 2200000 \n"), 3700000);
	assert_int_equal(base_of_list("\n"), -1);
	assert_int_equal(base_of_list("600000 700000 1400000 1500000 \n"), 1500000); /* cpufreq-dt */
	assert_int_equal(base_of_list("2200000 3700000 3701000\n"), 3700000);
	assert_int_equal(base_of_list("1500000\n"), 1500000);
}
