/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb restore: see restore_verb.h. */
#include "setup/apply/restore_verb.h"

#include "lib/base/json.h"
#include "lib/base/tool.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/systemd/action_log.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/supervised_command.h"
#include "setup/options.h"

static int show_json(const struct report *report, size_t undone, FILE *file, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i, s:I, s:o}", "format", "emp-changes",
		"version", 1, "undone_by_reboot", (json_int_t)undone, "changes", report_json(report));

	return json_print(document, file, err);
}

static int show(const struct report *report, size_t undone, struct error *err)
{
	FILE *file = options.run_for ? stderr : stdout;
	bool any;
	int r;

	if (options.json)
		return show_json(report, undone, file, err);
	r = report_print(report, file, options.verbose, &any, err);
	if (r < 0)
		return r;
	if (any)
		fprintf(file, "\n");
	if (undone)
		fprintf(file, "A reboot had already undone %zu change%s.\n", undone, undone == 1 ? "" : "s");
	fprintf(file, "%zu restored, %zu already as before, %zu left alone, %zu failed.\n",
		report_count(report, OUTCOME_RESTORED), report_count(report, OUTCOME_ALREADY),
		report_count(report, OUTCOME_LEFT_ALONE), report_count(report, OUTCOME_FAILED));
	return 0;
}

/* What could not be restored stays in the journal. */
static int settle(const struct journal *journal, struct error *err)
{
	if (journal->n > 0)
		return journal_save(journal, err);
	crash_point();
	return journal_remove(err);
}

static int nothing_applied(const struct report *report, struct error *err)
{
	if (options.json)
		return show_json(report, 0, stdout, err);
	printf("Nothing is applied.\n");
	return 0;
}

static int restore_locked(const struct restore_options *how, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(report_freep) struct report *report = NULL;
	_cleanup_(units_freep) struct units *units = NULL;
	struct error why = {};
	size_t undone;
	int r = report_new(&report, err);

	if (r == 0)
		r = journal_load(&journal, err);
	if (r < 0)
		return r;
	if (r == 0) {
		r = journal_remove(err); /* of an interrupted save */
		return r < 0 ? r : nothing_applied(report, err);
	}
	undone = journal_drop_stale(&journal);
	if (units_open(&units, &why) < 0)
		units = NULL;
	if (!options.at_boot)
		restore_entries(&journal, how, units, report);
	action_log(ACTION_RESTORE, "emp-setup restore: %zu restored, %zu undone by a reboot, %zu left",
		report_count(report, OUTCOME_RESTORED), undone, journal.n);
	r = settle(&journal, err);
	if (r == 0)
		r = show(report, undone, err);
	if (r < 0)
		return r;
	return report_count(report, OUTCOME_FAILED)       ? STATUS_ERROR
	       : report_count(report, OUTCOME_LEFT_ALONE) ? STATUS_NOT_FIT
							  : STATUS_DONE;
}

int restore_verb_journal(const struct restore_options *how, struct error *err)
{
	struct lock lock = {.fd = -1};
	int r = journal_lock(&lock, "emp-setup restore", err);

	if (r < 0)
		return r;
	r = restore_locked(how, err);
	lock_release(&lock);
	return r;
}

int restore_verb(int argc, char **argv, struct error *err)
{
	struct restore_options how = {.force = options.force, .forget = options.forget};
	int r = privilege_keep_for_settings(err);

	if (r < 0)
		return r;
	interrupt_init(); /* neither HUP, INT nor TERM ends this process before all is done */
	crash_point_kill_after(options.kill_after);
	return restore_verb_journal(&how, err);
}
