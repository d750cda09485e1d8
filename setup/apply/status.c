/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb status: what is applied, and whether it still has the value that was set. */
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/base/tool.h"
#include "lib/host/system/lock.h"
#include "lib/host/system/tracefs.h"
#include "lib/host/systemd/units.h"
#include "lib/base/table.h"
#include "setup/apply/journal.h"
#include "setup/options.h"

#include <string.h>

/* The value as people read it, or as it is in JSON. */
static void add_value(struct table *list, const struct entry *e, const char *value)
{
	_cleanup_(freep) char *text = kernel_setting_description(e->file_kind, value);

	table_cell_value(list, value ? json_string(value) : NULL, text ?: "-");
}

/* An entry and what is there now. */
struct row {
	const struct entry *entry;
	const char *state;
	char *now;
};

static bool equal(const char *a, const char *b)
{
	return !strcmp(a ?: "", b ?: "");
}

/* Files of one setting or units, in the same state: they share a row of the table. */
static bool are_alike(const struct row *a, const struct row *b)
{
	const struct entry *e = a->entry, *f = b->entry;

	return !options.json && !options.verbose && e->kind == f->kind && e->kind != ENTRY_LOST &&
	       e->file_kind == f->file_kind && e->persistent == f->persistent && equal(e->id, f->id) &&
	       equal(a->state, b->state) && equal(e->old, f->old) && equal(a->now, b->now);
}

/* It did not run, and is only kept from being started. */
static bool is_dull(const struct row *row)
{
	return !options.json && !options.verbose && row->entry->kind == ENTRY_UNIT &&
	       !strcmp(row->entry->old, row->entry->want) && !strcmp(row->state, "as set");
}

/* What this row and `more` behind it are about; the caller frees it. */
static char *describe(const struct row *row, size_t more)
{
	const struct entry *e = row->entry;
	_cleanup_(freep) char *names = NULL;

	if (e->kind == ENTRY_LOST)
		return strcmp(e->name, "-") ? text_format("%s: %s", e->name, e->want) : xstrdup(e->want);
	if (e->kind == ENTRY_FILE)
		return more ? text_format("%s and %zu more", e->name, more) : xstrdup(e->name);

	char *units_names = xstrdup(row->entry->name);

	for (size_t i = 1; units_names && i <= more; i++) {
		_cleanup_(freep) char *before = units_names;

		units_names = text_format("%s, %s", before, row[i].entry->name);
	}
	names = units_names;
	return names ? text_format("%s%s", names, e->persistent ? " (persistent)" : "") : NULL;
}
/* Rows of a table or, for options.json, of an array. */
static struct table *list_entries(const struct journal *journal, struct units *units, size_t *ret_dull)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT, "id"}, {NULL, COLUMN_TEXT, "name"},
		{"STATE", COLUMN_TEXT, "state"}, {"BEFORE", COLUMN_TEXT, "before"},
		{NULL, COLUMN_TEXT, "set"}, {"NOW", COLUMN_TEXT, "now"}, {"WHAT", COLUMN_WRAP},
		{NULL, COLUMN_TEXT, "persistent"}, {NULL, COLUMN_TEXT, "for_good"}, {}};
	_cleanup_(freep) struct row *rows = xcalloc(journal->n + 1, sizeof(*rows));
	size_t n = 0, more = 0;
	struct table *list = table_new(columns);

	*ret_dull = 0;
	for (size_t i = 0; i < journal->n; i++) {
		struct row *row = &rows[n];

		if (entry_is_kept(&journal->entries[i]))
			continue;
		row->entry = &journal->entries[i];

		const struct entry *e = row->entry;
		struct kernel_setting file = entry_setting(e);

		if (e->kind == ENTRY_LOST) {
			row->state = "lost";
		} else {
			if (e->kind == ENTRY_UNIT)
				*&row->now = units ? xstrdup(units_is_up(units, e->name) ? "active"
											 : "inactive")
						   : NULL;
			else if (kernel_setting_read(&file, &row->now) < 0)
				*&row->now = NULL;
			if (!row->now)
				row->state = "cannot be read";
			else if (e->held && !strcmp(e->held, e->old) && strcmp(e->held, e->want) != 0)
				row->state = strcmp(row->now, e->held) ? "changed since" : "refused";
			else if (!strcmp(row->now, e->held ?: e->want))
				row->state = "as set";
			else
				row->state = !strcmp(row->now, e->old) ? "as before" : "changed since";
		}
		*ret_dull += is_dull(row);
		if (is_dull(row))
			free(TAKE(row->now));
		else
			n++;
	}
	for (size_t i = 0; i < n; i++, more++) {
		if (i + 1 < n && are_alike(&rows[i], &rows[i + 1]))
			continue;

		const struct entry *e = rows[i - more].entry;
		_cleanup_(freep) char *what = describe(&rows[i - more], more);

		table_row(list);
		table_cell_text(list, e->id);
		table_cell_text(list, e->name);
		table_cell_text(list, rows[i - more].state);
		add_value(list, e, e->old);
		table_cell_text(list, e->held ?: e->want);
		add_value(list, e, rows[i - more].now);
		table_cell_text(list, what);
		table_cell_value(list, json_boolean(e->persistent), "");
		table_cell_value(list, json_boolean(e->persistent), "");
		more = SIZE_MAX; /* and 0 for the next row */
	}
	for (size_t i = 0; i < n; i++)
		free(rows[i].now);
	return list;
}

static json_t *leftovers_json(const struct leftovers *left)
{
	json_t *array = json_array();

	for (size_t i = 0; i < left->n; i++)
		json_array_append_new(
			array, json_pack("{s:s, s:s}", "kind", leftover_kind_names[left->items[i].kind],
				       "path", left->items[i].path));
	return array;
}

/* Of killed processes of EMP, and traces of anybody. */
static void print_others(const struct leftovers *left, const char *recording)
{
	for (size_t i = 0; i < left->n; i++)
		printf("Left behind by a killed EMP: %s %s\n", leftover_kind_names[left->items[i].kind],
			terminal_text(left->items[i].path));
	if (left->n > 0)
		printf("'emp-setup restore' removes it, and so does the next tool that runs as root.\n");
	if (recording)
		printf("The kernel is traced by: %s\n", terminal_text(recording));
}

int status_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(leftovers_clear) struct leftovers left = {};
	_cleanup_(closep) int tracing_fd = tracefs_open();
	_cleanup_(freep) char *recording = tracing_fd >= 0 ? tracefs_recording(tracing_fd) : NULL;
	struct error why = {};
	size_t dull;
	int status, r = journal_load(&journal, err);

	if (r < 0)
		return r;
	leftovers_find(&left);
	if (r > 0 && units_open(&units, &why) < 0)
		units = NULL;
	if (r == 0 && !options.json) {
		printf("Nothing is applied.\n");
		print_others(&left, recording);
		return 0;
	}
	status = journal_is_incomplete(&journal) ? STATUS_ERROR : STATUS_DONE;
	list = list_entries(&journal, units, &dull);
	if (options.json) {
		_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i, s:I, s:b, s:o, s:o, s:s?}",
			"format", "emp-applied", "version", 1, "since_ns", (json_int_t)journal.since_ns,
			"rebooted_since", journal_is_stale(&journal), "entries", table_json(list), "left",
			leftovers_json(&left), "traced_by", recording);

		r = json_print(document, stdout, err);
		return r < 0 ? r : status;
	}
	printf("Applied since %s.\n", text_moment(journal.since_ns));
	if (journal_is_stale(&journal))
		printf("The machine has rebooted since, which undid all but persistent changes.\n");
	printf("\n");
	table_print(list, stdout);
	if (dull)
		printf("\n%zu unit%s that did not run %s kept from starting; -v lists everything.\n", dull,
			dull == 1 ? "" : "s", dull == 1 ? "is" : "are");
	print_others(&left, recording);
	return status;
}
