/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names file of this machine. */
#include "tests/unit/check.h"

#include "lib/protocol/names.h"

TEST(a_file_that_was_named_must_be_there)
{
	struct names names = {};
	struct error err = {};

	setenv("EMP_NAMES", "/nonexistent/names", 1);
	assert_int_equal(names_load(&names, NULL, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read the names of processes in '/nonexistent/names': "
				      "No such file or directory");
	unsetenv("EMP_NAMES");
	assert_int_equal(names_load(&names, NULL, &err), 0);
	assert_string_equal(name_group(names.rows, "kworker/2:1"), "kworker");
	names_clear(&names);
}
