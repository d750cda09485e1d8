/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb status: what is applied, and whether it still has the value that was set. */
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/systemd/units.h"
#include "lib/report/listing.h"
#include "setup/apply/journal.h"
#include "setup/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char *state_of(const struct entry *e, struct units *units, char **ret_now)
{
	struct kernel_setting file = entry_setting(e);

	if (e->kind == ENTRY_LOST)
		return "lost";
	if (e->kind == ENTRY_UNIT)
		*ret_now = units ? strdup(units_is_up(units, e->name) ? "active" : "inactive") : NULL;
	else if (kernel_setting_read(&file, ret_now) < 0)
		*ret_now = NULL;
	if (!*ret_now)
		return "cannot be read";
	if (e->held && !strcmp(e->held, e->old) && strcmp(e->held, e->want) != 0)
		return strcmp(*ret_now, e->held) ? "changed since" : "refused";
	if (!strcmp(*ret_now, e->held ?: e->want))
		return "as set";
	return !strcmp(*ret_now, e->old) ? "as before" : "changed since";
}

/* The value as people read it, or as it is in JSON. */
static void add_value(struct listing *list, const struct entry *e, const char *value)
{
	_cleanup_(freep) char *text = kernel_setting_description(e->file_kind, value);

	listing_cell(list, value ? json_string(value) : NULL, text ?: "-");
}

/* Rows of a table or, for options.json, of an array. */
static int list_entries(
	struct listing **ret, const struct journal *journal, struct units *units, struct error *err)
{
	static const struct listing_column columns[] = {{"CHECK", "id"}, {NULL, "name"}, {"STATE", "state"},
		{"BEFORE", "before"}, {NULL, "set"}, {"NOW", "now"}, {"WHAT", NULL, COLUMN_WRAP},
		{NULL, "persistent"}, {NULL, "for_good"}, {}};
	int r = listing_new(ret, columns, options.json, err);

	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		const struct entry *e = &journal->entries[i];
		_cleanup_(freep) char *now = NULL, *what = NULL;
		const char *state;

		if (entry_is_kept(e))
			continue;
		state = state_of(e, units, &now);
		if (e->kind == ENTRY_LOST)
			what = strcmp(e->name, "-") ? text_format("%s: %s", e->name, e->want)
						    : strdup(e->want);
		else
			what = text_format("%s%s", e->name, e->persistent ? " (persistent)" : "");
		listing_row(*ret);
		listing_text(*ret, e->id);
		listing_text(*ret, e->name);
		listing_text(*ret, state);
		add_value(*ret, e, e->old);
		listing_text(*ret, e->held ?: e->want);
		add_value(*ret, e, now);
		listing_text(*ret, what);
		listing_cell(*ret, json_boolean(e->persistent), "");
		listing_cell(*ret, json_boolean(e->persistent), "");
	}
	return r;
}

static int show_json(const struct journal *journal, struct listing *list, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i, s:I, s:b, s:o}", "format",
		"emp-applied", "version", 1, "since_ns", (json_int_t)journal->since_ns, "rebooted_since",
		journal_is_stale(journal), "entries", listing_take(list));

	return json_print(document, stdout, err);
}

int status_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(listing_freep) struct listing *list = NULL;
	struct error why = {};
	char moment[TEXT_TIME_SIZE];
	int status, r = journal_load(&journal, err);

	if (r < 0)
		return r;
	if (r > 0 && units_open(&units, &why) < 0)
		units = NULL;
	if (r == 0 && !options.json) {
		printf("Nothing is applied.\n");
		return 0;
	}
	status = journal_is_incomplete(&journal) ? STATUS_ERROR : STATUS_DONE;
	r = list_entries(&list, &journal, units, err);
	if (r < 0)
		return r;
	if (options.json) {
		r = show_json(&journal, list, err);
		return r < 0 ? r : status;
	}
	printf("Applied since %s.\n", text_moment(moment, journal.since_ns));
	if (journal_is_stale(&journal))
		printf("The machine has rebooted since, which undid all but persistent changes.\n");
	printf("\n");
	r = listing_print(list, stdout, err);
	return r < 0 ? r : status;
}
