/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that are files, and the isolated partition, on made-up machines: found, read, written.
 * tests/machine/setup_isolation.sh has the kernel's partitions. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/process/pinning.h"
#include "lib/host/system/kernel_setting.h"

static void expect(const char *path, enum kernel_setting_kind kind, const char *value)
{
	struct kernel_setting setting = {.root_fd = tree.fd, .path = path, .kind = kind};
	_cleanup_(freep) char *held = NULL;

	assert_int_equal(kernel_setting_read(&setting, &held), 0);
	assert_string_equal(held, value);
}

/* held: NULL where that does not matter. */
static void expect_set(const struct kernel_setting *setting, const char *value,
	enum kernel_setting_outcome outcome, int error, const char *held)
{
	struct kernel_setting_result result = kernel_setting_set(setting, value);

	assert_int_equal(result.outcome, outcome);
	assert_int_equal(result.error, error);
	if (held)
		assert_string_equal(result.held, held);
	free(result.held);
}

TEST_IN_TREE(a_pattern_opens_into_files_in_the_order_of_their_numbers)
{
	struct paths paths = {};

	tree_put("sys/cpu/cpu10/epb", "6\n");
	tree_put("sys/cpu/cpu2/epb", "6\n");
	tree_put("sys/cpu/cpu1/other", "6\n");
	tree_put("sys/cpu/cpufreq/epb", "6\n");
	paths = paths_expand(tree.fd, "/sys/cpu/cpu[0-9]*/epb");
	assert_int_equal(paths.n, 2);
	assert_string_equal(paths.items[0], "/sys/cpu/cpu2/epb");
	assert_string_equal(paths.items[1], "/sys/cpu/cpu10/epb");
	paths_clear(&paths);
	paths = paths_expand(tree.fd, "/sys/nothing/*");
	assert_int_equal(paths.n, 0);
	paths_clear(&paths);
}

TEST_IN_TREE(the_bracketed_word_is_the_value)
{
	struct kernel_setting setting = {
		.root_fd = tree.fd, .path = "/sys/other", .kind = SETTING_BRACKETED};
	char *value = NULL;

	tree_put("sys/thp", "always [madvise] never\n");
	expect("/sys/thp", SETTING_BRACKETED, "madvise");
	tree_put("sys/other", "always\n");
	assert_int_equal(kernel_setting_read(&setting, &value), -EBADMSG);
}

TEST_IN_TREE(a_value_is_set_once_and_read_back)
{
	struct kernel_setting setting = {.root_fd = tree.fd, .path = "/sys/knob"};

	tree_put("sys/knob", "old\n");
	expect_set(&setting, "new", SETTING_CHANGED, 0, "new");
	expect_set(&setting, "new", SETTING_ALREADY, 0, "new");
}

TEST_IN_TREE(a_missing_file_is_absent_and_an_unwritable_one_refused)
{
	struct kernel_setting missing = {.root_fd = tree.fd, .path = "/sys/missing"};
	struct kernel_setting directory = {.root_fd = tree.fd, .path = "/sys"};

	tree_put("sys/knob", "old\n");
	expect_set(&missing, "new", SETTING_ABSENT, 0, NULL);
	expect_set(&directory, "new", SETTING_REFUSED, -EISDIR, NULL);
}

TEST_IN_TREE(limits_are_two_files_and_one_value)
{
	struct kernel_setting setting = {
		.root_fd = tree.fd, .path = "/sys/policy0", .kind = SETTING_LIMITS};

	tree_put("sys/policy0/scaling_min_freq", "800000\n");
	tree_put("sys/policy0/scaling_max_freq", "4700000\n");
	expect("/sys/policy0", SETTING_LIMITS, "800000 4700000");
	expect_set(
		/* nobody to write them */
		&setting, "3600000 3600000", SETTING_REFUSED, -EOPNOTSUPP, NULL);
}

static int write_less(const char *path, const char *value)
{
	tree_put("sys/knob", "less\n");
	return 0;
}

TEST_IN_TREE(a_value_that_the_kernel_changes_is_clamped)
{
	struct kernel_setting setting = {
		.root_fd = tree.fd, .path = "/sys/knob", .write = write_less};

	tree_put("sys/knob", "old\n");
	expect_set(&setting, "new", SETTING_CLAMPED, 0, "less");
}

TEST(limits_are_shown_in_megahertz)
{
	assert_string_equal(
		kernel_setting_description(SETTING_LIMITS, "800000 4700000"), "800 to 4700 MHz");
	assert_string_equal(
		kernel_setting_description(SETTING_PLAIN, "performance"), "performance");
	assert_null(kernel_setting_description(SETTING_PLAIN, NULL));
}

TEST_IN_TREE(a_partition_is_its_cpus_or_none)
{
	_cleanup_(freep) char *directory = NULL;

	assert_null(partition_directory(tree.fd));
	tree_put("proc/self/mountinfo", "25 20 0:22 / /c rw - cgroup2 cgroup2 rw\n");
	directory = partition_directory(tree.fd);
	assert_string_equal(directory, "/c/emp-isolated");
	expect(directory, SETTING_PARTITION, "none");
	assert_false(partition_has(tree.fd, 3));
	tree_put("c/emp-isolated/cpuset.cpus", "1,3\n");
	expect(directory, SETTING_PARTITION, "member");
	tree_put("c/emp-isolated/cpuset.cpus.partition",
		"isolated invalid (Parent is not a partition root)\n");
	expect(directory, SETTING_PARTITION, "member");
	tree_put("c/emp-isolated/cpuset.cpus.partition", "isolated\n");
	expect(directory, SETTING_PARTITION, "1,3");
	assert_true(partition_has(tree.fd, 3));
	assert_false(partition_has(tree.fd, 2));
}

TEST_IN_TREE(the_cpuset_controller_is_on_or_off)
{
	tree_put("c/cgroup.subtree_control", "cpu memory pids\n");
	expect("/c/cgroup.subtree_control", SETTING_CPUSET, "-cpuset");
	tree_put("c/cgroup.subtree_control", "cpuset\n");
	expect("/c/cgroup.subtree_control", SETTING_CPUSET, "+cpuset");
	tree_put("c/cgroup.subtree_control", "cpu cpuset io\n");
	expect("/c/cgroup.subtree_control", SETTING_CPUSET, "+cpuset");
}
