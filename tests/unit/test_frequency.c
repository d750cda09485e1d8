/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast the processor may run, out of made-up /sys trees. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/cpu/cpus.h"

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

TEST_IN_TREE(the_entry_that_stands_for_turbo_is_not_the_base)
{
	assert_int_equal(base_of_list("3701000 3700000 2800000 2200000\n"), 3700000);
	assert_int_equal(base_of_list("3700000 2800000 2200000 \n"), 3700000);
	assert_int_equal(base_of_list("\n"), -1);
}

TEST_IN_TREE(the_base_is_the_highest_state_whatever_the_order)
{
	assert_int_equal(base_of_list("600000 700000 1400000 1500000 \n"), 1500000); /* cpufreq-dt */
	assert_int_equal(base_of_list("2200000 3700000 3701000\n"), 3700000);
	assert_int_equal(base_of_list("1500000\n"), 1500000);
}
