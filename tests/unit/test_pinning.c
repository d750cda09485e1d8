/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs a program can be pinned to, out of made-up /sys trees. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/process/pinning.h"

static struct error err;

TEST_IN_TREE(a_cpu_must_exist_and_be_online)
{
	tree_put("sys/devices/system/cpu/online", "0-1,3\n");
	tree_put("sys/devices/system/cpu/present", "0-3\n");
	assert_int_equal(pinning_check(0, tree.fd, &err), 0);
	assert_int_equal(pinning_check(3, tree.fd, &err), 0);
	assert_int_equal(pinning_check(2, tree.fd, &err), -EINVAL);
	assert_string_equal(err.text, "CPU 2 is offline: choose one of 0-1,3");
	assert_int_equal(pinning_check(64, tree.fd, &err), -EINVAL);
	assert_string_equal(err.text, "CPU 64 does not exist: choose one of 0-1,3");
}

TEST_IN_TREE(a_machine_that_does_not_say_is_not_in_the_way)
{
	assert_int_equal(pinning_check(7, tree.fd, &err), 0);
}

TEST(the_option_reads_a_cpu_of_this_machine)
{
	int cpu = -1;

	assert_int_equal(pinning_option("0", "--cpu", &cpu, &err), 0);
	assert_int_equal(cpu, 0);
	assert_int_equal(pinning_option("4000000", "--cpu", &cpu, &err), -EINVAL);
	assert_non_null(strstr(err.text, "CPU 4000000 does not exist"));
	assert_int_equal(pinning_option("x", "--cpu", &cpu, &err), -EINVAL);
	assert_non_null(strstr(err.text, "--cpu must be a whole number"));
	assert_int_equal(cpu, 0);
}
