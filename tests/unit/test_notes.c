/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings for which the line has no room. */
#include "tests/unit/check.h"

#include "lib/report/notes.h"

#include <locale.h>

/* As the first of `n` notes, of which `most` lines are shown, in so many columns. */
static void check_note(const char *columns, const char *text, size_t n, const char *expected)
{
	_cleanup_(notes_clear) struct notes notes = {};
	_cleanup_(freep) char *printed = NULL;

	notes_add(&notes, NOTE_PROGRAM, "%s", text);
	for (size_t i = 1; i < n; i++)
		notes_add(&notes, NOTE_OTHER, "another");
	setenv("COLUMNS", columns, true);
	printed = PRINTED(file, notes_print(file, &notes, 1, "nowhere"));
	unsetenv("COLUMNS");
	assert_string_equal(printed, expected);
}

TEST(a_warning_that_fits_is_whole)
{
	check_note("60", "Warning: the program failed in 5 of 20 samples (twice each)", 1,
		"  Warning: the program failed in 5 of 20 samples (-v)\n");
	check_note("62", "Warning: the program failed in 5 of 20 samples (twice each)", 1,
		"  Warning: the program failed in 5 of 20 samples (twice each)\n");
	check_note("60", "Warning: the program failed", 3,
		"  Warning: the program failed; 2 more (-v)\n");
}

TEST(a_long_one_ends_where_a_clause_ends)
{
	static const char *const rests[] = {
		"; its output is in the file that --output names",
		": it could not find the file that --input names",
		" (it could not find the file that --input names)",
		"; it did so twice: it could not find the file that --input names",
	};

	for (size_t i = 0; i < ELEMENTS(rests); i++) {
		_cleanup_(freep) char *text = text_format(
			"Warning: the program failed%s", rests[i]);

		check_note("60", text, 1,
			i < 3 ? "  Warning: the program failed (-v)\n"
			      : "  Warning: the program failed; it did so twice (-v)\n");
	}
}

TEST(it_does_not_end_within_brackets)
{
	check_note("60",
		"Warning: the program failed (twice; the second time rather late) and went on", 1,
		"  Warning: the program failed (-v)\n");
	check_note("60",
		"Warning: it failed (twice; the second time late); "
		"and went on to do something else",
		1, "  Warning: it failed (twice; the second time late) (-v)\n");
}

TEST(what_has_no_clause_that_fits_is_cut)
{
	check_note("60",
		"Warning: the program has failed again and again and again and again and again", 1,
		"  Warning: the program has failed again and again and … (-v)\n");
	check_note("60",
		"the program has failed again and again and again and again and again "
		"and again; so",
		1, "  the program has failed again and again and again and… (-v)\n");
}

int check_begin(void)
{
	unsetenv("COLUMNS");
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}
