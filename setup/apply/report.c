/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply, restore and status show: what became of each change, as a table and as a document;
 * the unit that is waited for; and the verb status: what is applied, and whether it still has the
 * value that was set. See apply.h. */
#include "setup/apply/apply.h"

#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/tracefs.h"

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
		for (size_t k = i - more; row->name[0] != '/' && k < i; k++)
			text_append(&what, ", ", "%s", report->rows[k].name);
		if (strcmp(row->name, "-") || !row->note) {
			text_append(&what, ", ", "%s",
				row->name[0] == '/' ? report->rows[i - more].name : row->name);
			text_append(&what, "", "%s%s%s",
				more && row->name[0] == '/' ? text_brief(" and %zu more", more)
							    : "",
				row->note ? ": " : "", row->note ?: "");
		}
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
	json_t *document = json_pack("{s:s, s:i}", "format", "emp-changes", "version", 1);

	json_object_update_new(document, members);
	json_object_set_new(document, "changes", table_json(table));
	return document;
}

/* The line of what is waited for. */

static struct {
	const char *on_interrupt;
	bool drawn;
	int64_t next_ns; /* when the next line is due */
} waiting;

void waiting_end(void)
{
	if (waiting.drawn)
		fprintf(stderr, "\r\033[K");
	waiting.drawn = false;
}

enum { FIRST_LINE_S = 2, NEXT_LINE_S = 10, TEXT_SIZE = 64 };

static int waiting_step(void *data, const char *name, bool active, int64_t waited_ns)
{
	const bool terminal = terminal_is(stderr);
	char rest[TEXT_SIZE];
	size_t taken, width;

	if (waiting.on_interrupt && interrupt_pending())
		return -EINTR;
	if (waited_ns < FIRST_LINE_S * NS_PER_S) { /* of another unit than before */
		waiting_end();
		waiting.next_ns = FIRST_LINE_S * NS_PER_S;
	}
	if (waited_ns < waiting.next_ns)
		return 0;
	waiting.next_ns = waited_ns + (terminal ? 1 : NEXT_LINE_S) * NS_PER_S;
	snprintf(rest, sizeof(rest), " to %s: %d s%s%s%s", active ? "start" : "stop",
		(int)(waited_ns / NS_PER_S), waiting.on_interrupt ? " (^C " : "",
		waiting.on_interrupt ?: "", waiting.on_interrupt ? ")" : "");
	if (!terminal) {
		fprintf(stderr, "waiting for %s%s\n", name, rest);
		return 0;
	}
	taken = terminal_text_width("waiting for ") + terminal_text_width(rest) + 1;
	width = terminal_width(stderr);
	/* The name is shortened rather than the line wrapped. */
	fprintf(stderr, "\rwaiting for %.*s%s\033[K",
		(int)terminal_text_fit(name, width > taken ? width - taken : 0), name, rest);
	waiting.drawn = true;
	return 0;
}

void waiting_begin(struct units *units, const char *on_interrupt)
{
	waiting.on_interrupt = on_interrupt;
	units_set_waiting(units, waiting_step, NULL);
}

/* The verb status. */

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
		_cleanup_(freep) char *what = NULL;
		const char *before, *now;
		pid_t pid = entry_needed_by(e);

		/* files of one setting or units, in the same state, share a row */
		if (!each && next && e->kind == next->kind && e->kind != ENTRY_LOST &&
			e->file_kind == next->file_kind && e->persistent == next->persistent &&
			!strcmp(e->id, next->id) && !strcmp(e->old, next->old) &&
			!strcmp(e->now ?: "", next->now ?: "") &&
			!strcmp(entry_state(e), entry_state(next)))
			continue;
		if (e->kind == ENTRY_UNIT)
			for (const struct entry *unit = e; unit <= &journal->entries[i]; unit++)
				text_append(&what, ", ", "%s", unit->name);
		else if (e->kind == ENTRY_FILE || strcmp(e->name, "-") != 0)
			what = xstrdup(e->name);
		if (e->kind == ENTRY_UNIT && e->persistent)
			text_append(&what, " ", "(persistent)");
		else if (e->kind == ENTRY_FILE && i > first)
			text_append(&what, " and ", "%zu more", i - first);
		else if (e->kind == ENTRY_LOST)
			text_append(&what, ": ", "%s", e->want);
		before = kernel_setting_description(e->file_kind, e->old);
		now = kernel_setting_description(e->file_kind, e->now);
		table_row(list, columns, TEXT(e->id), TEXT(e->name), TEXT(entry_state(e)),
			VALUE(json_string(e->old), before ?: "-"), TEXT(e->held ?: e->want),
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

int status_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(leftovers_clear) struct leftovers left = {};
	_cleanup_(closep) int tracing_fd = tracefs_open();
	_cleanup_(freep) char *recording = tracing_fd >= 0 ? tracefs_recording(tracing_fd) : NULL;
	bool each = options.json || options.verbose, stale;
	json_t *array;
	size_t n_hidden, needed = 0;
	int status, r = journal_load(&journal, err);

	if (r < 0)
		return r;
	leftovers_find(&left);
	status = journal.incomplete ? STATUS_ERROR : STATUS_DONE;
	stale = journal_is_stale(&journal);
	n_hidden = read_entries(&journal, each);
	list = list_entries(&journal, each);
	if (options.json) {
		array = json_array();
		for (size_t i = 0; i < left.n; i++)
			json_array_append_new(
				array, json_pack("{s:s, s:s}", "kind",
					       leftover_kind_names[left.items[i].kind], "path",
					       left.items[i].path));
		r = json_print_document("emp-applied",
			json_pack("{s:I, s:b, s:o, s:o, s:s?}", "since_ns",
				(json_int_t)journal.since_ns, "rebooted_since", stale, "entries",
				table_json(list), "left", array, "traced_by", recording),
			err);
		return r < 0 ? r : status;
	}
	if (r == 0)
		printf("Nothing is applied.\n");
	else {
		printf("Applied since %s.\n", text_moment(journal.since_ns));
		if (stale)
			printf("The machine has rebooted since, which undid all but persistent changes.\n");
		printf("\n");
		table_print(list, stdout);
	}
	for (size_t i = 0; i < journal.n; i++)
		if (entry_needed_by(&journal.entries[i]) > 0 && !needed++)
			printf("\nProcess %d (emp-setup apply --for) needs some of it until its command ends.\n",
				entry_needed_by(&journal.entries[i]));
	if (n_hidden)
		printf("\n%s that did not run %s kept from starting; -v lists everything.\n",
			text_count(n_hidden, "unit"), n_hidden == 1 ? "is" : "are");
	/* Of killed processes of EMP, and traces of anybody. */
	for (size_t i = 0; i < left.n; i++)
		terminal_say(stdout, 2, "Left behind by a killed EMP: %s %s",
			leftover_kind_names[left.items[i].kind], terminal_text(left.items[i].path));
	if (left.n > 0)
		printf("'emp-setup restore' removes it, and so does the next tool that runs as root.\n");
	if (recording)
		terminal_say(stdout, 2, "The kernel is traced by: %s", terminal_text(recording));
	return status;
}
