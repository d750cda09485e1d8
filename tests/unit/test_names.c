/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under which name a process counts. */
#include "tests/unit/check.h"

#include "lib/protocol/names.h"

static void kernel_workers_are_grouped(void **state)
{
	assert_string_equal(name_group(names_default, "kworker/0:1-events"), "kworker");
	assert_string_equal(name_group(names_default, "kworker/3:2H"), "kworker");
	assert_string_equal(name_group(names_default, "kworker/u8:0-flush-8:0"), "kworker/u");
	assert_string_equal(name_group(names_default, "kworker/R-mld"), "kworker/R-mld");
}

/* EMP, Table VIII, has them by these names. */
static void other_names_are_their_own(void **state)
{
	assert_string_equal(name_group(names_default, "kblockd/0"), "kblockd/0");
	assert_string_equal(name_group(names_default, "jbd2/md0-8"), "jbd2/md0-8");
	assert_string_equal(name_group(names_default, "rhsmcertd-worke"), "rhsmcertd-worke");
}

static void the_first_pattern_that_fits_counts(void **state)
{
	static const struct name_pattern patterns[] = {{"php-fpm*", "php"}, {"php*", "other"}, {}};

	assert_string_equal(name_group(patterns, "php-fpm7"), "php");
	assert_string_equal(name_group(patterns, "php"), "other");
	assert_string_equal(name_group(patterns, "kworker/0:1"), "kworker/0:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_workers_are_grouped),
		cmocka_unit_test(other_names_are_their_own),
		cmocka_unit_test(the_first_pattern_that_fits_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
