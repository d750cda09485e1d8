/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: what a person sees, line by line, and one description of columns for several formats. */
#include "tests/unit/check.h"

#include "lib/base/table.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

static const struct column columns[] = {
	{"NAME"}, {"TOOK", COLUMN_NUMBER}, {"WHY", COLUMN_WRAP}, {}};

static void add(struct table *table, const char *name, const char *took, const char *why)
{
	table_row(table, columns, TEXT(name), TEXT(took), TEXT(why));
}

/* Frees the table. The text belongs to the caller. */
static char *printed(struct table *table)
{
	char *text = PRINTED(file, table_print(table, file));

	table_free(table);
	return text;
}

/* In so many columns; NULL: not known. Frees the table. */
static void check_printed(struct table *table, const char *in_columns, const char *expected)
{
	_cleanup_(freep) char *text = NULL;

	if (in_columns)
		setenv("COLUMNS", in_columns, 1);
	text = printed(table);
	unsetenv("COLUMNS");
	assert_string_equal(text, expected);
}

TEST(columns_are_as_wide_as_they_must_be_and_numbers_on_the_right)
{
	struct table *table = table_new(columns);

	add(table, "backupd", "228 ms", "cron");
	add(table, "é", "4 ms", "");
	check_printed(table, NULL,
		"NAME       TOOK  WHY\n"
		"backupd  228 ms  cron\n"
		"é          4 ms\n");
}

TEST(a_wide_row_is_wrapped_between_words)
{
	struct table *table = table_new(columns);

	add(table, "backupd", "228 ms", "it copies the whole disk");
	add(table, "sshd", "1 ms", "-");
	check_printed(table, "30",
		"NAME      TOOK WHY\n"
		"backupd 228 ms it copies the\n"
		"               whole disk\n"
		"sshd      1 ms -\n");
}

TEST(no_line_is_wider_than_80_columns_without_a_terminal)
{
	_cleanup_(freep) char *text = NULL;
	struct table *table = table_new(columns);
	size_t lines = 0;

	add(table, "a", "1",
		"seven words that are said again and again until no line of 80 columns could "
		"hold them all in one piece");
	text = printed(table);
	for (char *rest = text, *line; (line = strsep(&rest, "\n")); lines++)
		assert_true(strlen(line) <= 80);
	assert_int_equal(lines, 4);
}

TEST(a_word_that_is_too_long_is_broken)
{
	struct table *table = table_new(columns);

	add(table, "a", "1", "/usr/lib/systemd/systemd-networkd-wait-online");
	check_printed(table, "36",
		"NAME TOOK WHY\n"
		"a       1 /usr/lib/systemd/systemd-n\n"
		"          etworkd-wait-online\n");
}

TEST(a_table_whose_numbers_do_not_fit_continues_below)
{
	static const struct column of_run[] = {{"RUN", COLUMN_NUMBER}, {"CLOCK"},
		{"SAMPLES", COLUMN_NUMBER}, {"LONGEST TIME", COLUMN_NUMBER},
		{"MEAN", COLUMN_NUMBER}, {"CV", COLUMN_NUMBER}, {}};
	struct table *table = table_new(of_run);

	table_row(table, of_run, NUMBER(1), TEXT("ET"), NUMBER(800), TEXT("4 h 34 min"),
		TEXT("71.48 ms"), TEXT("0.0020 %"));
	table_row(table, of_run, NUMBER(12), TEXT("PT"), NUMBER(8), TEXT("1.5 s"), TEXT("1.0 ms"),
		TEXT("-"));
	check_printed(table, "32",
		"RUN CLOCK SAMPLES    LONGEST\n"
		"                        TIME\n"
		"  1 ET        800 4 h 34 min\n"
		" 12 PT          8      1.5 s\n"
		"\n"
		"RUN CLOCK     MEAN       CV\n"
		"  1 ET    71.48 ms 0.0020 %\n"
		" 12 PT      1.0 ms        -\n");
}

TEST(an_indented_cell_is_indented_in_all_of_its_lines)
{
	struct table *table = table_new(columns);

	add(table, "  systemd-networkd-wait-online.service", "228 ms", "cron");
	add(table, "  sh", "4 ms", "nothing");
	check_printed(table, "41",
		"NAME                         TOOK WHY\n"
		"  systemd-networkd-wait-on 228 ms cron\n"
		"  line.service\n"
		"  sh                         4 ms nothing\n");
}

TEST(escape_sequences_and_bad_bytes_do_not_reach_the_terminal)
{
	_cleanup_(freep) char *text = NULL;
	struct table *table = table_new(columns);

	add(table, "\033[31m\xff",
		"\xc2\x9b"
		"2J",
		"two\nlines");
	text = printed(table);
	assert_non_null(strstr(text, "?[31m\\xff"));
	assert_non_null(strstr(text, "?2J"));
	assert_non_null(strstr(text, "two lines"));
}

TEST(a_table_without_rows_is_not_printed)
{
	check_printed(table_new(columns), NULL, "");
}

static const struct column listed[] = {
	{NULL, COLUMN_TEXT, "run"},
	{"PROGRAM", COLUMN_TEXT, "program"},
	{"TOOK", COLUMN_NUMBER, "et_ns"},
	{"STARTED"},
	{"RATIO", COLUMN_NUMBER, "ratio"},
	{},
};

static char *written(enum table_format format)
{
	_cleanup_(table_freep) struct table *list = table_new(listed);

	table_row(list, listed, NUMBER(7), TEXT("sort"), TIME(1500000), MOMENT(0),
		REAL("%.2f", 1.178));
	table_begin_row(list);
	table_add(list, NUMBER(8), TEXT(NULL));
	table_add(list, TIME(-1), VALUE(json_integer(1), "x"), REAL("%.2f", NAN));
	return PRINTED(file, table_write(list, format, file));
}

TEST(a_table_has_the_columns_with_a_name)
{
	_cleanup_(freep) char *text = written(TABLE_SCREEN);

	assert_string_equal(text, "PROGRAM      TOOK  STARTED  RATIO\n"
				  "sort     1.500 ms  -         1.18\n"
				  "-               -  x            -\n");
}

TEST(json_has_the_columns_with_a_member)
{
	_cleanup_(freep) char *text = written(TABLE_JSON), *compact = NULL;
	_cleanup_(json_decrefp) json_t *rows = json_loads(text, 0, NULL);

	compact = json_dumps(rows, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(4));
	assert_string_equal(compact,
		"[{\"run\":7,\"program\":\"sort\",\"et_ns\":1500000,\"ratio\":1.178},"
		"{\"run\":8,\"program\":null,\"et_ns\":null,\"ratio\":null}]");
}

TEST(a_byte_that_is_not_utf_8_is_replaced_in_every_format)
{
	for (enum table_format format = TABLE_SCREEN; format <= TABLE_ORG; format++) {
		_cleanup_(table_freep) struct table *list = table_new(listed);
		_cleanup_(freep) char *text = NULL;

		table_row(list, listed, NUMBER(7), CODE("so\xffrt"), TIME(-1), MOMENT(0),
			REAL("%.2f", NAN));
		text = PRINTED(file, table_write(list, format, file));
		assert_null(strchr(text, '\xff'));
		assert_non_null(strstr(text, format == TABLE_JSON ? "so\\\\xffrt" : "so\\xffrt"));
	}
}

TEST(the_rows_can_be_a_member_of_a_document)
{
	_cleanup_(table_freep) struct table *list = table_new(listed);
	_cleanup_(json_decrefp) json_t *rows = NULL;

	table_row(list, listed, NUMBER(7), TEXT("sort"), TIME(-1), MOMENT(0), REAL("%.2f", 1));
	rows = table_json(list);
	assert_int_equal(json_array_size(rows), 1);
}

/* How a process ends that fills two rows of three columns with so many cells each. */
static int end_with_rows_of(size_t n_cells)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		_cleanup_(table_freep) struct table *table = table_new(columns);

		for (int row = 0; row < 2; row++) {
			table_begin_row(table);
			for (size_t i = 0; i < n_cells; i++)
				table_add(table, TEXT("a"));
		}
		json_decref(table_json(table));
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(a_row_with_a_cell_too_few_or_too_many_aborts_the_program)
{
	assert_int_equal(end_with_rows_of(3), 0);
	assert_int_equal(end_with_rows_of(2), SIGABRT);
	assert_int_equal(end_with_rows_of(4), SIGABRT);
	assert_int_equal(end_with_rows_of(6), SIGABRT);
	assert_int_equal(end_with_rows_of(0), SIGABRT);
}

/* Forces colours: the last. */
TEST(a_colour_is_around_the_text_only)
{
	struct table *table = table_new(columns);

	table_row(table, columns, TEXT("a"), TEXT("1"), TEXT("bad", .mark = MARK_BAD));
	terminal_style.colour = TERMINAL_ON;
	check_printed(table, NULL,
		"NAME  TOOK  WHY\n"
		"a        1  \033[31mbad\033[0m\n");
}

int check_begin(void)
{
	unsetenv("COLUMNS");
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}
