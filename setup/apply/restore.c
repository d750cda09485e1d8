/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb restore: restores what a journal holds, and compares the result with the state before
 * the first apply.
 *
 * It compares with the values of now, so it may run twice, and nothing is recorded on the way: a
 * restore that was killed is simply repeated. What somebody else has changed since is left alone.
 */
#include "setup/apply/restore.h"

#include "lib/base/tool.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/lock.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/owners.h"
#include "setup/apply/report.h"
#include "setup/apply/restore_files.h"
#include "setup/apply/restore_units.h"
#include "setup/apply/restoring.h"
#include "setup/apply/snapshot.h"
#include "setup/options.h"

static void restore_clear(struct restore *r)
{
	journal_clear(&r->journal);
	units_free(r->units);
	report_clear(&r->report);
}

/* Chooses the entries that this restore is for. An entry with another owner stays as it is; if that
 * owner is a plain apply, it goes back to its value from before the first --for. */
static void choose_entries(
	struct restore *r, enum restore_scope scope, const struct journal *applied)
{
	_cleanup_(freep) char *owner = owner_new();

	for (size_t i = 0; i < r->journal.n; i++) {
		struct entry *e = &r->journal.entries[i];
		bool own;

		if (scope == RESTORE_GAINED)
			own = i < applied->n && applied->entries[i].gained;
		else
			own = scope != RESTORE_ABANDONED && entry_has_owner(e, owner);
		e->back = e->old;
		e->taken = scope == RESTORE_ALL;
		if (e->taken || (!own && !entry_is_abandoned(e)))
			continue;
		entry_remove_owner(e, owner);
		if (entry_needed_by(e) > 0) {
			r->needed_by = entry_needed_by(e);
			r->n_needed++;
			continue;
		}
		e->taken = !entry_is_applied(e) || e->prior;
		if (entry_is_applied(e) && e->prior)
			e->back = e->prior;
	}
}

static void print_needed(const struct restore *r, FILE *file)
{
	const bool one = r->n_needed == 1;

	fprintf(file, "%s applied: process %d (emp-setup apply --for) needs %s.\n",
		one ? "One setting stays" : text_brief("%zu settings stay", r->n_needed),
		r->needed_by, one ? "it" : "them");
}

static int restore_show(const struct restore *r, size_t n_undone, struct error *err)
{
	const struct report *report = &r->report;
	const size_t *count = report->count;
	FILE *file = report_file();

	if (options.json) {
		json_t *members = json_pack("{s:I}", "undone_by_reboot", (json_int_t)n_undone);

		return json_print(report_document(report, members), file, err);
	}

	report_print(report, file, options.verbose);
	if (n_undone)
		fprintf(file, "A reboot had already undone %s.\n", text_count(n_undone, "change"));
	fprintf(file, "%zu restored, %zu already as before, ", count[OUTCOME_RESTORED],
		count[OUTCOME_ALREADY]);
	if (options.forget)
		fprintf(file, "%zu forgotten.\n", count[OUTCOME_FORGOTTEN]);
	else
		fprintf(file, "%zu left alone, %zu failed.\n", count[OUTCOME_LEFT_ALONE],
			count[OUTCOME_FAILED]);

	if (r->n_needed)
		print_needed(r, file);
	if (count[OUTCOME_FAILED])
		fprintf(file,
			"What failed is tried again by 'emp-setup restore'; --forget drops it.\n");
	if (count[OUTCOME_DIFFERENT])
		fprintf(file, "Not as before the first apply: %zu (differs).\n",
			count[OUTCOME_DIFFERENT]);
	return 0;
}

/* Where nothing is applied. */
static int restore_nothing(const struct restore *r, struct error *err)
{
	int result = journal_remove(err); /* of an interrupted save */

	if (result < 0)
		return result;
	if (options.json)
		return restore_show(r, 0, err);
	fprintf(report_file(), "Nothing is applied.\n");
	return 0;
}

/* Restores what is taken. What could not be restored or was left alone stays in the journal. */
static int restore_taken(struct restore *r, enum restore_scope scope, struct error *err)
{
	struct journal *j = &r->journal;

	restore_files(r);
	restore_units(r);
	/* what a damaged journal has lost can only be listed */
	for (size_t i = 0; i < j->n; i++) {
		struct entry *e = &j->entries[i];

		if (e->taken && e->name && e->kind == ENTRY_LOST)
			restore_settle(r, e,
				(struct settlement){
					OUTCOME_FAILED, e->old, .note = e->want, .ways = e->ways});
	}
	journal_compact(j);
	if (scope != RESTORE_ALL && j->n > 0)
		return 0;
	return snapshot_compare(r->units, &r->report, err);
}

static int restore_status(const struct report *report)
{
	if (report->count[OUTCOME_FAILED])
		return STATUS_ERROR;
	if (options.forget) /* what differs has been listed, as the user wants it to stay */
		return STATUS_DONE;
	return report->count[OUTCOME_LEFT_ALONE] || report->count[OUTCOME_DIFFERENT]
		       ? STATUS_NOT_FIT
		       : STATUS_DONE;
}

int restore_locked(enum restore_scope scope, const struct journal *applied, struct error *err)
{
	_cleanup_(restore_clear) struct restore restore = {};
	struct journal *j = &restore.journal;
	struct error why = {};
	size_t n_undone;
	int r = journal_load(j, err);

	if (r < 0)
		return r;
	if (r == 0)
		return restore_nothing(&restore, err);
	if (j->damaged && !j->incomplete)
		fprintf(stderr,
			"emp-setup: the journal is damaged, but all of its changes can be read\n");
	n_undone = journal_drop_stale(j);
	choose_entries(&restore, scope, applied);
	if (units_open_direct(&restore.units, &why) < 0)
		restore.units = NULL;

	if (!options.at_boot) {
		r = restore_taken(&restore, scope, err);
		if (r < 0)
			return r;
	}
	action_log(ACTION_RESTORE,
		"emp-setup restore: %zu restored, %zu undone by a reboot, %zu left",
		restore.report.count[OUTCOME_RESTORED], n_undone, j->n);
	if (j->n == 0)
		crash_point();
	r = j->n > 0 ? journal_save(j, err) : journal_remove(err);
	if (r < 0)
		return r;

	r = restore_show(&restore, n_undone, err);
	/* the exit status is the command's, whoever reads our table */
	if (r < 0 && !options.run_for)
		return r;
	return restore_status(&restore.report);
}

static const struct option_row restore_options[] = {
	{0, "force", NULL, "also restore what somebody else has changed since", NULL,
		&options.force},
	{0, "wait", NULL, "wait for processes that a start would begin once more", NULL,
		&options.wait},
	{0, "forget", NULL, "drop what is left alone or cannot be restored", NULL, &options.forget},
	{0, "abandoned", NULL, "only what a killed apply --for has left", NULL, &options.abandoned},
	{0, "at-boot", NULL, "restore nothing, drop what a reboot has undone", NULL,
		&options.at_boot},
	JSON_OPTION,
	VERBOSE_OPTION("also list what was already set or does not exist"),
	KILL_OPTION,
	{},
};

static int restore_verb(int argc, char **argv, struct error *err)
{
	const struct option_rule rules[] = {
		{options.at_boot && (options.force || options.forget),
			"--at-boot restores nothing: omit --force and --forget"},
		{options.abandoned && (options.at_boot || options.forget),
			"--abandoned restores what a killed apply --for has left: omit --at-boot "
			"and --forget"},
		{options.force && options.forget, "--force and --forget exclude each other: "
						  "what is left alone is restored, or kept"},
	};
	_cleanup_(closep) int lock_fd = -1;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = privilege_keep_for_settings(err);
	if (r < 0)
		return r;
	interrupt_init(); /* only KILL ends this process before all is done */
	interrupt_block_others();
	r = lock_take(&lock_fd, SETUP_LOCK, err);
	if (r < 0)
		return r;
	return restore_locked(options.abandoned ? RESTORE_ABANDONED : RESTORE_ALL, NULL, err);
}

const struct verb setup_restore = {
	.name = "restore",
	.summary = "undo everything that apply has changed (alias: reset)",
	.options = restore_options,
	.run = restore_verb,
};
