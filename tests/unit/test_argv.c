/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command line as one text, and as words. */
#include "tests/unit/check.h"

#include "lib/base/argv.h"

static void assert_words(const char *text, const char *const *expected)
{
	_cleanup_(argv_freep) char **words = NULL;
	struct error err = {};

	if (argv_split(text, &words, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; expected[i] || words[i]; i++) {
		assert_non_null(words[i]);
		assert_non_null(expected[i]);
		assert_string_equal(words[i], expected[i]);
	}
}

TEST(words_are_split_as_a_shell_splits_them)
{
	assert_words(" a  b\tc\n", (const char *const[]){"a", "b", "c", NULL});
	assert_words("sleep 0.01 longer word",
		(const char *const[]){"sleep", "0.01", "longer", "word", NULL});
	assert_words("a 'b c' d", (const char *const[]){"a", "b c", "d", NULL});
	assert_words("a\"b 'c\"d ''", (const char *const[]){"ab 'cd", "", NULL});
	assert_words("a\\ b \"\\$x\\\\ \\n\"", (const char *const[]){"a b", "$x\\ \\n", NULL});
	assert_words("x=a~b#c 'a|b' \\;", (const char *const[]){"x=a~b#c", "a|b", ";", NULL});
	assert_words(
		"\n a 'b\nc' \\\n d\\\ne \n \n", (const char *const[]){"a", "b\nc", "de", NULL});
}

TEST(what_needs_a_shell_is_named)
{
	static const char *const texts[] = {"a | b", "a > b", "a; b", "a && b", "echo $x", "ls *.c",
		"~/x", "`x`", "echo \"$x\"", "echo \"`x`\"", "a\nb", "a \n  b"};

	for (size_t i = 0; i < ELEMENTS(texts); i++) {
		struct error err = {};
		char **words;

		assert_int_equal(argv_split(texts[i], &words, &err), -ENOEXEC);
		assert_non_null(strstr(err.text, "needs a shell, or must be quoted, in: "));
	}
}

TEST(an_open_quote_and_an_empty_command_are_errors)
{
	struct error err = {};
	char **words;

	assert_int_equal(argv_split("a 'b", &words, &err), -EINVAL);
	assert_string_equal(err.text, "a quote is not closed in: a 'b");
	assert_int_equal(argv_split("  ", &words, &err), -EINVAL);
	assert_string_equal(err.text, "the command is empty");
}

TEST(what_is_joined_splits_into_the_same_words)
{
	const char *const words[] = {"sh", "-c", "it's \"$x\" | y", "", "a b", "-n=1", NULL};
	_cleanup_(freep) char *text = argv_join((char *const *)words);

	assert_string_equal(text, "sh -c 'it'\\''s \"$x\" | y' '' 'a b' -n=1");
	assert_words(text, words);
}

TEST(a_line_goes_to_a_shell_with_its_options)
{
	const char *const shell[] = {"bash", "--norc", NULL};
	_cleanup_(argv_freep) char **own = argv_for_shell((char *const *)shell, "a | b"),
				   **posix = argv_for_shell(NULL, "a | b");
	_cleanup_(freep) char *own_text = argv_join(own), *posix_text = argv_join(posix);

	assert_string_equal(own_text, "bash --norc -c 'a | b'");
	assert_string_equal(posix_text, "/bin/sh -c 'a | b'");
}

TEST(a_shell_that_is_given_with_its_c_gets_no_second_one)
{
	const struct {
		const char *shell[4], *line;
	} cases[] = {
		{{"bash", "-c"}, "bash -c true"},
		{{"bash", "-e", "-lc"}, "bash -e -lc true"},
		{{"bash", "--norc"}, "bash --norc -c true"},
		{{"/opt/c"}, "/opt/c -c true"},
		{{"sh", "-"}, "sh - -c true"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		_cleanup_(argv_freep) char **words = argv_for_shell(
			(char *const *)cases[i].shell, "true");
		_cleanup_(freep) char *text = argv_join(words);

		assert_string_equal(text, cases[i].line);
	}
}
