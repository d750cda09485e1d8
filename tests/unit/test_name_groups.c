/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under which name a process counts. */
#include "tests/unit/check.h"

#include "lib/protocol/names.h"

TEST(kernel_workers_are_grouped)
{
	assert_string_equal(name_group(names_default, "kworker/0:1-events"), "kworker");
	assert_string_equal(name_group(names_default, "kworker/3:2H"), "kworker");
	assert_string_equal(name_group(names_default, "kworker/u8:0-flush-8:0"), "kworker/u");
	assert_string_equal(name_group(names_default, "kworker/R-mld"), "kworker/R-mld");
}

/* EMP, Table VIII, has them by these names. */
TEST(other_names_are_their_own)
{
	assert_string_equal(name_group(names_default, "kblockd/0"), "kblockd/0");
	assert_string_equal(name_group(names_default, "jbd2/md0-8"), "jbd2/md0-8");
	assert_string_equal(name_group(names_default, "rhsmcertd-worke"), "rhsmcertd-worke");
}

TEST(the_first_pattern_that_fits_counts)
{
	static const struct name_pattern patterns[] = {{"php-fpm*", "php"}, {"php*", "other"}, {}};

	assert_string_equal(name_group(patterns, "php-fpm7"), "php");
	assert_string_equal(name_group(patterns, "php"), "other");
	assert_string_equal(name_group(patterns, "kworker/0:1"), "kworker/0:1");
}

TEST(rows_of_the_user_come_before_the_others)
{
	struct names names = {};
	struct error err = {};

	assert_int_equal(
		names_parse(&names,
			"# mine\n\n  php-fpm* = php-fpm \nkworker/0:* =\nkworker/1:1 = odd one\n",
			"x", &err),
		0);
	assert_string_equal(name_group(names.rows, "php-fpm8.2"), "php-fpm");
	assert_string_equal(name_group(names.rows, "kworker/0:3"), "kworker/0:3");
	assert_string_equal(name_group(names.rows, "kworker/1:1"), "odd one");
	assert_string_equal(name_group(names.rows, "kworker/2:1"), "kworker");
	names_clear(&names);
}

TEST(a_line_that_is_no_row_is_named)
{
	struct names names = {};
	struct error err = {};

	assert_int_equal(names_parse(&names, "a = b\nnonsense\n", "/etc/x", &err), -EINVAL);
	assert_string_equal(err.text, "/etc/x, line 2: 'nonsense' is not PATTERN = GROUP");
	assert_int_equal(names_parse(&names, "= b", "/etc/x", &err), -EINVAL);
	assert_null(names.rows);
}
