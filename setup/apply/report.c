/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of each change: see report.h. */
#include "setup/apply/report.h"

#include "lib/base/table.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

struct report {
	json_t *rows;
};

int report_new(struct report **ret, struct error *err)
{
	_cleanup_(report_freep) struct report *report = calloc(1, sizeof(*report));

	if (report)
		report->rows = json_array();
	if (!report || !report->rows)
		return error_os(err, -ENOMEM, "cannot make a report");
	*ret = TAKE(report);
	return 0;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	json_decref(report->rows);
	free(report);
}

void report_add(struct report *report, const char *id, const char *name, const char *outcome,
	const char *before, const char *now, const char *note)
{
	json_array_append_new(
		report->rows, json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?}", "id", id, "name", name,
				      "outcome", outcome, "before", before, "now", now, "note", note));
}

size_t report_count(const struct report *report, const char *outcome)
{
	json_t *row;
	size_t i, n = 0;

	json_array_foreach (report->rows, i, row)
		n += !strcmp(json_string_value(json_object_get(row, "outcome")), outcome);
	return n;
}

static const char *member(const json_t *row, const char *name)
{
	return json_string_value(json_object_get(row, name)) ?: "";
}

static bool is_file(const json_t *row)
{
	return member(row, "name")[0] == '/';
}

static bool fared_alike(const json_t *a, const json_t *b)
{
	static const char *const names[] = {"id", "outcome", "before", "now", "note"};

	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (strcmp(member(a, names[i]), member(b, names[i])) != 0)
			return false;
	return is_file(a) && is_file(b);
}

static void print_row(struct table *table, const json_t *row, size_t more)
{
	table_row(table);
	table_cell(table, "%s", member(row, "id"));
	if (more)
		table_cell(table, "%s and %zu more", member(row, "name"), more);
	else
		table_cell(table, "%s", member(row, "name"));
	table_cell(table, "%s", member(row, "outcome"));
	table_cell(table, "%s", member(row, "before"));
	table_cell(table, "%s", member(row, "now"));
	table_cell(table, "%s", member(row, "note"));
}

static bool is_dull(const json_t *row)
{
	const char *outcome = member(row, "outcome");

	return !strcmp(outcome, "already") || !strcmp(outcome, "absent") || !strcmp(outcome, "stays");
}

static void print_rows(const json_t *rows, struct table *table, bool all)
{
	size_t n = json_array_size(rows), more = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *row = json_array_get(rows, i);

		if (!all && is_dull(row))
			continue;
		if (i + 1 < n && fared_alike(row, json_array_get(rows, i + 1))) {
			more++;
			continue;
		}
		print_row(table, json_array_get(rows, i - more), more);
		more = 0;
	}
}

int report_print(struct report *report, FILE *file, bool all, struct error *err)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT}, {"WHAT", COLUMN_TEXT},
		{"OUTCOME", COLUMN_TEXT}, {"BEFORE", COLUMN_TEXT}, {"NOW", COLUMN_TEXT},
		{"NOTE", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	if (r < 0)
		return r;
	print_rows(report->rows, table, all);
	return table_print(table, file, err);
}

json_t *report_json(const struct report *report)
{
	return json_deep_copy(report->rows);
}
