/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INI text, line by line. */
#include "tests/unit/check.h"

#include "lib/base/ini_file.h"

static int note(const struct ini_line *line, void *data, struct error *err)
{
	char *seen = data;

	if (!strcmp(line->name, "bad"))
		return error_say(err, -EINVAL, "'%s' is no name", line->name);
	sprintf(seen + strlen(seen), "%d %s %s '%s' '%s'\n", line->n, line->section, line->name,
		line->value, line->whole);
	return 0;
}

TEST(each_line_comes_with_its_number_and_all_of_its_value)
{
	char seen[512] = "";
	struct error err = {};

	assert_int_equal(
		ini_each_line("; what it is\n[one]\na = 1\n \n\ta = b ; c  \r\n[two]\nx: y = z",
			"f", note, seen, &err),
		0);
	assert_string_equal(
		seen, "3 one a '1' '1'\n5 one a 'b' 'b ; c'\n7 two x 'y = z' 'y = z'\n");
}

TEST(the_name_of_a_section_may_be_long)
{
	static const char name[] =
		"a program whose name has more than the 49 bytes that inih keeps";
	char seen[512] = "";
	_cleanup_(freep) char *text = text_format("[%s]\na = 1\n", name);
	_cleanup_(freep) char *expected = text_format("2 %s a '1' '1'\n", name);

	assert_int_equal(ini_each_line(text, "f", note, seen, NULL), 0);
	assert_string_equal(seen, expected);
}

TEST(a_wrong_line_is_named)
{
	char text[400] = "[one]\na = ", seen[512] = "";
	const struct {
		const char *text, *sentence;
	} cases[] = {
		{"[one]\na = 1\nbad = 2\na = 3\n", "f, line 3: 'bad' is no name"},
		{"[one]\nwhat is this\n", "f, line 2: neither a [section] nor 'name = value'"},
		{text, "f, line 2: longer than 198 bytes"},
	};

	memset(text + strlen(text), 'x', 200);
	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct error err = {};

		seen[0] = '\0';
		assert_int_equal(ini_each_line(cases[i].text, "f", note, seen, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].sentence);
		assert_null(strstr(seen, "'3'"));
	}
}
