/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs restore and status. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/host/systemd/action_log.h"
#include "lib/host/system/lock.h"
#include "lib/host/process/privilege.h"
#include "setup/apply/change.h"
#include "setup/apply/supervised_command.h"
#include "setup/setup.h"
#include "setup/apply/crash_point.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int show(struct report *report, size_t undone, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	FILE *file = options.run_for ? stderr : stdout;
	int r;

	if (options.json && !options.run_for) {
		document = json_pack("{s:s, s:i, s:I, s:o}", "format", "emp-changes", "version", 1,
			"undone_by_reboot", (json_int_t)undone, "changes", report_json(report));
		return document ? json_print(document, stdout, err)
				: error_os(err, -ENOMEM, "cannot print what was restored");
	}
	r = report_print(report, file, options.details, err);
	if (r < 0)
		return r;
	if (report_count(report, "restored") + report_count(report, "left alone") +
		report_count(report, "failed"))
		fprintf(file, "\n");
	if (undone)
		fprintf(file, "%zu changes were undone by a reboot.\n", undone);
	fprintf(file, "%zu restored, %zu were so already, %zu left alone, %zu failed.\n",
		report_count(report, "restored"), report_count(report, "already"),
		report_count(report, "left alone"), report_count(report, "failed"));
	return 0;
}

/* What could not be put back stays in the journal. */
static int settle(const struct journal *journal, struct error *err)
{
	if (journal->n > 0)
		return journal_save(journal, err);
	crash_point();
	return journal_remove(err);
}

static int restore_locked(struct taking_back *how, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(report_freep) struct report *report = NULL;
	_cleanup_(units_freep) struct units *units = NULL;
	struct error why = {};
	size_t undone;
	int r = journal_load(&journal, err);

	if (r == -ENOENT && !err->text[0]) {
		if (!options.json)
			printf("Nothing is applied.\n");
		return journal_remove(err);
	}
	if (r == 0)
		r = report_new(&report, err);
	if (r < 0)
		return r;
	undone = journal_drop_stale(&journal);
	if (units_open(&units, &why) < 0)
		units = NULL;
	if (!options.at_boot)
		change_restore(&journal, how, units, report);
	action_log(ACTION_RESTORE, "emp-setup restore: %zu put back, %zu undone by a reboot, %zu left",
		report_count(report, "restored"), undone, journal.n);
	r = settle(&journal, err);
	if (r == 0)
		r = show(report, undone, err);
	if (r < 0)
		return r;
	return report_count(report, "failed")       ? STATUS_ERROR
	       : report_count(report, "left alone") ? STATUS_NOT_FIT
						    : STATUS_DONE;
}

int restore_journal(struct taking_back *how, struct error *err)
{
	struct lock lock = {.fd = -1};
	int r = setup_lock(&lock, "emp-setup restore", err);

	if (r < 0)
		return r;
	r = restore_locked(how, err);
	lock_release(&lock);
	return r;
}

int verb_restore(int argc, char **argv, struct error *err)
{
	struct taking_back how = {.force = options.force, .forget = options.forget};
	int r = privilege_keep_for_settings(err);

	if (r < 0)
		return r;
	child_shield();
	crash_point_kill_after(options.kill_after);
	return restore_journal(&how, err);
}

static const char *state_of(const struct entry *e, struct units *units, char **ret_now)
{
	struct kernel_setting knob = {.root_fd = AT_FDCWD, .path = e->name, .kind = e->knob};

	if (e->kind == ENTRY_UNIT)
		*ret_now = units ? strdup(units_is_up(units, e->name) ? "active" : "inactive") : NULL;
	else if (kernel_setting_read(&knob, ret_now) < 0)
		*ret_now = NULL;
	if (!*ret_now)
		return "cannot be read";
	if (!strcmp(*ret_now, e->held ?: e->want))
		return "as set";
	return !strcmp(*ret_now, e->old) ? "as before" : "changed since";
}

static int show_entries(const struct journal *journal, struct units *units, struct error *err)
{
	static const struct column columns[] = {{"CHECK", COLUMN_TEXT}, {"WHAT", COLUMN_TEXT},
		{"STATE", COLUMN_TEXT}, {"BEFORE", COLUMN_TEXT}, {"NOW", COLUMN_TEXT}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		const struct entry *e = &journal->entries[i];
		_cleanup_(freep) char *now = NULL;
		const char *state = state_of(e, units, &now);
		_cleanup_(freep) char *old_words = kernel_setting_description(e->knob, e->old),
				      *now_words = kernel_setting_description(e->knob, now);

		table_row(table);
		table_cell(table, "%s", e->id);
		table_cell(table, "%s%s", e->name, e->for_good ? " (for good)" : "");
		table_cell(table, "%s", state);
		table_cell(table, "%s", old_words ?: "-");
		table_cell(table, "%s", now_words ?: "-");
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
			array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:b}", "id", e->id, "name", e->name,
				       "state", state, "before", e->old, "set", e->held ?: e->want, "now",
				       now, "for_good", e->for_good));
	}
	return array;
}

int verb_status(int argc, char **argv, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(json_decrefp) json_t *document = NULL;
	struct error why = {};
	char moment[TEXT_TIME_SIZE];
	int r = journal_load(&journal, err);

	if (r < 0 && (r != -ENOENT || err->text[0]))
		return r == -EACCES ? error_say(err, r, "only root may read what is applied") : r;
	if (units_open(&units, &why) < 0)
		units = NULL;
	if (options.json) {
		document = json_pack("{s:s, s:i, s:I, s:b, s:o}", "format", "emp-applied", "version", 1,
			"since_ns", (json_int_t)journal.since_ns, "rebooted_since",
			journal_is_stale(&journal), "entries", entries_json(&journal, units));
		return document ? json_print(document, stdout, err)
				: error_os(err, -ENOMEM, "cannot print it");
	}
	if (r == -ENOENT) {
		printf("Nothing is applied.\n");
		return 0;
	}
	printf("Applied since %s%s.\n\n", text_moment(moment, journal.since_ns),
		journal_is_stale(&journal)
			? "; the machine was rebooted since, which undid what is not for good"
			: "");
	return show_entries(&journal, units, err);
}
