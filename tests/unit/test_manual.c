/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Manual pages as text: what scdoc writes. */
#include "tests/unit/check.h"

#include "emp/manual.h"

static struct manual manual;

static int clear_manual(void **state)
{
	manual_clear(&manual);
	return 0;
}

static void parse(const char *roff)
{
	_cleanup_(freep) char *copy = xstrdup(roff);

	manual_parse(&manual, "emp-x(1)", copy);
}

static void assert_passage(size_t i, const char *section, const char *text, size_t heading)
{
	assert_true(i < manual.n);
	assert_string_equal(manual.passages[i].page, "emp-x(1)");
	assert_string_equal(manual.passages[i].section, section);
	assert_string_equal(manual.passages[i].text, text);
	assert_int_equal(manual.passages[i].heading, heading);
}

TEST_WITH(lines_of_a_paragraph_are_one_passage, NULL, clear_manual)
{
	parse(".TH \"x\" \"1\"\n.P\n.SH THE NAME\n.P\nOne\\&.\\& \\fBTwo\\fR and\n\\fIthree\\fR\n.P\nIt\\(aqs "
	      "\\*(Aqso\\*(Aq \\e-4\n");
	assert_int_equal(manual.n, 2);
	assert_passage(0, "THE NAME", "One. Two and three", 0);
	assert_passage(1, "THE NAME", "It's 'so' \\-4", 0);
}

TEST_WITH(what_stands_before_an_indented_paragraph_is_its_heading, NULL, clear_manual)
{
	parse(".SS Options\n\\fB-a, --all\\fR \\fIX\\fR\n.RS 4\nAll\nof it.\n.P\nMore.\n.RE\n.P\nNext.\n");
	assert_int_equal(manual.n, 3);
	assert_passage(0, "Options", "-a, --all X: All of it.", strlen("-a, --all X"));
	assert_passage(1, "Options", "More.", 0);
	assert_passage(2, "Options", "Next.", 0);
}

TEST_WITH(a_row_of_a_table_is_headed_by_its_first_cell, NULL, clear_manual)
{
	parse(".SH CHECKS\n.TS\nallbox;l c lx\nl c lx.\nT{\n\\fBid\\fR\nT}\tT{\nlevel\nT}\tT{\nwanted\nT}\nT{\n"
	      "freq.\\&min\nT}\tT{\nA\nT}\tT{\nas high\nas it goes\nT}\n.TE\n.P\nEnd.\n");
	assert_int_equal(manual.n, 3);
	assert_passage(0, "CHECKS", "id  level  wanted", 2);
	assert_passage(1, "CHECKS", "freq.min  A  as high as it goes", strlen("freq.min"));
	assert_passage(2, "CHECKS", "End.", 0);
}

TEST_WITH(each_line_of_an_example_is_a_passage, NULL, clear_manual)
{
	parse(".SH EXAMPLES\n.nf\n.RS 4\nemp a\nemp b\n.fi\n.RE\n");
	assert_int_equal(manual.n, 2);
	assert_passage(0, "EXAMPLES", "emp a", 0);
	assert_passage(1, "EXAMPLES", "emp b", 0);
}

TEST_WITH(a_page_that_is_cut_off_is_read_as_far_as_it_goes, NULL, clear_manual)
{
	static const char *const ends[] = {"\\", "\\f", "\\(", "\\(a", "\\*", "\\*(A", "\\h",
		"\\h'-0", ".RS", ".TS\nT{\na", ".TS\nT}\tT{", ".TS\nT}", ".SH ", ".", ".nf\nx"};

	for (size_t i = 0; i < ELEMENTS(ends); i++) {
		manual_clear(&manual);
		parse(ends[i]);
		assert_true(manual.n <= 1);
	}
}
