/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb status: what is applied, and whether it still has the value that was set. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/lock.h"
#include "lib/host/system/tracefs.h"
#include "setup/apply/journal.h"
#include "setup/apply/owners.h"
#include "setup/options.h"

static const char *entry_state(const struct entry *e)
{
	if (e->kind == ENTRY_LOST)
		return "lost";
	if (!e->now)
		return "cannot be read";
	if (e->held && !strcmp(e->held, e->old) && strcmp(e->held, e->want) != 0)
		return strcmp(e->now, e->held) ? "changed since" : "refused";
	if (!strcmp(e->now, e->held ?: e->want))
		return "as set";
	return strcmp(e->now, e->old) ? "changed since" : "as before";
}

/* Files of one setting, or units, in the same state. */
static bool entries_share_a_row(const struct entry *a, const struct entry *b)
{
	return a->kind == b->kind && a->kind != ENTRY_LOST && a->file_kind == b->file_kind &&
	       a->persistent == b->persistent && !strcmp(a->id, b->id) && !strcmp(a->old, b->old) &&
	       !strcmp(a->now ?: "", b->now ?: "") && !strcmp(entry_state(a), entry_state(b));
}

/* The value that was set; of what a damaged journal has lost, what is the matter, and what to do.
 * The caller frees it. */
static char *entry_set_text(const struct entry *e)
{
	return e->ways ? text_format("%s; %s", e->want, e->ways) : xstrdup(e->held ?: e->want);
}

/* What the row of these entries, of which there is one at least, is about; the caller frees it.
 * NULL: nothing more than its other columns say. */
static char *entries_text(const struct entry *first, size_t n)
{
	_cleanup_(freep) char *set = entry_set_text(first);
	char *what = NULL;

	switch (first->kind) {
	case ENTRY_UNIT:
		for (size_t i = 0; i < n; i++)
			text_append(&what, ", ", "%s", first[i].name);
		if (first->persistent)
			text_append(&what, " ", "(persistent)");
		break;
	case ENTRY_FILE:
		what = xstrdup(first->name);
		if (n > 1)
			text_append(&what, " and ", "%zu more", n - 1);
		break;
	case ENTRY_LOST:
		if (strcmp(first->name, "-") != 0)
			what = xstrdup(first->name);
		text_append(&what, ": ", "%s", set);
		break;
	}
	return what;
}

/* Rows of a table or, with `each`, of an array. */
static struct table *list_entries(const struct journal *journal, bool each)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT, "id"},
		{NULL, COLUMN_TEXT, "name"}, {"STATE", COLUMN_TEXT, "state"},
		{"BEFORE", COLUMN_TEXT, "before"}, {NULL, COLUMN_TEXT, "set"},
		{"NOW", COLUMN_TEXT, "now"}, {"WHAT", COLUMN_WRAP},
		{NULL, COLUMN_TEXT, "persistent"}, {NULL, COLUMN_TEXT, "for_good" /* in 0.1.0 */},
		{NULL, COLUMN_TEXT, "needed_by"}, {}};
	struct table *list = table_new(columns);

	for (size_t i = 0, first = 0; i < journal->n; i++) {
		const struct entry *e = &journal->entries[first],
				   *next = i + 1 < journal->n ? &journal->entries[i + 1] : NULL;
		_cleanup_(freep) char *set = NULL, *what = NULL;
		const char *before, *now;
		pid_t pid = entry_needed_by(e);

		if (!each && next && entries_share_a_row(e, next))
			continue;
		set = entry_set_text(e);
		what = entries_text(e, i + 1 - first);
		before = kernel_setting_description(e->file_kind, e->old);
		now = kernel_setting_description(e->file_kind, e->now);
		table_row(list, columns, TEXT(e->id), TEXT(e->name), TEXT(entry_state(e)),
			VALUE(json_string(e->old), before ?: "-"), TEXT(set),
			VALUE(json_string(e->now), now ?: "-"), TEXT(what),
			VALUE(json_boolean(e->persistent), ""),
			VALUE(json_boolean(e->persistent), ""),
			VALUE(pid > 0 ? json_integer(pid) : json_null(), ""));
		first = i + 1;
	}
	return list;
}

/* Reads what the entries hold now, and drops those that are not shown: files that are only
 * restored, and where people do not want each, units that did not run and are kept from being
 * started. Returns how many of these there are. */
static size_t read_entries(struct journal *journal, bool each)
{
	_cleanup_(units_freep) struct units *units = NULL;
	size_t n_hidden = 0;

	if (journal->n > 0 && units_open(&units, NULL, NULL) < 0)
		units = NULL;
	for (size_t i = 0; i < journal->n; i++) {
		struct entry *e = &journal->entries[i];
		bool hidden;

		e->now = entry_read(e, units);
		hidden = !each && e->kind == ENTRY_UNIT && !strcmp(e->old, e->want) &&
			 !strcmp(entry_state(e), "as set");
		n_hidden += hidden;
		if (hidden || entry_is_kept(e))
			entry_clear(e);
	}
	journal_compact(journal);
	return n_hidden;
}

/* What killed processes of EMP have left behind. */
static json_t *left_json(const struct leftovers *left)
{
	json_t *array = json_array();

	for (size_t i = 0; i < left->n; i++)
		json_array_append_new(array,
			json_pack("{s:s, s:s}", "kind", leftover_kind_names[left->items[i].kind],
				"path", left->items[i].path));
	return array;
}

static void print_left(const struct leftovers *left)
{
	for (size_t i = 0; i < left->n; i++)
		terminal_say(stdout, 2, "Left behind by a killed EMP: %s %s",
			leftover_kind_names[left->items[i].kind],
			terminal_text(left->items[i].path));
	if (left->n > 0)
		printf("'emp-setup restore' removes it, "
		       "and so does the next tool that runs as root.\n");
}

static void print_applied(const struct journal *journal, struct table *list, bool stale)
{
	pid_t pid = 0;

	printf("Applied since %s.\n", text_moment(journal->since_ns));
	if (stale)
		printf("The machine has rebooted since, which undid all but persistent changes.\n");
	printf("\n");
	table_print(list, stdout);
	for (size_t i = 0; pid <= 0 && i < journal->n; i++)
		pid = entry_needed_by(&journal->entries[i]);
	if (pid > 0)
		printf("\nProcess %d (emp-setup apply --for) needs some of it until its command "
		       "ends.\n",
			pid);
}

static const struct option_row status_options[] = {
	JSON_OPTION,
	VERBOSE_OPTION("a line for each unit and file"),
	{},
};

static int status_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(leftovers_clear) struct leftovers left = {};
	_cleanup_(closep) int tracing_fd = tracefs_open();
	_cleanup_(freep) char *recording = tracing_fd >= 0 ? tracefs_recording(tracing_fd) : NULL;
	const bool each = options.json || options.verbose;
	bool stale;
	size_t n_hidden;
	int status, r = journal_load(&journal, err);

	if (r < 0)
		return r;
	leftovers_find(&left);
	status = journal.incomplete ? STATUS_ERROR : STATUS_DONE;
	stale = journal_is_stale(&journal);
	n_hidden = read_entries(&journal, each);
	list = list_entries(&journal, each);

	if (options.json) {
		r = json_print_document("emp-applied",
			json_pack("{s:I, s:b, s:o, s:o, s:s?}", "since_ns",
				(json_int_t)journal.since_ns, "rebooted_since", stale, "entries",
				table_json(list), "left", left_json(&left), "traced_by", recording),
			err);
		return r < 0 ? r : status;
	}

	if (r == 0)
		printf("Nothing is applied.\n");
	else
		print_applied(&journal, list, stale);
	if (n_hidden)
		printf("\n%s that did not run %s kept from starting; -v lists everything.\n",
			text_count(n_hidden, "unit"), n_hidden == 1 ? "is" : "are");
	print_left(&left);
	if (recording)
		terminal_say(stdout, 2, "The kernel is traced by: %s", terminal_text(recording));
	return status;
}

const struct verb setup_status = {
	.name = "status",
	.summary = "list what is applied, and since when",
	.options = status_options,
	.run = status_verb,
};
