/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb restore: restores what a journal holds: see apply.h.
 *
 * It compares with the values of now, so it may run twice, and nothing is recorded on the way: a restore that was
 * killed is simply repeated. What somebody else has changed since is left alone. */
#include "lib/base/json.h"
#include "lib/base/tool.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/systemd/units.h"
#include "setup/apply/apply.h"
#include "setup/options.h"

#include <string.h>

/* A finished entry is cleared, and removed at the end. */
static bool is_dropped(const struct entry *e)
{
	return !e->name;
}

/* Reports an entry that failed or is left alone, with its value before apply. It stays for the next restore; with --forget it
 * is cleared, and `note` ends before "; --", the ways to treat it. */
static void change_keep(
	struct entry *e, enum outcome outcome, const char *now, const char *note, struct report *report)
{
	const char *way = options.forget ? strstr(note, "; --") : NULL;
	_cleanup_(freep) char *cause = way ? xstrndup(note, (size_t)(way - note)) : NULL;

	report_entry(report, e, options.forget ? OUTCOME_FORGOTTEN : outcome, *e->old ? e->old : NULL, now,
		cause ?: note);
	if (options.forget)
		entry_clear(e);
}

static void keep_unit(struct entry *e, enum outcome outcome, const char *note, struct report *report)
{
	change_keep(e, outcome, e->want, note, report);
}

/* Why a unit cannot be started any more, though it is not ours; false: it can. */
static bool is_gone(struct entry *e, struct units *units, struct report *report)
{
	_cleanup_(freep) char *load = NULL;
	struct error ignored;

	if (units_text(units, e->name, "LoadState", &load, &ignored) < 0)
		return false;
	if (!strcmp(load, "not-found")) { /* such as a package that was removed */
		report_entry(report, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
		entry_clear(e);
		return true;
	}
	if (strcmp(load, "masked") != 0)
		return false;
	keep_unit(e, OUTCOME_LEFT_ALONE, "masked by somebody else; --forget leaves it so", report);
	return true;
}

/* A socket cannot be opened while its service runs: apply was killed between the two. The service is restored later. */
static void stop_triggered(const struct journal *j, const struct entry *socket, struct units *units)
{
	_cleanup_(strings_freep) char **names = NULL;
	struct error ignored;

	if (units_names(units, socket->name, "Triggers", &names, &ignored) < 0)
		return;
	for (char **name = names; name && *name; name++) {
		const struct entry *service = journal_find(j, *name);

		if (service && !strcmp(service->old, "active") && units_is_up(units, *name))
			units_set(units, *name, false, &ignored);
	}
}

static void restore_unit(const struct journal *j, struct entry *e, struct units *units, struct report *report)
{
	bool start = !strcmp(e->old, "active");

	if (change_is_blocked(e)) /* that it could not be unblocked is reported already */
		keep_unit(e, OUTCOME_FAILED, "it is still kept from being started", report);
	else if (!strcmp(e->old, e->want) || units_is_up(units, e->name) == start) {
		report_entry(report, e, OUTCOME_ALREADY, e->old, e->old, NULL);
		entry_clear(e);
	} else if (!start || !is_gone(e, units, report)) {
		struct error why = {};

		if (start && unit_is_kind(e->name, ".socket"))
			stop_triggered(j, e, units);

		int r = units_set(units, e->name, start, &why);

		crash_point();
		if (r < 0) {
			keep_unit(e, OUTCOME_FAILED, why.text, report);
		} else {
			action_log(ACTION_RESTORE_ONE, "%s: %s %s again", e->id, e->name,
				start ? "started" : "stopped");
			report_entry(report, e, OUTCOME_RESTORED, e->want, e->old,
				units_is_up(units, e->name) == start
					? NULL
					: "it was started, and has ended by itself");
			entry_clear(e);
		}
	}
}

/* What starts others comes first, and timers last: a socket cannot be opened once its service runs, and an
 * overdue timer starts its service at once. What systemd stops when nothing needs it comes after what may need it. */
enum rank { RANK_TRIGGER, RANK_SERVICE, RANK_NEEDED, RANK_TIMER, RANKS };

static enum rank rank_of(const struct entry *e, struct units *units)
{
	if (unit_is_kind(e->name, ".timer"))
		return RANK_TIMER;
	if (units && units_flag(units, e->name, "StopWhenUnneeded", false))
		return RANK_NEEDED;
	return unit_is_kind(e->name, ".service") ? RANK_SERVICE : RANK_TRIGGER;
}

static void change_restore_files(struct journal *j, size_t first, struct report *report);

/* Restores what it can, and drops it from the journal in memory; what could not be restored or was left alone
 * stays in it. units may be NULL. */
static void restore_entries(struct journal *j, size_t first, struct units *units, struct report *report)
{
	struct waiting waiting = {};

	change_restore_files(j, first, report);
	if (units) {
		bool any = false;

		for (size_t i = first; i < j->n; i++) {
			const struct entry *e = &j->entries[i];

			if (is_dropped(e) || e->kind != ENTRY_UNIT || e->block == BLOCK_NONE)
				continue;
			change_block(units, e, false, report);
			any = true;
		}
		if (any)
			change_reload(units, OUTCOME_FAILED, report);
		units_set_waiting(units, waiting_step, &waiting);
	}
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = first; i < j->n; i++) { /* the last one first, but for RANK_NEEDED */
			struct entry *e = &j->entries[rank == RANK_NEEDED ? i : j->n - 1 - (i - first)];

			if (is_dropped(e) || e->kind != ENTRY_UNIT || (int)rank_of(e, units) != rank)
				continue;
			if (units)
				restore_unit(j, e, units, report);
			else
				keep_unit(e, OUTCOME_FAILED, "systemd does not answer", report);
		}
	waiting_end(&waiting);
	/* What a damaged journal has lost can only be listed. */
	for (size_t i = 0; i < j->n; i++) {
		struct entry *e = &j->entries[i];

		if (is_dropped(e) || e->kind != ENTRY_LOST)
			continue;
		change_keep(e, OUTCOME_FAILED, NULL, e->want, report);
	}
	journal_compact(j);
}

/* The standard output of apply --for belongs to its command. */
static FILE *restore_output(void)
{
	return options.run_for ? stderr : stdout;
}

static int restore_show(const struct report *report, size_t undone, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;

	if (!options.json) {
		FILE *file = restore_output();

		if (report_print(report, file, options.verbose))
			fprintf(file, "\n");
		if (undone)
			fprintf(file, "A reboot had already undone %zu change%s.\n", undone,
				undone == 1 ? "" : "s");
		fprintf(file, "%zu restored, %zu already as before, ", report_count(report, OUTCOME_RESTORED),
			report_count(report, OUTCOME_ALREADY));
		if (options.forget)
			fprintf(file, "%zu forgotten.\n", report_count(report, OUTCOME_FORGOTTEN));
		else
			fprintf(file, "%zu left alone, %zu failed.\n",
				report_count(report, OUTCOME_LEFT_ALONE),
				report_count(report, OUTCOME_FAILED));
		if (report_count(report, OUTCOME_FAILED))
			fprintf(file,
				"What failed is tried again by 'emp-setup restore'; --forget drops it.\n");
		if (report_count(report, OUTCOME_DIFFERENT))
			fprintf(file, "Not as before the first apply: %zu (differs).\n",
				report_count(report, OUTCOME_DIFFERENT));
		return 0;
	}
	document = json_pack("{s:s, s:i, s:I, s:o}", "format", "emp-changes", "version", 1,
		"undone_by_reboot", (json_int_t)undone, "changes", report_json(report));
	return json_print(document, restore_output(), err);
}

static int nothing_applied(const struct report *report, struct error *err)
{
	if (options.json)
		return restore_show(report, 0, err);
	fprintf(restore_output(), "Nothing is applied.\n");
	return 0;
}

int change_restore_locked(size_t first, struct error *err)
{
	_cleanup_(journal_clear) struct journal journal = {};
	_cleanup_(report_freep) struct report *report = report_new();
	_cleanup_(units_freep) struct units *units = NULL;
	struct error why = {};
	size_t undone;
	int r = journal_load(&journal, err);

	if (r < 0)
		return r;
	if (r == 0) {
		r = journal_remove(err); /* of an interrupted save */
		return r < 0 ? r : nothing_applied(report, err);
	}
	if (journal.damaged && !journal_is_incomplete(&journal))
		fprintf(stderr, "emp-setup: the journal is damaged, but all of its changes can be read\n");
	undone = journal_drop_stale(&journal);
	first = first < journal.n ? first : journal.n; /* a restore in the meantime leaves less */
	if (units_open(&units, &why) < 0)
		units = NULL;
	r = 0;
	if (!options.at_boot)
		restore_entries(&journal, first, units, report);
	if (!options.at_boot && first == 0)
		r = snapshot_compare(units, report, err);
	if (r < 0)
		return r;
	action_log(ACTION_RESTORE, "emp-setup restore: %zu restored, %zu undone by a reboot, %zu left",
		report_count(report, OUTCOME_RESTORED), undone, journal.n);
	/* What could not be restored stays in the journal. */
	if (journal.n > 0) {
		r = journal_save(&journal, err);
	} else {
		crash_point();
		r = journal_remove(err);
	}
	if (r < 0)
		return r;
	r = restore_show(report, undone, err);
	if (r < 0 && !options.run_for) /* the exit status is the command's, whoever reads our table */
		return r;
	if (report_count(report, OUTCOME_FAILED))
		return STATUS_ERROR;
	if (options.forget) /* what differs has been listed, as the user wants it to stay */
		return STATUS_DONE;
	return report_count(report, OUTCOME_LEFT_ALONE) || report_count(report, OUTCOME_DIFFERENT)
		       ? STATUS_NOT_FIT
		       : STATUS_DONE;
}

int restore_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(lock_release) struct lock lock = {.fd = -1};
	int r = privilege_keep_for_settings(err);

	if (r < 0)
		return r;
	interrupt_init(); /* only KILL ends this process before all is done */
	interrupt_block_others();
	crash_point_kill_after(options.kill_after);
	r = journal_lock(&lock, err);
	return r < 0 ? r : change_restore_locked(0, err);
}

/* The kernel changes some files along with others: a governor changes preferences, the turbo switch of all policies
 * rewrites that of each policy. So what is restored is decided before anything is written. All of it is written in
 * an order that suits the kernel, and what does not hold its value then is written once more. */

enum { ORDERS = 16, ATTEMPTS = 2 };

/* A setting of the journal on its way back. */
struct returning {
	struct entry *entry; /* NULL: it is not restored */
	char *before;        /* its value before the restore; NULL: it could not be read */
	bool theirs;         /* somebody else has changed it since */
	struct kernel_setting_result result;
};

/* The entries from the first to restore on, each with its setting or none. */
struct restoring {
	struct returning *files;
	size_t n;
};

static void restoring_clear(struct restoring *restoring)
{
	for (size_t i = 0; restoring->files && i < restoring->n; i++) {
		free(restoring->files[i].before);
		free(restoring->files[i].result.held);
	}
	free(restoring->files);
}

/* Whether both belong to one policy, or one of them to none. */
static bool is_same_policy(const char *path, const char *other)
{
	const char *policy = strstr(path, "/policy");
	size_t len = policy ? (size_t)(policy - path) + 1 + strcspn(policy + 1, "/") : 0;

	return !policy || !strstr(other, "/policy") || (!strncmp(path, other, len) && other[len] == '/');
}

/* Whether the kernel changes `e` along with the setting `with`. */
static bool is_along(const struct entry *e, const struct entry *with)
{
	const struct check *check = check_rows_find(with->id);

	if (!check || entry_is_kept(with) || !is_same_policy(with->name, e->name))
		return false;
	return entry_is_kept(e)
		       ? !strcmp(e->id, with->id)
		       : check->setting.coupled_check && !strcmp(check->setting.coupled_check, e->id);
}

/* Whether the kernel changes this setting along with another one that has its old value again: then a restore was
 * interrupted, and the value is not somebody else's. */
static bool changed_along(const struct restoring *restoring, const struct entry *e)
{
	for (size_t i = 0; i < restoring->n; i++) {
		const struct returning *f = &restoring->files[i];

		if (f->entry && is_along(e, f->entry) && f->before && !strcmp(f->before, f->entry->old) &&
			strcmp(f->entry->want, f->entry->old) != 0)
			return true;
	}
	return false;
}

/* What belongs to a governor is left alone with it. */
static bool follows_others(const struct restoring *restoring, const struct entry *e)
{
	for (size_t i = 0; entry_is_kept(e) && strstr(e->name, "/policy") && i < restoring->n; i++) {
		const struct returning *f = &restoring->files[i];

		if (f->theirs && is_along(e, f->entry))
			return true;
	}
	return false;
}

/* Limits are two files: whether one has its old value and the other what we set, as a restore leaves them that was killed
 * between the two. */
static bool is_half_restored(const struct entry *e, const char *now)
{
	long long old[2], held[2], is[2];

	if (e->file_kind != SETTING_LIMITS || sscanf(now, "%lld %lld", &is[0], &is[1]) != 2 ||
		sscanf(e->old, "%lld %lld", &old[0], &old[1]) != 2 ||
		sscanf(e->held, "%lld %lld", &held[0], &held[1]) != 2)
		return false;
	return (is[0] == old[0] || is[0] == held[0]) && (is[1] == old[1] || is[1] == held[1]);
}

/* Ours if it is the value that we set, or if we were killed before we could record that. */
static bool is_ours(const struct restoring *restoring, const struct returning *f)
{
	const struct entry *e = f->entry;

	return !f->before || !strcmp(f->before, e->old) || !e->held || !strcmp(f->before, e->held) ||
	       !strcmp(f->before, e->want) || is_half_restored(e, f->before) || changed_along(restoring, e);
}

/* What is only kept comes last: it needs the governor, the limits and the CPUs. */
static int order_of(const struct entry *e)
{
	const struct check *check = check_rows_find(e->id);

	return check && !entry_is_kept(e) ? check->setting.restore_order : ORDERS - 1;
}

static void write_all(struct restoring *restoring, int order)
{
	for (size_t i = restoring->n; i-- > 0;) { /* the last one first */
		struct returning *f = &restoring->files[i];
		struct kernel_setting file;

		if (!f->entry || order_of(f->entry) != order)
			continue;
		file = entry_setting(f->entry);
		free(TAKE(f->result.held));
		f->result = kernel_setting_set(&file, f->entry->old);
		crash_point();
	}
}

static void restore_settle(struct returning *f, struct report *report)
{
	struct entry *e = f->entry;

	if (f->result.outcome == SETTING_OFFLINE) {
		change_keep(e, OUTCOME_LEFT_ALONE, NULL,
			options.forget ? "its CPUs are offline"
				       : "its CPUs are offline; set them online, then restore again",
			report);
		return;
	}
	if (f->result.outcome == SETTING_REFUSED || f->result.outcome == SETTING_CLAMPED) {
		/* What could not be restored is tried again by the next restore. */
		free(f->entry->held);
		f->entry->held = TAKE(f->result.held);
		change_keep(f->entry, OUTCOME_FAILED, f->entry->held ?: f->before,
			f->result.outcome == SETTING_REFUSED ? strerror(-f->result.error)
							     : "the kernel set another value than requested",
			report);
		return;
	}
	if (f->result.outcome == SETTING_ABSENT)
		report_entry(report, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
	else if (f->before && !strcmp(f->before, e->old))
		report_entry(report, e, OUTCOME_ALREADY, e->old, e->old, NULL);
	else {
		action_log(ACTION_RESTORE_ONE, "%s: %s restored from %s to %s", e->id, e->name,
			f->before ?: "?", e->old);
		report_entry(report, e, OUTCOME_RESTORED, f->before, e->old, NULL);
	}
	entry_clear(e);
}

/* Its part for settings: entries that are restored, or that --forget drops, are cleared. */
static void change_restore_files(struct journal *j, size_t first, struct report *report)
{
	_cleanup_(restoring_clear) struct restoring restoring = {.n = j->n - first};

	restoring.files = xcalloc(restoring.n + 1, sizeof(*restoring.files));
	for (size_t i = 0; i < restoring.n; i++) {
		struct returning *f = &restoring.files[i];
		struct entry *e = &j->entries[first + i];
		struct kernel_setting file = entry_setting(e);

		if (e->kind != ENTRY_FILE)
			continue;
		f->entry = e;
		if (kernel_setting_read(&file, &f->before) < 0)
			f->before = NULL;
	}
	for (size_t i = 0; i < restoring.n; i++) {
		struct returning *f = &restoring.files[i];

		f->theirs = f->entry && !options.force && !is_ours(&restoring, f);
	}
	for (size_t i = 0; i < restoring.n; i++) {
		struct returning *f = &restoring.files[i];

		f->theirs = f->theirs || (f->entry && follows_others(&restoring, f->entry));
	}
	for (size_t i = restoring.n; i-- > 0;) {
		struct returning *f = &restoring.files[i];

		if (!f->theirs)
			continue;
		change_keep(f->entry, OUTCOME_LEFT_ALONE, f->before,
			"changed by somebody else; --force restores it, --forget keeps it", report);
		f->entry = NULL;
	}
	for (int attempt = 0; attempt < ATTEMPTS; attempt++)
		for (int order = 0; order < ORDERS; order++)
			write_all(&restoring, order);
	for (size_t i = restoring.n; i-- > 0;)
		if (restoring.files[i].entry)
			restore_settle(&restoring.files[i], report);
}
