/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See restore_files.h. */
#include "setup/apply/restore_files.h"

#include "lib/host/cpu/cpupower.h"
#include "lib/host/process/privilege.h"
#include "lib/host/system/kernel_setting.h"
#include "setup/apply/changed.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/journal.h"
#include "setup/apply/limits.h"
#include "setup/apply/owners.h"
#include "setup/audit/checks.h"
#include "setup/options.h"

/* Whether this restore writes something with which the kernel changes limits. */
static bool moves_limits(const struct journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct entry *e = &j->entries[i];
		const struct check *check = e->taken && e->name ? check_rows_find(e->id) : NULL;

		if (check && check->setting.keeps && e->now && strcmp(e->now, e->back) != 0)
			return true;
	}
	return false;
}

/* Whether limits of others may be lost in this restore; `moves`: it changes limits. */
static bool may_lose_limits(const struct entry *e, bool moves)
{
	if (!e->name || e->file_kind != SETTING_LIMITS)
		return false;
	if (e->taken && e->changed_externally)
		return true;
	return moves && (!e->taken || entry_is_left(e));
}

/* A restore switches turbo, and some drivers then set the upper limit to the highest frequency. If
 * it is killed, the next restore has to know what somebody else, or another owner, had set. */
static void record_others_limits(struct journal *j)
{
	const bool moves = moves_limits(j);

	for (size_t i = 0; i < j->n; i++) {
		struct entry *e = &j->entries[i];

		if (!may_lose_limits(e, moves))
			continue;
		free(e->theirs);
		e->theirs = e->taken && e->changed_externally ? limits_of_others(e)
							      : limits_asked(e);
		if (!e->theirs)
			continue;
		journal_mark_theirs(
			j, i, NULL); /* if the disk is full, it is lost only where we are killed */
		if (!e->changed_externally) /* what was lifted is asked for again at once */
			cpufreq_write_limits(e->name, e->theirs);
	}
}

static void keep_others_limits(struct entry *e)
{
	if (!e->theirs)
		return;
	cpufreq_write_limits(e->name, e->theirs);
	cpufreq_settle_limits(e->name);
	free(TAKE(e->theirs));
	free(e->now);
	e->now = entry_read(e, NULL);
}

/* What is only kept comes last of all: it needs the governor, the limits and the CPUs. */
static enum setting_order restore_order(const struct entry *e)
{
	const struct check *check = check_rows_find(e->id);

	return check && !entry_is_kept(e) ? check->setting.restore_order : ORDER_KEPT;
}

/* Writes the files of one order, the last one first. */
static void write_files(struct restore *r, enum setting_order order, bool known)
{
	for (size_t i = r->journal.n; i-- > 0;) {
		struct entry *e = &r->journal.entries[i];
		struct kernel_setting file;

		if (!e->taken || !e->name || e->kind != ENTRY_FILE || e->changed_externally ||
			entry_is_left(e) || restore_order(e) != order)
			continue;
		file = entry_setting(e);
		free(e->result.held);
		e->result = e->file_kind == SETTING_LIMITS ? limits_write(e, known)
							   : kernel_setting_set(&file, e->back);
		crash_point();
	}
}

/* What became of a file that was written, or that was left as it is. */
static struct settlement settlement_of(const struct entry *e)
{
	const struct kernel_setting_result *result = &e->result;

	if (entry_is_left(e))
		return (struct settlement){OUTCOME_ALREADY, e->now, e->now};

	switch (result->outcome) {
	case SETTING_OFFLINE:
		return (struct settlement){OUTCOME_LEFT_ALONE, e->back,
			.note = "its CPUs are offline",
			.ways = "set them online, then restore again"};
	case SETTING_ABSENT:
		return (struct settlement){OUTCOME_ABSENT, .note = "it no longer exists"};
	case SETTING_REFUSED:
		return (struct settlement){
			OUTCOME_FAILED, e->back, e->held ?: e->now, strerror(-result->error)};
	case SETTING_CLAMPED:
		if (e->file_kind == SETTING_LIMITS)
			return (struct settlement){OUTCOME_DIFFERENT, e->back, result->held,
				"set again, but hidden while turbo is off or another limit is "
				"narrower"};
		return (struct settlement){OUTCOME_FAILED, e->back, e->held ?: e->now,
			"the kernel set another value than requested"};
	case SETTING_CHANGED:
	case SETTING_ALREADY:
		break;
	}

	if (e->now && !strcmp(e->now, e->back))
		return (struct settlement){OUTCOME_ALREADY, e->back, e->back};
	/* limits may be wider than they were */
	return (struct settlement){OUTCOME_RESTORED, e->now, result->held ?: e->back};
}

static void settle_file(struct restore *r, struct entry *e)
{
	const enum kernel_setting_outcome outcome = e->result.outcome;
	struct settlement s;

	if (entry_is_left(e) && e->now && strcmp(e->now, e->back) != 0) {
		restore_leave_changed(r, e);
		return;
	}
	if (!entry_is_left(e)) {
		/* a killed apply may have set it with another file, which is restored */
		if (outcome == SETTING_OFFLINE)
			e->begun = true;
		/* What could not be restored is tried again by the next restore. */
		if (outcome == SETTING_REFUSED ||
			(outcome == SETTING_CLAMPED && e->file_kind != SETTING_LIMITS)) {
			free(e->held);
			e->held = TAKE(e->result.held);
		}
	}
	s = settlement_of(e);
	if (s.outcome == OUTCOME_RESTORED)
		action_log(ACTION_RESTORE_ONE, "%s: %s restored from %s to %s", e->id, e->name,
			e->now ?: "?", s.now);
	restore_settle(r, e, s);
}

/* A file of a governor cannot be written while another governor is in its place. Where an owner of
 * that governor remains, the file gets its owners, and is restored with it. */
static void pass_to_owners(struct restore *r, struct entry *e)
{
	bool stays = false;

	if (!entry_is_kept(e) || e->back != e->old ||
		(e->result.outcome != SETTING_REFUSED && e->result.outcome != SETTING_ABSENT))
		return;
	for (size_t i = 0; i < r->journal.n; i++) {
		const struct entry *with = &r->journal.entries[i];

		if (!with->name || !entry_is_coupled(e, with) ||
			(with->taken && with->back == with->old))
			continue;
		entry_add_owners(e, with);
		stays |= entry_is_applied(e) || entry_needed_by(e) > 0;
	}
	if (!stays)
		return;
	e->taken = false;
	if (entry_needed_by(e) > 0) {
		r->needed_by = entry_needed_by(e);
		r->n_needed++;
	}
}

void restore_files(struct restore *r)
{
	enum { ATTEMPTS = 2 };
	struct entry *entries = r->journal.entries;
	const size_t n = r->journal.n;

	journal_set_others_limits(&r->journal);
	journal_find_changed(&r->journal);
	for (size_t i = 0; options.force && i < n; i++)
		entries[i].changed_externally = false;
	record_others_limits(&r->journal);
	for (int attempt = 0; attempt < ATTEMPTS; attempt++)
		for (enum setting_order order = ORDER_FIRST; order < N_ORDERS; order++)
			write_files(r, order, attempt > 0);

	for (size_t i = n; i-- > 0;) {
		struct entry *e = &entries[i];

		if (e->file_kind == SETTING_LIMITS)
			keep_others_limits(e);
		if (!e->taken || !e->changed_externally)
			continue;
		if (e->file_kind == SETTING_LIMITS && entry_is_kept(e))
			/* we have not set it, and the comparison with the snapshot lists it */
			entry_clear(e);
		else
			restore_leave_changed(r, e);
	}

	for (size_t i = 0; i < n; i++)
		if (entries[i].taken && entries[i].name && !entries[i].changed_externally)
			pass_to_owners(r, &entries[i]);
	for (size_t i = n; i-- > 0;)
		if (entries[i].taken && entries[i].name && entries[i].kind == ENTRY_FILE &&
			!entries[i].changed_externally)
			settle_file(r, &entries[i]);
}
