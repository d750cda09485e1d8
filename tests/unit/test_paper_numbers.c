/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The papers' numbers that studies are shown beside are those of tests/papers/data. */
#include "tests/unit/check.h"

#include "lib/base/paths.h"
#include "lib/study/paper_numbers.h"

/* The rows of a file without its comments and its heading: argv of fields, which the caller walks. */
static char *read_rows(const char *name)
{
	_cleanup_(freep) char *path = text_format("%s/%s", getenv("EMP_PAPERS"), name);
	char *text, *rest;

	assert_int_equal(file_read_text(path, &text), 0);
	rest = text;
	while (*rest == '#')
		rest = strchr(rest, '\n') + 1;
	rest = xstrdup(strchr(rest, '\n') + 1);
	free(text);
	return rest;
}

enum { MOST_FIELDS = 12 };

/* The next row of *at; 0: there is none. */
static size_t next_row(char **at, char *fields[MOST_FIELDS])
{
	char *line = strsep(at, "\n");
	size_t n = 0;

	while (line && *line && n < MOST_FIELDS)
		fields[n++] = strsep(&line, ",");
	return n;
}

static const struct paper_row *find_row(
	const char *table, const char *program, const char *clock, int samples)
{
	for (const struct paper_row *p = paper_rows; p->table; p++)
		if (!strcmp(p->table, table) && !strcmp(p->program, program) &&
			!strcmp(p->clock, clock) && (samples == 0 || p->samples == samples))
			return p;
	fail_msg("Table %s has no %s by %s", table, program, clock);
	return NULL;
}

static void check_times(const struct paper_row *p, char *const *fields)
{
	assert_close(p->min_ms, atof(fields[0]), 0);
	assert_close(p->max_ms, atof(fields[1]), 0);
	assert_close(p->mean_ms, atof(fields[2]), 0);
	assert_close(p->sd_ms, atof(fields[3]), 0);
}

static size_t checked;

TEST(tables_6_and_19_are_those_of_the_paper)
{
	static const struct {
		const char *file, *table;
		size_t times; /* the first field with a time */
	} files[] = {
		{"emp-table-06-pt-empv4.csv", "VI", 1}, {"emp-table-19-pt-empv5.csv", "XIX", 2}};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		_cleanup_(freep) char *rows = read_rows(files[i].file);
		char *at = rows, *fields[MOST_FIELDS];

		for (; next_row(&at, fields) > 0; checked++) {
			const struct paper_row *p = find_row(
				files[i].table, text_brief("INC%s", fields[0]), "PT", 0);

			check_times(p, fields + files[i].times);
			if (files[i].times == 2)
				assert_int_equal(p->by_cutoff, atoi(fields[1]));
		}
	}
}

TEST(tables_7_and_18_are_those_of_the_paper)
{
	_cleanup_(freep) char *rows = read_rows("emp-table-07-18-statistics.csv");
	char *at = rows, *fields[MOST_FIELDS];

	for (; next_row(&at, fields) > 0; checked++) {
		const char *table = strcmp(fields[1], "EMPv4") ? "XVIII" : "VII";
		const struct paper_row *p = find_row(table, fields[0], fields[2], 0);

		assert_int_equal(p->samples, atoi(fields[3]));
		assert_int_equal(p->by_cutoff, atoi(fields[4]));
		assert_int_equal(p->by_two_sd, atoi(fields[5]));
		check_times(p, fields + 6);
	}
}

TEST(tables_20_and_21_are_those_of_the_paper_and_there_are_no_others)
{
	_cleanup_(freep) char *rows = read_rows("emp-table-20-21-samplesize-inc128.csv");
	char *at = rows, *fields[MOST_FIELDS];
	size_t n = 0;

	for (; next_row(&at, fields) > 0; checked++) {
		const char *table = strcmp(fields[0], "ET") ? "XXI" : "XX";
		const struct paper_row *p = find_row(table, "INC128", fields[0], atoi(fields[1]));

		assert_int_equal(p->by_cutoff, atoi(fields[2]));
		assert_int_equal(p->by_two_sd, atoi(fields[3]));
		assert_close(p->sd_ms, atof(fields[4]), 0);
	}
	while (paper_rows[n].table)
		n++;
	assert_int_equal(checked, n);
}

TEST(table_27_says_what_units_of_today_are_for)
{
	_cleanup_(freep) char *rows = read_rows("emp-table-27-noncritical-daemons.csv");
	char *at = rows, *fields[MOST_FIELDS];
	size_t n = 0;

	for (; next_row(&at, fields) > 0; n++)
		assert_string_equal(paper_purpose(fields[0]), fields[1]);
	assert_int_equal(n, 14);
	assert_string_equal(paper_purpose("crond.service"), paper_purpose("cron.service"));
	assert_non_null(paper_purpose("postfix@-.service"));
	assert_null(paper_purpose("ssh.service"));
	assert_null(paper_purpose(".service"));
}

TEST(the_cv_of_a_program_is_sd_over_mean)
{
	assert_close(paper_cv("VI", "INC8"), 1.8 / 8018, 1e-12);
	assert_true(isnan(paper_cv("VI", "INC3")));
}
