/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that are files: found, read, written. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/base/paths.h"
#include "lib/host/system/kernel.h"

static void expect(const char *path, enum kernel_setting_kind kind, const char *value)
{

	struct kernel_setting setting = {.root_fd = tree.fd, .path = path, .kind = kind};
	char *held = NULL;

	assert_int_equal(kernel_setting_read(&setting, &held), 0);

	assert_string_equal(held, value);
	free(held);
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
	struct kernel_setting setting = {.root_fd = tree.fd, .path = "/sys/other", .kind = SETTING_BRACKETED};
	char *value = NULL;

	tree_put("sys/thp", "always [madvise] never\n");
	expect("/sys/thp", SETTING_BRACKETED, "madvise");
	tree_put("sys/other", "always\n");
	assert_int_equal(kernel_setting_read(&setting, &value), -EBADMSG);
}

TEST_IN_TREE(a_value_is_set_once_and_read_back)
{
	struct kernel_setting setting = {.root_fd = tree.fd, .path = "/sys/knob"};
	struct kernel_setting_result result;

	tree_put("sys/knob", "old\n");
	result = kernel_setting_set(&setting, "new");
	assert_int_equal(result.outcome, SETTING_CHANGED);
	assert_string_equal(result.held, "new");
	free(result.held);
	result = kernel_setting_set(&setting, "new");
	assert_int_equal(result.outcome, SETTING_ALREADY);
	free(result.held);
}

TEST_IN_TREE(a_missing_file_is_absent_and_an_unwritable_one_refused)
{
	struct kernel_setting missing = {.root_fd = tree.fd, .path = "/sys/missing"};
	struct kernel_setting directory = {.root_fd = tree.fd, .path = "/sys"};
	struct kernel_setting_result result;

	tree_put("sys/knob", "old\n");
	result = kernel_setting_set(&missing, "new");
	assert_int_equal(result.outcome, SETTING_ABSENT);
	result = kernel_setting_set(&directory, "new");
	assert_int_equal(result.outcome, SETTING_REFUSED);
	assert_int_equal(result.error, -EISDIR);
}

TEST_IN_TREE(limits_are_two_files_and_one_value)
{
	struct kernel_setting setting = {.root_fd = tree.fd, .path = "/sys/policy0", .kind = SETTING_LIMITS};
	struct kernel_setting_result result;

	tree_put("sys/policy0/scaling_min_freq", "800000\n");
	tree_put("sys/policy0/scaling_max_freq", "4700000\n");
	expect("/sys/policy0", SETTING_LIMITS, "800000 4700000");
	result = kernel_setting_set(&setting, "3600000 3600000"); /* nobody to write them */
	assert_int_equal(result.outcome, SETTING_REFUSED);
	assert_int_equal(result.error, -EOPNOTSUPP);
	free(result.held);
}

static int write_less(const char *path, const char *value)
{
	tree_put("sys/knob", "less\n");
	return 0;
}

TEST_IN_TREE(a_value_that_the_kernel_changes_is_clamped)
{
	struct kernel_setting setting = {.root_fd = tree.fd, .path = "/sys/knob", .write = write_less};
	struct kernel_setting_result result;

	tree_put("sys/knob", "old\n");
	result = kernel_setting_set(&setting, "new");
	assert_int_equal(result.outcome, SETTING_CLAMPED);
	assert_string_equal(result.held, "less");
	free(result.held);
}

TEST(limits_are_shown_in_megahertz)
{
	char *words = kernel_setting_description(SETTING_LIMITS, "800000 4700000");

	assert_string_equal(words, "800 to 4700 MHz");
	free(words);
	words = kernel_setting_description(SETTING_PLAIN, "performance");
	assert_string_equal(words, "performance");
	free(words);
	assert_null(kernel_setting_description(SETTING_PLAIN, NULL));
}
