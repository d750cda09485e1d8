/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of apply and restore: see report.h. */
#include "setup/apply/report.h"

#include "lib/base/table.h"
#include "lib/host/system/kernel_setting.h"
#include "setup/options.h"

/* Words for people and for JSON. */
static const struct {
	const char *word, *name;
	enum mark mark;
	bool minor; /* shown only where all is */
} OUTCOMES[] = {
	[OUTCOME_WILL_CHANGE] = {"will change", "will change", MARK_STRONG},
	[OUTCOME_STAYS] = {"already set", "stays", MARK_FAINT, true},
	[OUTCOME_CHANGED] = {"changed", "changed", MARK_GOOD},
	[OUTCOME_ALREADY] = {"already set", "already", MARK_FAINT, true},
	[OUTCOME_ABSENT] = {"n/a", "absent", MARK_FAINT, true},
	[OUTCOME_REFUSED] = {"refused", "refused", MARK_BAD},
	[OUTCOME_CLAMPED] = {"differs", "clamped", MARK_WARN},
	[OUTCOME_RESTORED] = {"restored", "restored", MARK_GOOD},
	[OUTCOME_LEFT_ALONE] = {"left alone", "left alone", MARK_WARN},
	[OUTCOME_FAILED] = {"failed", "failed", MARK_BAD},
	[OUTCOME_FORGOTTEN] = {"forgotten", "forgotten", MARK_WARN},
	[OUTCOME_DIFFERENT] = {"differs", "different", MARK_WARN},
};

void report_clear(struct report *report)
{
	for (size_t i = 0; i < report->n; i++) {
		struct report_row *row = &report->rows[i];

		free(row->id);
		free(row->name);
		free(row->before);
		free(row->now);
		free(row->note);
	}
	free(report->rows);
	*report = (struct report){};
}

void report_add(struct report *report, const char *id, const char *name, enum outcome outcome,
	const char *before, const char *now, const char *note)
{
	*array_add(report->rows, report->n) = (struct report_row){outcome, text_copy(id),
		text_copy(name), text_copy(before), text_copy(now), text_copy(note)};
	report->count[outcome]++;
}

void report_entry(struct report *report, const struct entry *e, enum outcome outcome,
	const char *before, const char *now, const char *note)
{
	report_add(report, e->id, e->name, outcome,
		kernel_setting_description(e->file_kind, before),
		kernel_setting_description(e->file_kind, now), note);
}

FILE *report_file(void)
{
	return options.run_for ? stderr : stdout;
}

/* Two files of one setting, changed alike, or two units that are only masked. */
static bool share_a_row(const struct report_row *a, const struct report_row *b)
{
	bool files = a->name[0] == '/' && b->name[0] == '/',
	     masked = !strcmp(a->now ?: "", "masked") && !strcmp(b->now ?: "", "masked");

	return (files || masked) && a->outcome == b->outcome && !strcmp(a->id, b->id) &&
	       !strcmp(a->before ?: "", b->before ?: "") && !strcmp(a->now ?: "", b->now ?: "") &&
	       !strcmp(a->note ?: "", b->note ?: "");
}

/* What a row of the table is about, which stands for this row of the report and `more` before it.
 * The caller frees it; NULL: the note says all. */
static char *what_of(const struct report_row *row, size_t more)
{
	const bool is_file = row->name[0] == '/';
	char *what = NULL;

	for (size_t i = more; !is_file && i > 0; i--)
		text_append(&what, ", ", "%s", row[-(ptrdiff_t)i].name);
	if (!strcmp(row->name, "-") && row->note)
		return what;
	text_append(&what, ", ", "%s", is_file ? row[-(ptrdiff_t)more].name : row->name);
	if (more && is_file)
		text_append(&what, "", " and %zu more", more);
	if (row->note)
		text_append(&what, "", ": %s", row->note);
	return what;
}

/* Rows for all that is worth showing; with `each`, for programs, one for each row of the report. */
static struct table *report_table(const struct report *report, bool all, bool each)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT, "id"},
		{NULL, COLUMN_TEXT, "name"}, {"OUTCOME", COLUMN_TEXT, "outcome"},
		{"BEFORE", COLUMN_TEXT, "before"}, {"NOW", COLUMN_TEXT, "now"},
		{"WHAT", COLUMN_WRAP}, {NULL, COLUMN_TEXT, "note"}, {}};
	struct table *table = table_new(columns);
	size_t more = 0; /* rows before this one that share its row of the table */

	for (size_t i = 0; i < report->n; i++) {
		const struct report_row *row = &report->rows[i],
					*next = i + 1 < report->n ? row + 1 : NULL;
		_cleanup_(freep) char *what = NULL;

		if (!all && OUTCOMES[row->outcome].minor)
			continue;
		if (!each && next && share_a_row(row, next)) {
			more++;
			continue;
		}
		what = what_of(row, more);
		table_row(table, columns, TEXT(row->id), TEXT(row->name),
			VALUE(json_string(OUTCOMES[row->outcome].name), OUTCOMES[row->outcome].word,
				.mark = OUTCOMES[row->outcome].mark),
			VALUE(json_string(row->before), row->before ?: ""),
			VALUE(json_string(row->now), row->now ?: ""), TEXT(what ?: row->note),
			TEXT(row->note));
		more = 0;
	}
	return table;
}

void report_print(const struct report *report, FILE *file, bool all)
{
	_cleanup_(table_freep) struct table *table = report_table(report, all, false);
	bool any = false;

	for (size_t i = 0; i < report->n; i++)
		any = any || all || !OUTCOMES[report->rows[i].outcome].minor;
	table_print(table, file);
	if (any)
		fprintf(file, "\n");
}

json_t *report_document(const struct report *report, json_t *members)
{
	_cleanup_(table_freep) struct table *table = report_table(report, true, true);
	json_t *document = json_document("emp-changes", members);

	json_object_set_new(document, "changes", table_json(table));
	return document;
}
