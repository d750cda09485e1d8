/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb restore: restores what a journal holds: see apply.h.
 *
 * It compares with the values of now, so it may run twice, and nothing is recorded on the way: a restore that was
 * killed is simply repeated. What somebody else has changed since is left alone.
 *
 * The kernel changes some files along with others: a governor changes preferences, the turbo switch of all policies
 * rewrites that of each policy. So what is restored is decided before anything is written. All of it is written in
 * an order that suits the kernel, and what does not hold its value then is written once more. */
#include "setup/apply/apply.h"

#include "lib/base/tool.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "setup/options.h"

/* One restore: the entries from the first on, and what becomes of them. An entry that is done with is cleared. */
struct restore {
	struct journal journal;
	size_t first;
	struct units *units; /* NULL: systemd does not answer */
	struct report report;
};

static void restore_clear(struct restore *r)
{
	journal_clear(&r->journal);
	units_free(r->units);
	report_clear(&r->report);
}

/* Reports an entry that failed or is left alone, with its value before apply. It stays for the next restore; with --forget it
 * is cleared, and `note` ends before "; --", the ways to treat it. */
static void keep_entry(
	struct restore *r, struct entry *e, enum outcome outcome, const char *now, const char *note)
{
	const char *way = options.forget ? strstr(note, "; --") : NULL;
	_cleanup_(freep) char *cause = way ? xstrndup(note, (size_t)(way - note)) : NULL;

	report_entry(&r->report, e, options.forget ? OUTCOME_FORGOTTEN : outcome, *e->old ? e->old : NULL,
		now, cause ?: note);
	if (options.forget)
		entry_clear(e);
}

/* Reports an entry that is restored, or need not be, and clears it. */
static void finish_entry(struct restore *r, struct entry *e, enum outcome outcome, const char *before,
	const char *now, const char *note)
{
	report_entry(&r->report, e, outcome, before, now, note);
	entry_clear(e);
}

/* Files. */

/* Whether the kernel changes `e` along with the setting `with`: both belong to one policy, or one of them to none. */
static bool is_coupled(const struct entry *e, const struct entry *with)
{
	const struct check *check = check_rows_find(with->id);
	const char *policy = strstr(with->name, "/policy");
	size_t len = policy ? (size_t)(policy - with->name) + 1 + strcspn(policy + 1, "/") : 0;

	if (!check || entry_is_kept(with) ||
		(policy && strstr(e->name, "/policy") &&
			(strncmp(with->name, e->name, len) != 0 || e->name[len] != '/')))
		return false;
	return entry_is_kept(e)
		       ? !strcmp(e->id, with->id)
		       : check->setting.coupled_check && !strcmp(check->setting.coupled_check, e->id);
}

/* Limits are two files: whether one has its old value and the other what we set, as a restore leaves them that was killed
 * between the two. */
static bool is_half_restored(const struct entry *e)
{
	long long old[2], held[2], is[2];

	if (e->file_kind != SETTING_LIMITS || sscanf(e->now, "%lld %lld", &is[0], &is[1]) != 2 ||
		sscanf(e->old, "%lld %lld", &old[0], &old[1]) != 2 ||
		sscanf(e->held, "%lld %lld", &held[0], &held[1]) != 2)
		return false;
	return (is[0] == old[0] || is[0] == held[0]) && (is[1] == old[1] || is[1] == held[1]);
}

/* Whether a file has neither its old value nor the one that we set. It is not somebody else's if we were killed before we could
 * record it, or if the kernel changes it along with another one that has its old value again: then a restore was interrupted. */
static bool is_changed_externally(const struct restore *r, const struct entry *e)
{
	if (!e->now || !strcmp(e->now, e->old) || !e->held || !strcmp(e->now, e->held) ||
		!strcmp(e->now, e->want) || is_half_restored(e))
		return false;
	for (size_t i = r->first; i < r->journal.n; i++) {
		const struct entry *other = &r->journal.entries[i];

		if (other->kind == ENTRY_FILE && is_coupled(e, other) && other->now &&
			!strcmp(other->now, other->old) && strcmp(other->want, other->old) != 0)
			return false;
	}
	return true;
}

/* What belongs to a governor is left alone with it. */
static bool follows_changed(const struct restore *r, const struct entry *e)
{
	for (size_t i = r->first; entry_is_kept(e) && strstr(e->name, "/policy") && i < r->journal.n; i++)
		if (r->journal.entries[i].changed_externally && is_coupled(e, &r->journal.entries[i]))
			return true;
	return false;
}

/* Writes the files of one order, the last one first. What is only kept comes last of all: it needs the governor, the limits and
 * the CPUs. */
static void write_files(struct restore *r, int order, int last)
{
	for (size_t i = r->journal.n; i-- > r->first;) {
		struct entry *e = &r->journal.entries[i];
		const struct check *check;
		struct kernel_setting file;

		if (!e->name || e->kind != ENTRY_FILE || e->changed_externally)
			continue;
		check = check_rows_find(e->id);
		if ((check && !entry_is_kept(e) ? check->setting.restore_order : last) != order)
			continue;
		file = entry_setting(e);
		free(e->result.held);
		e->result = kernel_setting_set(&file, e->old);
		crash_point();
	}
}

static void settle_file(struct restore *r, struct entry *e)
{
	const struct kernel_setting_result *result = &e->result;

	if (result->outcome == SETTING_OFFLINE)
		keep_entry(r, e, OUTCOME_LEFT_ALONE, NULL,
			options.forget ? "its CPUs are offline"
				       : "its CPUs are offline; set them online, then restore again");
	else if (result->outcome == SETTING_REFUSED || result->outcome == SETTING_CLAMPED) {
		/* What could not be restored is tried again by the next restore. */
		free(e->held);
		e->held = TAKE(e->result.held);
		keep_entry(r, e, OUTCOME_FAILED, e->held ?: e->now,
			result->outcome == SETTING_REFUSED ? strerror(-result->error)
							   : "the kernel set another value than requested");
	} else if (result->outcome == SETTING_ABSENT)
		finish_entry(r, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
	else if (e->now && !strcmp(e->now, e->old))
		finish_entry(r, e, OUTCOME_ALREADY, e->old, e->old, NULL);
	else {
		action_log(ACTION_RESTORE_ONE, "%s: %s restored from %s to %s", e->id, e->name, e->now ?: "?",
			e->old);
		finish_entry(r, e, OUTCOME_RESTORED, e->now, e->old, NULL);
	}
}

static void restore_files(struct restore *r)
{
	enum { ORDERS = 16, ATTEMPTS = 2 };
	struct entry *entries = r->journal.entries;
	size_t n = r->journal.n;

	for (size_t i = r->first; i < n; i++)
		entries[i].now = entry_read(&entries[i], NULL); /* NULL for units */
	for (size_t i = r->first; i < n && !options.force; i++)
		entries[i].changed_externally = is_changed_externally(r, &entries[i]);
	for (size_t i = r->first; i < n; i++)
		if (follows_changed(r, &entries[i]))
			entries[i].changed_externally = true;
	for (size_t i = n; i-- > r->first;)
		if (entries[i].changed_externally)
			keep_entry(r, &entries[i], OUTCOME_LEFT_ALONE, entries[i].now,
				"changed by somebody else; --force restores it, --forget keeps it");
	for (int i = 0; i < ATTEMPTS * ORDERS; i++)
		write_files(r, i % ORDERS, ORDERS - 1);
	for (size_t i = n; i-- > r->first;)
		if (entries[i].name && entries[i].kind == ENTRY_FILE && !entries[i].changed_externally)
			settle_file(r, &entries[i]);
}

/* Units. */

static void switch_unit(struct restore *r, struct entry *e, bool start)
{
	_cleanup_(argv_freep) char **names = NULL;
	struct error why = {};
	int result;

	/* A socket cannot be opened while its service runs: apply was killed between the two. The service is restored later. */
	if (start && unit_is_kind(e->name, ".socket") &&
		units_names(r->units, e->name, "Triggers", &names, &why) < 0)
		names = NULL;
	for (char **name = names; name && *name; name++) {
		const struct entry *service = journal_find(&r->journal, *name);

		if (service && !strcmp(service->old, "active") && units_is_up(r->units, *name))
			units_set(r->units, *name, false, &why);
	}
	result = units_set(r->units, e->name, start, &why);
	crash_point();
	if (result < 0) {
		keep_entry(r, e, OUTCOME_FAILED, e->want, why.text);
		return;
	}
	action_log(ACTION_RESTORE_ONE, "%s: %s %s again", e->id, e->name, start ? "started" : "stopped");
	finish_entry(r, e, OUTCOME_RESTORED, e->want, e->old,
		units_is_up(r->units, e->name) == start ? NULL : "it was started, and has ended by itself");
}

static void restore_unit(struct restore *r, struct entry *e)
{
	_cleanup_(freep) char *load = NULL;
	bool start = !strcmp(e->old, "active");
	struct error err2;

	if (!r->units)
		keep_entry(r, e, OUTCOME_FAILED, e->want, "systemd does not answer");
	else if (change_is_blocked(e)) /* that it could not be unblocked is reported already */
		keep_entry(r, e, OUTCOME_FAILED, e->want, "it is still kept from being started");
	else if (!strcmp(e->old, e->want) || units_is_up(r->units, e->name) == start)
		finish_entry(r, e, OUTCOME_ALREADY, e->old, e->old, NULL);
	else if (!start || units_get(r->units, e->name, "Unit.LoadState", 's', &load, &err2) < 0)
		switch_unit(r, e, start);
	else if (!strcmp(load, "not-found")) /* such as a package that was removed */
		finish_entry(r, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
	else if (!strcmp(load, "masked"))
		keep_entry(
			r, e, OUTCOME_LEFT_ALONE, e->want, "masked by somebody else; --forget leaves it so");
	else
		switch_unit(r, e, start);
}

/* What starts others comes first, and timers last: a socket cannot be opened once its service runs, and an
 * overdue timer starts its service at once. What systemd stops when nothing needs it comes after what may need it. */
enum rank { RANK_TRIGGER, RANK_SERVICE, RANK_NEEDED, RANK_TIMER, RANKS };

static enum rank rank_of(const struct entry *e, struct units *units)
{
	if (unit_is_kind(e->name, ".timer"))
		return RANK_TIMER;
	if (units && units_flag(units, e->name, "Unit.StopWhenUnneeded", false))
		return RANK_NEEDED;
	return unit_is_kind(e->name, ".service") ? RANK_SERVICE : RANK_TRIGGER;
}

static void restore_units(struct restore *r)
{
	struct waiting waiting = {};
	size_t n = r->journal.n;
	bool any = false;

	for (size_t i = r->first; r->units && i < n; i++) {
		const struct entry *e = &r->journal.entries[i];

		if (!e->name || e->kind != ENTRY_UNIT || e->block == BLOCK_NONE)
			continue;
		change_block(r->units, e, false, &r->report);
		any = true;
	}
	if (any)
		change_reload(r->units, OUTCOME_FAILED, &r->report);
	if (r->units)
		units_set_waiting(r->units, waiting_step, &waiting);
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = r->first; i < n; i++) { /* the last one first, but for RANK_NEEDED */
			struct entry *e =
				&r->journal.entries[rank == RANK_NEEDED ? i : n - 1 - (i - r->first)];

			if (e->name && e->kind == ENTRY_UNIT && (int)rank_of(e, r->units) == rank)
				restore_unit(r, e);
		}
	if (r->units)
		units_set_waiting(r->units, NULL, NULL);
	waiting_end(&waiting);
}

/* The verb. */

static int restore_show(const struct report *report, size_t n_undone, struct error *err)
{
	size_t n_failed = report->count[OUTCOME_FAILED], n_differ = report->count[OUTCOME_DIFFERENT];
	FILE *file = report_file();

	if (options.json)
		return report_print_json(
			report, json_pack("{s:I}", "undone_by_reboot", (json_int_t)n_undone), err);
	report_print(report, file, options.verbose);
	if (n_undone)
		fprintf(file, "A reboot had already undone %zu change%s.\n", n_undone,
			n_undone == 1 ? "" : "s");
	fprintf(file, "%zu restored, %zu already as before, ", report->count[OUTCOME_RESTORED],
		report->count[OUTCOME_ALREADY]);
	if (options.forget)
		fprintf(file, "%zu forgotten.\n", report->count[OUTCOME_FORGOTTEN]);
	else
		fprintf(file, "%zu left alone, %zu failed.\n", report->count[OUTCOME_LEFT_ALONE], n_failed);
	if (n_failed)
		fprintf(file, "What failed is tried again by 'emp-setup restore'; --forget drops it.\n");
	if (n_differ)
		fprintf(file, "Not as before the first apply: %zu (differs).\n", n_differ);
	return 0;
}

/* Restores what it can, and drops it from the journal in memory; what could not be restored or was left alone stays in it. */
static int restore_entries(struct restore *r, struct error *err)
{
	struct journal *j = &r->journal;

	restore_files(r);
	restore_units(r);
	for (size_t i = 0; i < j->n; i++) /* what a damaged journal has lost can only be listed */
		if (j->entries[i].name && j->entries[i].kind == ENTRY_LOST)
			keep_entry(r, &j->entries[i], OUTCOME_FAILED, NULL, j->entries[i].want);
	journal_compact(j);
	return r->first == 0 ? snapshot_compare(r->units, &r->report, err) : 0;
}

int change_restore_locked(size_t first, struct error *err)
{
	_cleanup_(restore_clear) struct restore restore = {};
	struct journal *j = &restore.journal;
	const struct report *report = &restore.report;
	struct error why = {};
	size_t n_undone;
	int r = journal_load(j, err);

	if (r < 0)
		return r;
	if (r == 0) {
		r = journal_remove(err); /* of an interrupted save */
		if (r == 0 && options.json)
			return restore_show(report, 0, err);
		if (r == 0)
			fprintf(report_file(), "Nothing is applied.\n");
		return r;
	}
	if (j->damaged && !j->incomplete)
		fprintf(stderr, "emp-setup: the journal is damaged, but all of its changes can be read\n");
	n_undone = journal_drop_stale(j);
	restore.first = first < j->n ? first : j->n; /* a restore in the meantime leaves less */
	if (units_open(&restore.units, &why) < 0)
		restore.units = NULL;
	r = options.at_boot ? 0 : restore_entries(&restore, err);
	if (r < 0)
		return r;
	action_log(ACTION_RESTORE, "emp-setup restore: %zu restored, %zu undone by a reboot, %zu left",
		report->count[OUTCOME_RESTORED], n_undone, j->n);
	/* What could not be restored stays in the journal. */
	if (j->n == 0)
		crash_point();
	r = j->n > 0 ? journal_save(j, err) : journal_remove(err);
	if (r < 0)
		return r;
	r = restore_show(report, n_undone, err);
	if (r < 0 && !options.run_for) /* the exit status is the command's, whoever reads our table */
		return r;
	if (report->count[OUTCOME_FAILED])
		return STATUS_ERROR;
	if (options.forget) /* what differs has been listed, as the user wants it to stay */
		return STATUS_DONE;
	return report->count[OUTCOME_LEFT_ALONE] || report->count[OUTCOME_DIFFERENT] ? STATUS_NOT_FIT
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
	r = lock_take(&lock, SETUP_LOCK, err);
	return r < 0 ? r : change_restore_locked(0, err);
}
