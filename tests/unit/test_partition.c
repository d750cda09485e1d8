/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The isolated partition, on made-up machines; tests/machine/setup_isolation.sh has the kernel's. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/system/kernel.h"
#include "lib/host/process/pinning.h"

static void assert_holds(const char *path, enum kernel_setting_kind kind, const char *value)
{
	struct kernel_setting file = {.root_fd = tree.fd, .path = path, .kind = kind};
	_cleanup_(freep) char *held = NULL;

	assert_int_equal(kernel_setting_read(&file, &held), 0);
	assert_string_equal(held, value);
}

TEST_IN_TREE(a_partition_is_its_cpus_or_none)
{
	_cleanup_(freep) char *directory = NULL;

	assert_null(partition_directory(tree.fd));
	tree_put("proc/self/mountinfo", "25 20 0:22 / /c rw - cgroup2 cgroup2 rw\n");
	directory = partition_directory(tree.fd);
	assert_string_equal(directory, "/c/emp-isolated");
	assert_holds(directory, SETTING_PARTITION, "none");
	assert_false(partition_has(tree.fd, 3));
	tree_put("c/emp-isolated/cpuset.cpus", "1,3\n");
	assert_holds(directory, SETTING_PARTITION, "member");
	tree_put("c/emp-isolated/cpuset.cpus.partition",
		"isolated invalid (Parent is not a partition root)\n");
	assert_holds(directory, SETTING_PARTITION, "member");
	tree_put("c/emp-isolated/cpuset.cpus.partition", "isolated\n");
	assert_holds(directory, SETTING_PARTITION, "1,3");
	assert_true(partition_has(tree.fd, 3));
	assert_false(partition_has(tree.fd, 2));
}

TEST_IN_TREE(the_cpuset_controller_is_on_or_off)
{
	tree_put("c/cgroup.subtree_control", "cpu memory pids\n");
	assert_holds("/c/cgroup.subtree_control", SETTING_CPUSET, "-cpuset");
	tree_put("c/cgroup.subtree_control", "cpuset\n");
	assert_holds("/c/cgroup.subtree_control", SETTING_CPUSET, "+cpuset");
	tree_put("c/cgroup.subtree_control", "cpu cpuset io\n");
	assert_holds("/c/cgroup.subtree_control", SETTING_CPUSET, "+cpuset");
}
