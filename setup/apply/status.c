/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb status: what is applied, and whether it still has the value that was set. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/host/systemd/units.h"
#include "setup/apply/journal.h"
#include "setup/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char *state_of(const struct entry *e, struct units *units, char **ret_now)
{
	struct kernel_setting file = entry_setting(e);

	if (e->kind == ENTRY_UNIT)
		*ret_now = units ? strdup(units_is_up(units, e->name) ? "active" : "inactive") : NULL;
	else if (kernel_setting_read(&file, ret_now) < 0)
		*ret_now = NULL;
	if (!*ret_now)
		return "cannot be read";
	if (!strcmp(*ret_now, e->held ?: e->want))
		return "as set";
	return !strcmp(*ret_now, e->old) ? "as before" : "changed since";
}

static int show_entries(const struct journal *journal, struct units *units, struct error *err)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT}, {"STATE", COLUMN_TEXT},
		{"BEFORE", COLUMN_TEXT}, {"NOW", COLUMN_TEXT}, {"WHAT", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		const struct entry *e = &journal->entries[i];
		_cleanup_(freep) char *now = NULL;
		const char *state = state_of(e, units, &now);
		_cleanup_(freep) char *old_text = kernel_setting_description(e->file_kind, e->old),
				      *now_text = kernel_setting_description(e->file_kind, now);

		table_row(table);
		table_cell(table, "%s", e->id);
		table_cell(table, "%s", state);
		table_cell(table, "%s", old_text ?: "-");
		table_cell(table, "%s", now_text ?: "-");
		table_cell(table, "%s%s", e->name, e->persistent ? " (persistent)" : "");
	}
	return r < 0 ? r : table_print(table, stdout, err);
}

static json_t *entries_json(const struct journal *journal, struct units *units)
{
	json_t *array = json_array();

	for (size_t i = 0; i < journal->n; i++) {
		const struct entry *e = &journal->entries[i];
		_cleanup_(freep) char *now = NULL;
		const char *state = state_of(e, units, &now);

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:b, s:b}", "id", e->id, "name",
				       e->name, "state", state, "before", e->old, "set", e->held ?: e->want,
				       "now", now, "persistent", e->persistent, "for_good", e->persistent));
	}
	return array;
}

static int show_json(const struct journal *journal, struct units *units, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i, s:I, s:b, s:o}", "format",
		"emp-applied", "version", 1, "since_ns", (json_int_t)journal->since_ns, "rebooted_since",
		journal_is_stale(journal), "entries", entries_json(journal, units));

	return json_print(document, stdout, err);
}

int status_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(units_freep) struct units *units = NULL;
	struct error why = {};
	char moment[TEXT_TIME_SIZE];
	int r = journal_load(&journal, err);

	if (r < 0)
		return r;
	if (r > 0 && units_open(&units, &why) < 0)
		units = NULL;
	if (options.json)
		return show_json(&journal, units, err);
	if (r == 0) {
		printf("Nothing is applied.\n");
		return 0;
	}
	printf("Applied since %s.\n", text_moment(moment, journal.since_ns));
	if (journal_is_stale(&journal))
		printf("The machine has rebooted since, which undid all but persistent changes.\n");
	printf("\n");
	return show_entries(&journal, units, err);
}
