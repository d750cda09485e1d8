/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tool of two verbs, and one without any: what they are run with, what they print, and what they
 * refuse. */
#include "tests/unit/check.h"

#include "lib/base/tool.h"

static struct {
	bool json, called, brief;
	int count;
	int64_t time_ns;
	double percent;
	int64_t part_ppm;
	const char *text;
	struct option_list prepare;
	const char *pair[2];
	char operands[256]; /* "A|B|" */
} got;

static int parse_pair(char *const *values, const char *name, void *into, struct error *err)
{
	got.pair[0] = values[0];
	got.pair[1] = values[1];
	return 0;
}

static int run(int argc, char **argv, struct error *err)
{
	got.called = true;
	for (int i = 0; i < argc; i++)
		strcat(strcat(got.operands, argv[i]), "|");
	return 0;
}

static const struct option_row common[] = {
	{'j', "json", NULL, "print JSON", NULL, &got.json, .dash = true},
	{'r', "runs", "N", "how many", option_count, &got.count},
	{},
};

static const struct option_row show_options[] = {
	{'t', "time", "TIME",
		"a summary that is so long that it does not fit into what is left of a line of "
		"eighty columns",
		option_duration, &got.time_ns},
	{0, "share", "PERCENT", "a share", option_percent, &got.percent},
	{0, "part", "PERCENT", "a part of all", option_share, &got.part_ppm},
	{0, "text", "TEXT", "a text", NULL, &got.text},
	{0, "limit", "PERCENT", "a limit", option_limit, &got.percent},
	{'b', "brief", NULL, "less text", NULL, &got.brief, .text = true},
	{0, "old-text", "TEXT", "not shown", NULL, &got.text, true},
	{'p', "prepare", "CMD", "one each", option_append, &got.prepare},
	{'P', "pair", "A B", "two values", NULL, NULL, false, 2, parse_pair},
	{},
};

static const struct verb show = {
	.name = "show",
	.args = "RUN",
	.summary = "one run",
	.min_args = 1,
	.max_args = 2,
	.options = show_options,
	.run = run,
};
static const struct verb list = {.name = "list", .summary = "all runs", .run = run};
static const struct verb draw = {
	.name = "draw", .summary = "a picture", .run = run, .without = "text json"};
static const struct verb *const verbs[] = {&show, &list, &draw, NULL};

static const struct verb only = {
	.args = "COMMAND...", .min_args = 1, .max_args = -1, .options = show_options, .run = run};

static const struct tool with_verbs = {
	"emp-test", "Tests.", "Examples:\n  emp-test list\n", common, verbs};
static const struct tool without = {
	"emp-one", "Tests one.", NULL, common, (const struct verb *const[]){&only, NULL}};

static const struct option_row times_options[] = {
	{'c', "cleanup", "CMD", "run this at the end", NULL, &got.text},
	{0, "export-json", "FILE", "write JSON", NULL, &got.text},
	{},
};
static const struct verb times = {
	.args = "-- COMMAND [ARGUMENT...]",
	.min_args = 1,
	.max_args = -1,
	.options = times_options,
	.run = run,
};
static const struct tool of_commands = {
	"emp-time", "Times commands.", NULL, common, (const struct verb *const[]){&times, NULL}};

enum { MAX_WORDS = 20 };

static char *out, *said; /* what a call printed */

/* Runs the tool with words parted by blanks. */
static int call(const struct tool *tool, const char *words)
{
	static char copy[512]; /* as argv, it outlives the call */
	char *argv[MAX_WORDS + 2] = {(char *)tool->name}, *rest = copy;
	FILE *stdout_before = stdout, *stderr_before = stderr;
	size_t out_size, said_size;
	int argc = 1, status;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *word; (word = strsep(&rest, " ")) && argc <= MAX_WORDS;)
		if (*word)
			argv[argc++] = word;
	free(got.prepare.items);
	memset(&got, 0, sizeof(got));
	free(TAKE(out));
	free(TAKE(said));
	stdout = open_memstream(&out, &out_size);
	stderr = open_memstream(&said, &said_size);
	status = tool_main(tool, argc, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = stdout_before;
	stderr = stderr_before;
	return status;
}

static void check_refused(const struct tool *tool, const char *words, const char *complaint)
{
	assert_int_equal(call(tool, words), STATUS_ERROR);
	assert_false(got.called);
	assert_string_equal(said, complaint);
}

static void check_done(const struct tool *tool, const char *words, const char *operands)
{
	assert_int_equal(call(tool, words), STATUS_DONE);
	assert_true(got.called);
	assert_string_equal(got.operands, operands);
	assert_string_equal(said, "");
}

TEST(options_may_come_before_and_after_the_verb_and_its_operands)
{
	check_done(&with_verbs, "--json show -t 250us 7 --runs=3 8", "7|8|");
	assert_true(got.json);
	assert_int_equal(got.time_ns, 250000);
	assert_int_equal(got.count, 3);
	check_done(&without, "a -j b", "a|b|");
	assert_true(got.json);
}

TEST(dashes_end_the_options)
{
	check_done(&without, "-j -- ls --json -h", "ls|--json|-h|");
	assert_true(tool_after_dashes);
	check_done(&without, "ls", "ls|");
	assert_false(tool_after_dashes);
	check_done(&with_verbs, "show -- -7", "-7|");
	check_refused(&without, "a -- b",
		"emp-one: 'a' comes before --, but everything after -- is one command: "
		"omit --, and quote each command line\n");
}

TEST(help_and_version_have_letters_in_every_tool_and_verb)
{
	static const char *const help[] = {"-h", "--help", "show -h", "show 7 --help", "-j -h"};
	static const char *const version[] = {"-V", "--version", "show -V"};

	for (size_t i = 0; i < ELEMENTS(help); i++) {
		assert_int_equal(call(&with_verbs, help[i]), STATUS_DONE);
		assert_false(got.called);
		assert_int_equal(strncmp(out, "Usage: emp-test ", 16), 0);
		assert_non_null(strstr(out, "  -h, --help                 show this help\n"));
		assert_non_null(strstr(out, "  -V, --version              show the version\n"));
	}
	for (size_t i = 0; i < ELEMENTS(version); i++) {
		assert_int_equal(call(&with_verbs, version[i]), STATUS_DONE);
		assert_string_equal(out, "emp-test " EMP_VERSION "\n");
	}
}

TEST(help_lists_what_there_is_in_80_columns)
{
	call(&with_verbs, "-h");
	assert_non_null(strstr(out, "  show RUN                   one run\n"));
	assert_non_null(strstr(out, "Examples:\n  emp-test list\n"));
	assert_null(strstr(out, "--share"));
	call(&with_verbs, "show -h");
	assert_non_null(strstr(out, "Usage: emp-test show [OPTION...] RUN\n"));
	assert_non_null(strstr(out, "  -t, --time TIME            a summary"));
	assert_non_null(strstr(out, "\n                             "));
	assert_non_null(strstr(out, "      --share PERCENT        a share\n"));
	assert_null(strstr(out, "old-text"));
	for (char *rest = out, *line; (line = strsep(&rest, "\n"));)
		assert_in_range(strlen(line), 0, 80);
	call(&without, "-h");
	assert_non_null(strstr(out, "Usage: emp-one [OPTION...] COMMAND...\nTests one.\n"));
}

TEST(one_value_given_twice_is_refused_by_name)
{
	check_refused(&with_verbs, "show 7 -t 1s --time 2s",
		"emp-test: option '--time' is given twice\n");
	check_refused(
		&with_verbs, "-r 1 show 7 --runs 2", "emp-test: option '--runs' is given twice\n");
	check_refused(&without, "a --text x --text x", "emp-one: option '--text' is given twice\n");
}

TEST(lists_and_flags_may_be_given_again)
{
	check_done(&with_verbs, "show 7 -p one -j --prepare two -P a b -P c d --json", "7|");
	assert_int_equal(got.prepare.n, 2);
	assert_string_equal(got.prepare.items[0], "one");
	assert_string_equal(got.prepare.items[1], "two");
	assert_string_equal(got.pair[0], "c");
	assert_string_equal(got.pair[1], "d");
}

TEST(what_is_wrong_is_named)
{
	check_refused(
		&with_verbs, "", "emp-test: no verb given; 'emp-test --help' lists the verbs\n");
	check_refused(&with_verbs, "shwo",
		"emp-test: unknown verb 'shwo' (did you mean 'show'?); "
		"'emp-test --help' lists the verbs\n");
	check_refused(&with_verbs, "show",
		"emp-test: too few arguments; usage: emp-test show [OPTION...] RUN\n");
	check_refused(&with_verbs, "list x",
		"emp-test: 'x' is one argument too many; usage: emp-test list [OPTION...]\n");
	check_refused(&with_verbs, "list --share 2",
		"emp-test: unknown option '--share'; see 'emp-test list --help'\n");
	check_refused(&without, "-jx a", "emp-one: unknown option '-x'; see 'emp-one --help'\n");
	check_refused(&with_verbs, "show 7 --text",
		"emp-test: option '--text' needs a value; see 'emp-test --help'\n");
	check_refused(
		&with_verbs, "show 7 -P a", "emp-test: option '--pair' needs 2 values: A B\n");
	check_refused(&with_verbs, "list -r 0",
		"emp-test: --runs must be a whole number from 1 to 2147483647, not '0'\n");
	check_refused(&with_verbs, "show 7 --share x",
		"emp-test: --share must be a percentage such as 2 or 0.5, not 'x'\n");
	check_refused(&with_verbs, "show 7 --part 100.1%",
		"emp-test: --part must be at most 100 %, not '100.1%'\n");
}

TEST(an_option_after_a_program_is_not_taken_for_the_tools)
{
	static const struct {
		const char *words, *complaint;
	} refused[] = {
		{"gzip -c f", "options of emp-time come before the command, and '-c' is after it"},
		{"gzip -k -c f", "unknown option '-k'"},
		{"gzip -c", "options of emp-time come before the command, and '-c' is after it"},
		{"xz -r9 f", "options of emp-time come before the command, and '-r9' is after it"},
		{"gzip --cleanup f",
			"options of emp-time come before the command, and '--cleanup' is after it"},
		{"gzip --help",
			"options of emp-time come before the command, and '--help' is after it"},
		{"cp a b -r c", "--runs must be a whole number from 1 to 2147483647, not 'c'"},
		{"cp a b -c", "option '-c' needs a value; see 'emp-time --help'"},
	};

	for (size_t i = 0; i < ELEMENTS(refused); i++) {
		_cleanup_(freep) char *complaint = text_format(
			"emp-time: %s; if it is the command's, put -- before the command:\n"
			"  emp-time -- %s\n",
			refused[i].complaint, refused[i].words);

		check_refused(&of_commands, refused[i].words, complaint);
	}
	check_refused(&of_commands, "-r 3 nice -r 5 a",
		"emp-time: options of emp-time come before the command, and '-r' is after it; "
		"if it is the command's, put -- before the command:\n"
		"  emp-time -r 3 -- nice -r 5 a\n");
	check_refused(&of_commands, "-z gzip f",
		"emp-time: unknown option '-z'; if it is the command's, put -- before the command; "
		"see 'emp-time --help'\n");

	check_done(&of_commands, "-c f gzip", "gzip|");
	assert_string_equal(got.text, "f");
	check_done(&of_commands, "-- gzip -c f", "gzip|-c|f|");
	assert_null(got.text);
	check_done(&of_commands, "-r 3 -- gzip -c f", "gzip|-c|f|");
	check_done(&of_commands, "old new -r 3", "old|new|");
	assert_int_equal(got.count, 3);
	check_done(&of_commands, "old --export-json f", "old|");
	assert_string_equal(got.text, "f");
	check_done(&of_commands, "old -", "old|-|");
}

TEST(an_option_without_effect_is_refused)
{
	const char *no_json =
		"emp-test: 'emp-test draw' has no option '--json'; see 'emp-test draw --help'\n";
	const char *no_text =
		"emp-test: --brief changes the text, and --json prints none: use one of them\n";

	check_refused(&with_verbs, "draw --json", no_json);
	check_refused(&with_verbs, "-j draw", no_json);
	check_done(&with_verbs, "draw -r 1", "");
	assert_int_equal(call(&with_verbs, "draw --help"), STATUS_DONE);
	assert_null(strstr(out, "--json"));
	assert_non_null(strstr(out, "--runs"));
	check_refused(&with_verbs, "show 7 -b --json", no_text);
	check_refused(&with_verbs, "-j show -b -b 7", no_text);
	check_done(&with_verbs, "show -b 7", "7|");
	check_refused(&with_verbs, "show 7 --limit 0",
		"emp-test: --limit must be above 0 and at most 100 %, not '0'\n");
	check_refused(&with_verbs, "show 7 --limit 250%",
		"emp-test: --limit must be above 0 and at most 100 %, not '250%'\n");
	check_done(&with_verbs, "show 7 --limit 100%", "7|");
}

TEST(a_dash_after_json_is_no_operand)
{
	check_done(&with_verbs, "show --json - 3", "3|");
	assert_true(got.json);
	check_done(&with_verbs, "--json - list", "");
	assert_true(got.json);
	check_done(&without, "--json - -- true", "true|");
	check_done(&with_verbs, "show - 3", "-|3|");
}

static int positive(int argc, char **argv, struct error *err)
{
	return error_say(err, STATUS_NOT_FIT, "it is slower");
}

static int silent(int argc, char **argv, struct error *err)
{
	return -ENOENT;
}

TEST(the_status_and_the_sentence_of_a_verb_reach_the_caller)
{
	static const struct verb slower = {.name = "slower", .summary = "", .run = positive},
				 no_sentence = {.name = "silent", .summary = "", .run = silent};
	static const struct verb *const both[] = {&slower, &no_sentence, NULL};
	static const struct tool tool = {"emp-test", "Tests.", NULL, NULL, both};

	assert_int_equal(call(&tool, "slower"), STATUS_NOT_FIT);
	assert_string_equal(said, "emp-test: it is slower\n");
	assert_int_equal(call(&tool, "silent"), STATUS_ERROR);
	assert_string_equal(said, "emp-test: failed: No such file or directory\n");
}

int check_begin(void)
{
	return unsetenv("COLUMNS");
}
