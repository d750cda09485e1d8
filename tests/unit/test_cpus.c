/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists and masks of CPUs, and how fast they may run, out of made-up trees of /sys. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/cpu/core_types.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/cpu/frequency.h"

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
	_cleanup_(freep) char *both = cpu_list_join("2-3,8", "0,3-4"),
			      *one = cpu_list_join("", "5"), *none = cpu_list_join("", "");

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

/* One cache; the CPU's core has the threads 1 and 5. */
static void make_cache(int index, int level, const char *type, const char *size, const char *shared)
{
	tree_put(text_brief("sys/devices/system/cpu/cpu1/cache/index%d/type", index), type);
	tree_put(text_brief("sys/devices/system/cpu/cpu1/cache/index%d/level", index),
		text_brief("%d\n", level));
	tree_put(text_brief("sys/devices/system/cpu/cpu1/cache/index%d/size", index), size);
	tree_put(text_brief("sys/devices/system/cpu/cpu1/cache/index%d/shared_cpu_list", index),
		shared);
}

TEST_IN_TREE(the_largest_cache_that_a_core_has_for_itself)
{
	assert_int_equal(cpu_own_cache(tree.fd, 1), -1);
	tree_put("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,5\n");
	assert_int_equal(cpu_own_cache(tree.fd, 1), -1);
	make_cache(0, 1, "Data\n", "32K\n", "1,5\n");
	make_cache(1, 1, "Instruction\n", "64K\n", "1,5\n");
	make_cache(2, 2, "Unified\n", "1024K\n", "1,5\n");
	make_cache(3, 3, "Unified\n", "32768K\n", "1,5\n");
	assert_int_equal(cpu_own_cache(tree.fd, 1), 1 << 20);
	make_cache(2, 2, "Unified\n", "4096K\n", "0-7\n"); /* of several cores */
	assert_int_equal(cpu_own_cache(tree.fd, 1), 32 << 10);
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
	/* cpufreq-dt */
	assert_int_equal(base_of_list("600000 700000 1400000 1500000 \n"), 1500000);
	assert_int_equal(base_of_list("2200000 3700000 3701000\n"), 3700000);
	assert_int_equal(base_of_list("1500000\n"), 1500000);
}

#define CPU "sys/devices/system/cpu/"

/* A policy of CPU 0 as a driver without a base frequency has it. */
static void put_policy(const char *driver, const char *lowest, const char *highest)
{
	tree_put(POLICY(0) "/related_cpus", "0\n");
	tree_put(POLICY(0) "/scaling_driver", driver);
	tree_put(POLICY(0) "/cpuinfo_min_freq", lowest);
	tree_put(POLICY(0) "/cpuinfo_max_freq", highest);
}

static void assert_base(int64_t khz)
{
	_cleanup_(frequency_clear) struct frequency frequency = {};

	frequency_read(&frequency, tree.fd);
	assert_int_equal(frequency.policies[0].base_khz, khz);
}

TEST_IN_TREE(an_intel_processor_without_hwp_has_its_base_in_its_name_or_the_number_of_its_states)
{
	put_policy("intel_cpufreq", "1200000", "3300000");
	tree_put(CPU "intel_pstate/no_turbo", "0\n");
	assert_base(-1);
	tree_put(CPU "intel_pstate/num_pstates", "22\n");
	tree_put(CPU "intel_pstate/turbo_pct", "32\n");
	assert_base(2600000);
	tree_put("proc/cpuinfo",
		"processor\t: 0\nmodel name\t: Xeon(R) CPU E5-2670 0 @ 2.50GHz\nflags: x\n");
	assert_base(2500000);
	tree_put("proc/cpuinfo", "model name\t: Made up @ 4.00GHz\n"); /* more than it can */
	assert_base(2600000);
	tree_put("proc/cpuinfo", "model name\t: 12th Gen Core i7\nx: @ 2.00GHz\n");
	assert_base(2600000);
}

TEST_IN_TREE(with_turbo_off_the_highest_is_the_base)
{
	put_policy("intel_pstate", "800000", "3300000");
	tree_put(CPU "intel_pstate/no_turbo", "1\n");
	assert_base(3300000);
	tree_put(CPU "intel_pstate/no_turbo", "0\n");
	assert_base(-1);
}

TEST_IN_TREE(the_base_of_cppc_follows_from_the_performance)
{
	put_policy("cppc_cpufreq", "1000000", "3000000");
	assert_base(3000000); /* this driver without a switch has no turbo */
	tree_put(CPU "cpufreq/boost", "0\n");
	assert_base(3000000);
	tree_put(CPU "cpufreq/boost", "1\n");
	assert_base(-1);
	tree_put(CPU "cpu0/acpi_cppc/highest_perf", "300\n");
	tree_put(CPU "cpu0/acpi_cppc/nominal_perf", "260\n");
	assert_base(2600000);
}

static void put_register(int64_t number, uint64_t value)
{
	_cleanup_(closep) int fd = openat(tree.fd, "dev/cpu/0/msr", O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, &value, sizeof(value), number), sizeof(value));
}

TEST_IN_TREE(registers_tell_base_and_turbo_where_nothing_else_does)
{
	_cleanup_(frequency_clear) struct frequency frequency = {};

	put_policy("made-up", "800000", "3300000");
	tree_put("dev/cpu/0/msr", "");
	put_register(0xce, UINT64_C(0x80000000001a00));
	put_register(0x1a0, UINT64_C(0x4000850089));
	frequency_read(&frequency, tree.fd);
	assert_int_equal(frequency.policies[0].base_khz, -1);
	assert_int_equal(frequency.msr_turbo_off, -1);
	frequency_read_registers(&frequency, tree.fd, "AuthenticAMD");
	assert_int_equal(frequency.msr_turbo_off, -1);
	frequency_read_registers(&frequency, tree.fd, "GenuineIntel");
	assert_int_equal(frequency.policies[0].base_khz, 2600000);
	assert_int_equal(frequency.msr_turbo_off, 1);
	put_register(0x1a0, UINT64_C(0x850089));
	frequency_read_registers(&frequency, tree.fd, "GenuineIntel");
	assert_int_equal(frequency.msr_turbo_off, 0);
}

static void assert_types(const char *words)
{
	_cleanup_(core_types_clear) struct core_types types = {};
	_cleanup_(freep) char *text = NULL;

	core_types_read(&types, tree.fd);
	text = core_types_text(&types);
	assert_string_equal(text, words);
}

static void put_of_cpus(const char *file, const char *const *values)
{
	for (int cpu = 0; values[cpu]; cpu++)
		tree_put(text_brief(CPU "cpu%d/%s", cpu, file), values[cpu]);
}

TEST_IN_TREE(types_of_cores_are_told_by_what_the_kernel_has_for_them)
{
	_cleanup_(core_types_clear) struct core_types types = {};

	assert_types("");
	tree_put(POLICY(0) "/related_cpus", "0-1\n");
	tree_put(POLICY(0) "/base_frequency", "3200000\n");
	tree_put(POLICY(2) "/related_cpus", "2-3\n");
	tree_put(POLICY(2) "/base_frequency", "3200000\n");
	assert_types("");
	tree_put(POLICY(2) "/base_frequency", "2400000\n");
	assert_types("3200 MHz (CPU 0-1), 2400 MHz (CPU 2-3)");
	put_of_cpus("acpi_cppc/nominal_freq",
		(const char *const[]){"2000", "2000", "3000", "3000", NULL});
	assert_types("3000 MHz (CPU 2-3), 2000 MHz (CPU 0-1)");
	put_of_cpus(
		"acpi_cppc/highest_perf", (const char *const[]){"166", "166", "255", "255", NULL});
	assert_types("performance 255 (CPU 2-3), performance 166 (CPU 0-1)");
	put_of_cpus("cpu_capacity", (const char *const[]){"446", "1024", "1024", "446", NULL});
	assert_types("capacity 1024 (CPU 1-2), capacity 446 (CPU 0,3)");
	tree_put("sys/devices/cpu_atom/cpus", "2-3\n");
	tree_put("sys/devices/cpu_core/cpus", "0-1\n");
	assert_types("P-core (CPU 0-1), E-core (CPU 2-3)");
	core_types_read(&types, tree.fd);
	assert_string_equal(core_types_of(&types, 3)->name, "E-core");
	assert_null(core_types_of(&types, 4));
}

TEST_IN_TREE(favoured_cores_are_of_one_type)
{
	put_of_cpus(
		"acpi_cppc/highest_perf", (const char *const[]){"236", "231", "226", "216", "206",
						  "196", "191", "181", "171", "166", NULL});
	put_of_cpus("cpu_capacity", (const char *const[]){"1024", "1024", NULL});
	assert_types("");
}
