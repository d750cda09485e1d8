/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of any user on a terminal. */
#include "tests/unit/check.h"

#include "lib/base/terminal.h"

TEST(what_a_terminal_would_act_on_is_not_shown_as_it_is)
{
	assert_string_equal(terminal_text("\x1b]0;PWN\x07"), "?]0;PWN?");
	assert_string_equal(terminal_text("a\nb\tc\rd\x7f"), "a b c?d?");
	assert_string_equal(terminal_text("\xc2\x9b"
					  "2J"),
		"?2J"); /* U+009B, as ESC [ */
	assert_string_equal(terminal_text("a\xe2\x80\xae"
					  "b\xe2\x81\xa6"
					  "c\xd8\x9c"
					  "d\xe2\x80\xa8"),
		"a?b?c?d?");
	assert_string_equal(terminal_text("caf\xe9\xff"), "caf\\xe9\\xff");
}

TEST(other_text_is_shown_as_it_is)
{
	const char *plain = "cron.service 'x' `y` @z";

	assert_ptr_equal(terminal_text(plain), plain);
	assert_string_equal(terminal_text("café … ± ü 日本"), "café … ± ü 日本");
	assert_string_equal(terminal_text("\xe2\x80\x90\xe2\x81\xaa\xd8\x9d"),
		"\xe2\x80\x90\xe2\x81\xaa\xd8\x9d");
	assert_null(terminal_text(NULL));
}

TEST(sixteen_texts_can_be_used_at_once)
{
	const char *texts[16];

	for (int i = 0; i < 16; i++)
		texts[i] = terminal_text((char[]){(char)('a' + i), '\n', '\0'});
	for (int i = 0; i < 16; i++)
		assert_int_equal(texts[i][0], 'a' + i);
}

/* `text` in so many columns. */
static void check_wrapped(const char *columns, const char *text, const char *expected)
{
	_cleanup_(freep) char *wrapped = NULL;

	setenv("COLUMNS", columns, true);
	wrapped = PRINTED(file, terminal_wrap(file, text, 0, 2));
	unsetenv("COLUMNS");
	assert_string_equal(wrapped, expected);
}

TEST(a_number_is_not_parted_from_its_unit_and_a_range_is_one_word)
{
	check_wrapped("16", "it took about 12 ms, or so", "it took about\n  12 ms, or so\n");
	check_wrapped("16", "it took about 12 % of it", "it took about\n  12 % of it\n");
	check_wrapped(
		"20", "it was from 1.5 … 2.25 ms long", "it was from\n  1.5 … 2.25 ms long\n");
	check_wrapped(
		"20", "it was from 1.5 s … 2.25 s long", "it was from\n  1.5 s … 2.25 s\n  long\n");
	/* what follows is a word of its own: no unit has so many letters */
	check_wrapped("16", "it took about 12 samples", "it took about 12\n  samples\n");
	check_wrapped("16", "it took about x ms", "it took about x\n  ms\n");
	check_wrapped("16", "it ends with a 7", "it ends with a 7\n");
}

TEST(the_blank_after_a_word_that_ends_at_the_indent_is_kept)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	terminal_wrap(file, "perf task-clock", 0, 4);
	fclose(file);
	assert_string_equal(text, "perf task-clock\n");
	free(text);
}
