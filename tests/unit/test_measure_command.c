/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands to measure, made from operands and options. */
#include "tests/unit/check.h"
#include "tests/unit/parameters.h"

#include "measure/command.h"

static struct error err;

#define LIST(...)                                            \
	((struct option_list){(const char *[]){__VA_ARGS__}, \
		sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)})

static int try_to_make(
	const struct measure_options *o, struct option_list operands, struct commands *ret)
{
	return commands_make(o, (int)operands.n, (char **)(uintptr_t)operands.items, ret, &err);
}

static struct commands c;

static void make(const struct measure_options *o, struct option_list operands)
{
	commands_clear(&c);
	if (try_to_make(o, operands, &c) < 0)
		fail_msg("%s", err.text);
}

static int clear(void **state)
{
	commands_clear(&c);
	return 0;
}

#define TEST_OF_COMMANDS(name) TEST_WITH(name, NULL, clear)

static void assert_error(
	const struct measure_options *o, struct option_list operands, int r, const char *sentence)
{
	struct commands commands;

	assert_int_equal(try_to_make(o, operands, &commands), r);
	assert_non_null(strstr(err.text, sentence));
}

TEST_OF_COMMANDS(each_operand_is_a_command_line)
{
	make(&(struct measure_options){}, LIST("echo 'a b' c", "true"));
	assert_int_equal(c.n, 2);
	assert_string_equal(c.items[0].argv[1], "a b");
	assert_string_equal(c.items[0].argv[2], "c");
	assert_null(c.items[0].argv[3]);
	assert_string_equal(c.items[0].name, "echo 'a b' c");
	assert_null(c.items[0].prepare);
	assert_string_equal(c.items[1].name, "true");
}

TEST_OF_COMMANDS(a_shell_gets_the_line_as_it_is)
{
	char *shell[] = {(char *)"/bin/sh", NULL};

	make(&(struct measure_options){.shell_words = shell}, LIST("echo a | cat"));
	assert_string_equal(c.items[0].argv[0], "/bin/sh");
	assert_string_equal(c.items[0].argv[1], "-c");
	assert_string_equal(c.items[0].argv[2], "echo a | cat");
}

TEST_OF_COMMANDS(parameters_are_replaced_in_the_command_its_name_and_its_hooks)
{
	struct measure_options o = {.setup = "s {x}",
		.cleanup = "c {x}",
		.prepare = LIST("p {x}"),
		.conclude = LIST("q {x}"),
		.names = LIST("n {x}")};

	assert_int_equal(parameters_add_list(&o.parameters, "x", "1,2", &err), 0);
	make(&o, LIST("echo {x}"));
	assert_int_equal(c.n, 2);
	assert_string_equal(c.items[1].text, "echo 2");
	assert_string_equal(c.items[1].argv[1], "2");
	assert_string_equal(c.items[1].name, "n 2");
	assert_string_equal(c.items[1].setup, "s 2");
	assert_string_equal(c.items[1].prepare, "p 2");
	assert_string_equal(c.items[1].conclude, "q 2");
	assert_string_equal(c.items[1].cleanup, "c 2");
	assert_string_equal(c.items[1].values[0], "2");
	parameters_clear(&o.parameters);
}

TEST_OF_COMMANDS(the_reference_comes_first_and_has_no_parameters)
{
	struct measure_options o = {.reference = "echo {x}", .names = LIST("mine {x}")};

	assert_int_equal(parameters_add_list(&o.parameters, "x", "1,2", &err), 0);
	make(&o, LIST("true {x}"));
	assert_int_equal(c.n, 3);
	assert_string_equal(c.items[0].name, "echo {x}");
	assert_null(c.items[0].values);
	assert_string_equal(c.items[1].name, "mine 1");
	assert_string_equal(c.items[2].argv[1], "2");
	o.reference_name = "base";
	make(&o, LIST("true"));
	assert_string_equal(c.items[0].name, "base");
	parameters_clear(&o.parameters);
}

TEST_OF_COMMANDS(one_name_is_not_for_several_values)
{
	struct measure_options o = {.names = LIST("mine")};

	assert_int_equal(parameters_add_list(&o.parameters, "x", "1,2", &err), 0);
	assert_error(&o, LIST("true {x}"), -EINVAL,
		"'mine' is the name of 2 commands: put the parameter into it ('mine {x}')");
	parameters_clear(&o.parameters);
}

TEST_OF_COMMANDS(an_option_is_given_once_or_for_each_line_or_for_each_command)
{
	struct measure_options o = {.prepare = LIST("p"),
		.output = LIST("null", "pipe"),
		.conclude = LIST("1", "2", "3", "4")};

	assert_int_equal(parameters_add_list(&o.parameters, "x", "1,2", &err), 0);
	make(&o, LIST("echo {x}", "true"));
	assert_int_equal(c.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(c.items[i].prepare, "p");
		assert_string_equal(c.items[i].output, i < 2 ? "null" : "pipe");
		assert_int_equal(c.items[i].conclude[0], (int)('1' + i));
	}
	o.output = LIST("null", "pipe", "inherit");
	assert_error(&o, LIST("echo {x}", "true"), -EINVAL,
		"--output is given 3 times: give it once for all, "
		"or once for each of the 4 commands");
	parameters_clear(&o.parameters);
}

TEST(too_many_names_and_commands_are_errors)
{
	struct measure_options o = {.names = LIST("a", "b")};

	assert_error(&o, LIST("true"), -EINVAL, "there are 2 names for 1 command");
	assert_int_equal(parameters_add_scan(&o.parameters, "x", "1", "1000", "1", &err), 0);
	assert_int_equal(parameters_add_scan(&o.parameters, "y", "1", "1000", "1", &err), 0);
	assert_error(&o, LIST("true"), -EINVAL, "the parameters make more than 10000 commands");
	parameters_clear(&o.parameters);
}

TEST(a_command_that_does_not_exist_is_named)
{
	const struct measure_options o = {};

	assert_error(&o, LIST("no-such-command"), -ENOENT, "'no-such-command'");
	assert_error(&o, LIST("true", "no-such"), -ENOENT,
		"(for one command with arguments, put -- before it)");
}

TEST_OF_COMMANDS(a_shell_runs_what_needs_one)
{
	static const struct {
		const char *line;
		bool by_shell;
	} lines[] = {{"true a 'b | c' \"d;e\"", false}, {"true | true", true}, {"FOO=1 true", true},
		{"true \"$HOME\"", true}, {"true *.c", true}, {"true >/dev/null", true},
		{"exec true", true}, {"true\ntrue", true}, {"true \\\n x\n", false}};
	const struct measure_options o = {}, none = {.no_shell = true};

	for (size_t i = 0; i < ELEMENTS(lines); i++) {
		const char *line = lines[i].line;

		make(&o, LIST(line));
		assert_int_equal(c.items[0].by_shell, lines[i].by_shell);
		assert_string_equal(c.items[0].name, line);
		assert_string_equal(c.items[0].argv[0], lines[i].by_shell ? "/bin/sh" : "true");
		if (lines[i].by_shell)
			assert_error(&none, LIST(line), -EINVAL, "there is none with -N");
	}
}
