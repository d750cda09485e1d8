/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LaTeX: columns of numbers with their units, and texts in which no character has a meaning. */
#include "tests/unit/check.h"

#include "lib/base/latex.h"
#include "lib/base/table.h"

#include <locale.h>

static void check_text(const char *text, const char *expected)
{
	_cleanup_(freep) char *printed = PRINTED(file, latex_put_text(file, text));

	assert_string_equal(printed, expected);
}

static void check_number(const char *const *texts, size_t n, const char *format, const char *unit,
	const char *const *expected)
{
	struct latex_numbers numbers = latex_numbers_of(texts, n);
	_cleanup_(freep) char *of_format = PRINTED(file, latex_put_format(file, &numbers));
	_cleanup_(freep) char *of_unit = PRINTED(file, latex_put_unit(file, &numbers));

	assert_true(numbers.found);
	assert_string_equal(of_format, format);
	assert_string_equal(of_unit, unit);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *number = PRINTED(
			file, latex_put_number(file, &numbers, texts[i]));

		assert_string_equal(number, expected[i]);
	}
}

TEST(nothing_has_whatever_unit_the_others_have)
{
	static const char *const texts[] = {"0 ns", "1.5 ms", "12 s"};
	static const char *const expected[] = {"0", "1.5", "12000"};

	check_number(texts, 3, "S[table-format=5.1]", " (\\unit{\\milli\\second})", expected);
}

TEST(a_power_of_ten_is_one_for_siunitx_too)
{
	_cleanup_(freep) char *number = PRINTED(file, latex_put_quantity(file, "1.44e+03"));
	_cleanup_(freep) char *word = PRINTED(file, latex_put_quantity(file, "1.5e"));

	assert_string_equal(number, "\\num{1.44e+03}");
	assert_string_equal(word, "1.5e");
}

TEST(times_of_a_column_have_one_unit_and_all_their_digits)
{
	static const char *const texts[] = {"127.9 ms", "1.02 s", "850 us", "-", "0.5 ms"};
	static const char *const expected[] = {"127900", "1020000", "850", "{--}", "500"};

	check_number(texts, 5, "S[table-format=7.0]", " (\\unit{\\micro\\second})", expected);
}

TEST(percent_and_plain_numbers_keep_their_decimals)
{
	static const char *const shares[] = {"3.6 %", "-12 %", "0.036 %"};
	static const char *const of_shares[] = {"3.6", "-12", "0.036"};
	static const char *const counts[] = {"800", "15"};

	check_number(shares, 3, "S[table-format=-2.3]", " (\\unit{\\percent})", of_shares);
	check_number(counts, 2, "S[table-format=3.0]", "", counts);
}

TEST(what_is_not_all_numbers_of_one_kind_is_text)
{
	static const char *const intervals[] = {"1.0 … 1.2 ms"}, *const mixed[] = {"1 ms", "2 %"},
				 *const words[] = {"12 ms", "nothing"},
				 *const unknown[] = {"-", "-"}, *const sums[] = {"15+5"};

	assert_false(latex_numbers_of(intervals, 1).found);
	assert_false(latex_numbers_of(mixed, 2).found);
	assert_false(latex_numbers_of(words, 2).found);
	assert_false(latex_numbers_of(unknown, 2).found);
	assert_false(latex_numbers_of(sums, 1).found);
}

TEST(no_character_of_a_text_has_a_meaning)
{
	check_text("50 % of $x_1 & {a} #", "50 \\% of \\$x\\_1 \\& \\{a\\} \\#");
	check_text("\\input{/etc/passwd}", "\\textbackslash{}input\\{/etc/passwd\\}");
	check_text("1 … 2", "1 -- 2");
	check_text("a~b^c", "a\\textasciitilde{}b\\textasciicircum{}c");
}

TEST(a_table_is_a_float_with_a_caption_and_rules)
{
	static const struct column columns[] = {{"NAME"}, {"MEAN", COLUMN_NUMBER, "mean"},
		{"CI", COLUMN_NUMBER}, {NULL, COLUMN_NUMBER, "low"}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	_cleanup_(freep) char *printed = NULL;

	table_row(table, columns, TEXT("a_b"), TEXT("1.5 ms"), TEXT("1 … 2 us"), NUMBER(1));
	printed = PRINTED(file, table_write_latex(table, "At 95 %", file));
	assert_string_equal(printed, "% \\usepackage{booktabs, siunitx}\n"
				     "\\begin{table}\n"
				     "\\centering\n"
				     "\\caption{At 95 \\%}\n"
				     "\\begin{tabular}{lS[table-format=1.1]r}\n"
				     "\\toprule\n"
				     "{NAME} & {MEAN (\\unit{\\milli\\second})} & {CI} \\\\\n"
				     "\\midrule\n"
				     "a\\_b & 1.5 & 1 -- 2~\\unit{\\micro\\second} \\\\\n"
				     "\\bottomrule\n"
				     "\\end{tabular}\n"
				     "\\end{table}\n");
}

int check_begin(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}
