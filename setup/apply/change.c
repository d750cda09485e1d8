/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a plan: see change.h. */
#include "setup/apply/change.h"

#include "lib/host/cpu/cpupower.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/kernel_setting.h"
#include "setup/apply/block.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/journal.h"
#include "setup/apply/limits.h"
#include "setup/apply/report.h"
#include "setup/audit/checks.h"
#include "setup/options.h"

/* Records in the journal what the entry at place i holds, which is taken over. */
static int record_held(struct plan *plan, size_t i, char *held, struct error *err)
{
	struct entry *e = plan_entry(plan, i);
	int r;

	free(e->held);
	e->held = held;
	r = journal_mark(&plan->journal, plan->order[i], err);
	crash_point();
	return r;
}

/* An error only if it was interrupted. */
static int set_unit(struct entry *e, struct units *units, struct error *err)
{
	bool start = !strcmp(e->want, "active");
	struct error why = {};
	int r = units_set(units, e->name, start, &why);

	crash_point();
	if (r == -EINTR)
		return error_say(err, r, "interrupted while it waited for %s to %s", e->name,
			start ? "start" : "stop");
	/* systemd may do it later if it has not answered */
	e->done = r != -ETIMEDOUT && units_state(units, e->name) == start;
	free(e->why);
	if (r < 0)
		e->why = xstrdup(why.text);
	else
		e->why = xstrdup(start ? "it did not start (a condition of the unit does not hold)"
				       : "it was started again");
	return 0;
}

bool entry_is_switched(const struct entry *e)
{
	return e->kind == ENTRY_UNIT && strcmp(e->old, e->want) != 0;
}

/* With --wait, waits for the processes that stopped units have left behind: units of this plan, and
 * units that were stopped before. An error only if it was interrupted. */
static int wait_for_left(const struct plan *plan, struct error *err)
{
	size_t n = options.wait ? plan->n_order + plan->facts.left.n : 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct entry *e = i < plan->n_order ? plan_entry(plan, i) : NULL;
		const char *unit = e ? e->name : plan->facts.left.items[i - plan->n_order].unit;

		if (!e || (entry_is_switched(e) && e->done && unit_is_kind(unit, ".service")))
			r = units_wait_left(plan->units, unit);
	}
	if (r < 0)
		return error_say(
			err, r, "interrupted while it waited for processes of stopped units");
	return 0;
}

/* Whether a stopped unit has left processes behind; then it is reported. */
static bool report_left(struct plan *plan, const char *unit)
{
	_cleanup_(freep) char *left = units_left(plan->units, unit), *note = NULL;

	if (!left)
		return false;
	note = text_format("it has left %s; --wait waits for their end", left);
	report_add(&plan->report, CHECK_ID_SERVICES, unit, OUTCOME_CLAMPED, "active", "inactive",
		note);
	return true;
}

/* Reports what became of a unit that was only to be kept from being started. That it could not be
 * is reported already. */
static void report_blocked(struct plan *plan, const struct entry *e)
{
	const bool already = e->was_blocked || e->block == BLOCK_NONE;

	if (already || entry_is_blocked(e))
		report_entry(&plan->report, e, already ? OUTCOME_ALREADY : OUTCOME_CHANGED, e->old,
			entry_blocked_word(e), NULL);
}

/* Reports a unit that is as wanted now. */
static void report_switched(struct plan *plan, const struct entry *e)
{
	const bool start = !strcmp(e->want, "active");

	action_log(ACTION_STOP, "%s: %s %s", e->id, e->name, start ? "started" : "stopped");
	if (e->was_set)
		report_entry(&plan->report, e, OUTCOME_ALREADY, e->want, e->want, NULL);
	else if (start || !report_left(plan, e->name))
		report_entry(&plan->report, e, OUTCOME_CHANGED, start ? "inactive" : "active",
			e->want, e->loses);
}

/* Reports what became of the units, and records for status that those that were refused hold their
 * old values. */
static int report_units(struct plan *plan, int r, struct error *err)
{
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind != ENTRY_UNIT)
			continue;
		if (!entry_is_switched(e)) {
			report_blocked(plan, e);
		} else if (e->done) {
			report_switched(plan, e);
		} else {
			report_entry(&plan->report, e, OUTCOME_REFUSED, e->old, e->old, e->why);
			if (r == 0)
				r = record_held(plan, i, xstrdup(e->old), err);
		}
	}
	for (size_t i = 0; i < plan->facts.left.n; i++)
		report_left(plan, plan->facts.left.items[i].unit);
	return r;
}

/* Stops or starts the units that are not done yet. */
static int switch_units(struct plan *plan, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		struct entry *e = plan_entry(plan, i);

		if (!entry_is_switched(e) || e->done)
			continue;
		if (!e->begun) {
			e->begun = true;
			r = record_held(plan, i, NULL, err);
		}
		if (r == 0)
			r = set_unit(e, plan->units, err);
		if (r == 0 && e->done)
			r = record_held(plan, i, xstrdup(e->want), err);
	}
	return r;
}

int change_units(struct plan *plan, struct error *err)
{
	_cleanup_(freep) struct entry **blocked = NULL;
	size_t n_blocked = 0;
	int r;

	/* A second attempt for what is not done: another unit that was still active may have
	 * prevented it. */
	for (int attempt = 0; attempt < 2; attempt++) {
		r = switch_units(plan, err);
		if (r < 0)
			return r;
	}

	/* Stop first, then mask: an active timer that is masked fails, and a socket stays open. */
	for (size_t i = 0; i < plan->n_order; i++) {
		struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_UNIT && e->block != BLOCK_NONE &&
			(!entry_is_switched(e) || e->held))
			*array_add(blocked, n_blocked) = e;
	}
	entries_block(plan->units, blocked, n_blocked, true, &plan->report);

	/* A request over D-Bus starts a service again, until it is masked. */
	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_UNIT && (e->done || !entry_is_switched(e)) &&
			units_is_up(plan->units, e->name) != !strcmp(e->want, "active"))
			r = set_unit(e, plan->units, err);
	}
	if (r == 0)
		r = wait_for_left(plan, err);
	return report_units(plan, r, err);
}

/* Why a setting does not hold what was requested, or what is lost; NULL: nothing is to be said. */
static const char *note_of(const struct entry *e, const struct kernel_setting_result *result)
{
	switch (result->outcome) {
	case SETTING_OFFLINE:
		return "its CPUs are offline";
	case SETTING_REFUSED:
		return result->error == -EROFS ? "read-only here; only the host can change it"
					       : strerror(-result->error);
	case SETTING_CLAMPED:
		return "the kernel set another value than requested";
	case SETTING_CHANGED:
		return e->loses;
	case SETTING_ALREADY:
	case SETTING_ABSENT:
		break;
	}
	return NULL;
}

static int set_file(struct plan *plan, size_t i, struct error *err)
{
	static const enum outcome outcomes[] = {
		[SETTING_CHANGED] = OUTCOME_CHANGED,
		[SETTING_ALREADY] = OUTCOME_ALREADY,
		[SETTING_ABSENT] = OUTCOME_ABSENT,
		[SETTING_OFFLINE] = OUTCOME_ABSENT,
		[SETTING_REFUSED] = OUTCOME_REFUSED,
		[SETTING_CLAMPED] = OUTCOME_CLAMPED,
	};
	struct entry *e = plan_entry(plan, i);
	struct kernel_setting file = entry_setting(e);
	_cleanup_(freep) char *before = entry_read(e, NULL), *held = NULL;
	struct kernel_setting_result result;
	int r;

	e->begun = true;
	r = record_held(plan, i, NULL, err);
	if (r < 0)
		return r;
	result = kernel_setting_set(&file, e->want);
	held = result.held;
	crash_point();

	if (result.outcome == SETTING_CHANGED || result.outcome == SETTING_CLAMPED)
		action_log(ACTION_SET, "%s: %s set from %s to %s", e->id, e->name, before ?: "?",
			held ?: e->want);
	if (held) /* also if nothing was changed: later changes are somebody else's */
		r = record_held(plan, i, xstrdup(held), err);
	report_entry(&plan->report, e, outcomes[result.outcome], before, held, note_of(e, &result));
	return r;
}

/* Finds out which limits nobody has set, before anything else changes them: lifted, they keep their
 * value. If apply is killed while they are lifted, the restore finds it out. */
static int record_limits(struct plan *plan, size_t i, struct error *err)
{
	struct entry *e = plan_entry(plan, i);
	_cleanup_(freep) char *back = NULL;
	int r;

	if (cpufreq_shows_limits(e->name)) {
		e->limits = LIMITS_LIFTED;
		r = record_held(plan, i, NULL, err);
		if (r < 0)
			return r;
	}
	entry_find_limits(e, plan->order[i] < plan->n_open); /* of an older version */
	crash_point();
	if (!(e->limits & LIMITS_KNOWN))
		return 0; /* the change itself reports it */
	r = record_held(plan, i, NULL, err);
	back = entry_limits(e, e->old);
	cpufreq_write_limits(e->name, back);
	crash_point();
	return r;
}

int change_files(struct plan *plan, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_FILE && e->file_kind == SETTING_LIMITS &&
			!(e->limits & LIMITS_KNOWN))
			r = record_limits(plan, i, err);
	}

	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);
		char *now;

		if (interrupt_pending())
			return error_say(err, -EINTR, "interrupted");
		if (e->kind != ENTRY_FILE)
			continue;
		if (entry_is_kept(e) && e->file_kind == SETTING_LIMITS)
			cpufreq_settle_limits(e->name);
		if (!entry_is_kept(e))
			r = set_file(plan, i, err);
		/* the value that the changes before it have left */
		else if ((now = entry_read(e, NULL)))
			r = record_held(plan, i, now, err);
	}
	return r;
}
