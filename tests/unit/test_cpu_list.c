/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists and masks of CPUs. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/host/cpu/cpus.h"

static void assert_without(
	char *(*without)(const char *, const int *, size_t), const char *all, const char *rest)
{
	static const int cpus[] = {1, 35};
	_cleanup_(freep) char *text = without(all, cpus, 2);

	assert_string_equal(text, rest);
}

TEST(cpus_leave_a_list_as_the_kernel_writes_it)
{
	assert_without(cpu_list_without, "0-3,8", "0,2-3,8");
	assert_without(cpu_list_without, "0-40", "0,2-34,36-40");
	assert_without(cpu_list_without, "1", "");
	assert_without(cpu_list_without, "2", "2");
	assert_null(cpu_list_without("x", NULL, 0));
}

TEST(cpus_leave_a_mask_with_its_digits_and_commas)
{
	assert_without(cpu_mask_without, "3", "1");
	assert_without(cpu_mask_without, "ff,ffffffff", "f7,fffffffd");
	assert_without(cpu_mask_without, "00000002", "00000000");
	assert_null(cpu_mask_without("0x3", NULL, 0));
}

TEST(a_mask_is_as_long_as_another)
{
	static const int cpus[] = {0, 1, 33};
	_cleanup_(freep) char *mask = cpu_mask_of("ff,ffffffff", cpus, 3);

	assert_string_equal(mask, "02,00000003");
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
