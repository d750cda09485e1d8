/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of each change: see apply.h. */
#include "setup/apply/apply.h"

#include "lib/base/xalloc.h"
#include "lib/base/table.h"
#include "lib/base/text.h"

#include <string.h>

struct row {
	enum outcome outcome;
	char *id, *name, *before, *now, *note;
};

struct report {
	struct row *rows;
	size_t n;
};

/* Words for people and for JSON. */
static const struct {
	const char *word, *name;
	enum mark mark;
	bool dull; /* shown only where all is */
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

struct report *report_new(void)
{
	return xcalloc(1, sizeof(struct report));
}

void report_free(struct report *report)
{
	if (!report)
		return;
	for (struct row *row = report->rows; row < report->rows + report->n; row++) {
		free(row->id);
		free(row->name);
		free(row->before);
		free(row->now);
		free(row->note);
	}
	free(report->rows);
	free(report);
}

void report_add(struct report *report, const char *id, const char *name, enum outcome outcome,
	const char *before, const char *now, const char *note)
{
	*array_add(report->rows, report->n) = (struct row){
		outcome, text_copy(id), text_copy(name), text_copy(before), text_copy(now), text_copy(note)};
}

void report_entry(struct report *report, const struct entry *e, enum outcome outcome, const char *before,
	const char *now, const char *note)
{
	_cleanup_(freep) char *before_text = kernel_setting_description(e->file_kind, before),
			      *now_text = kernel_setting_description(e->file_kind, now);

	report_add(report, e->id, e->name, outcome, before_text, now_text, note);
}

bool report_explains(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct row *row = &report->rows[i];

		if (!strcmp(row->name, name) &&
			(row->note || row->outcome == OUTCOME_LEFT_ALONE || row->outcome == OUTCOME_FAILED))
			return true;
	}
	return false;
}

size_t report_count(const struct report *report, enum outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++)
		n += report->rows[i].outcome == outcome;
	return n;
}

/* Two files of one setting, changed alike. */
static bool are_alike(const struct row *a, const struct row *b)
{
	return a->name[0] == '/' && b->name[0] == '/' && a->outcome == b->outcome && !strcmp(a->id, b->id) &&
	       !strcmp(a->before ?: "", b->before ?: "") && !strcmp(a->now ?: "", b->now ?: "") &&
	       !strcmp(a->note ?: "", b->note ?: "");
}

static void print_row(struct table *table, const struct row *row, size_t more)
{
	char others[32] = "";

	if (more)
		snprintf(others, sizeof(others), " and %zu more", more);
	table_row(table);
	table_cell_text(table, row->id);
	table_cell_text(table, OUTCOMES[row->outcome].word);
	table_mark(table, OUTCOMES[row->outcome].mark);
	table_cell_text(table, row->before ?: "");
	table_cell_text(table, row->now ?: "");
	if (!strcmp(row->name, "-") && row->note)
		table_cell_text(table, row->note);
	else
		table_cell(table, "%s%s%s%s", row->name, others, row->note ? ": " : "", row->note ?: "");
}

bool report_print(const struct report *report, FILE *file, bool all)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT}, {"OUTCOME", COLUMN_TEXT},
		{"BEFORE", COLUMN_TEXT}, {"NOW", COLUMN_TEXT}, {"WHAT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	size_t more = 0, printed = 0;

	for (size_t i = 0; i < report->n; i++) {
		const struct row *row = &report->rows[i];

		if (!all && OUTCOMES[row->outcome].dull)
			continue;
		if (i + 1 < report->n && are_alike(row, row + 1)) {
			more++;
			continue;
		}
		print_row(table, row - more, more);
		more = 0;
		printed++;
	}
	if (printed > 0)
		table_print(table, file);
	return printed > 0;
}

json_t *report_json(const struct report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->n; i++) {
		const struct row *row = &report->rows[i];

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?}", "id", row->id, "name",
				       row->name, "outcome", OUTCOMES[row->outcome].name, "before",
				       row->before, "now", row->now, "note", row->note));
	}
	return array;
}
