/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See restore_units.h. */
#include "setup/apply/restore_units.h"

#include "lib/host/process/privilege.h"
#include "setup/apply/block.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/journal.h"
#include "setup/apply/reached.h"
#include "setup/apply/waiting.h"
#include "setup/options.h"

static void switch_unit(struct restore *r, struct entry *e, bool start)
{
	_cleanup_(argv_freep) char **names = NULL;
	const char *remark = NULL;
	struct error why = {};
	int result;

	/* A socket cannot be opened while its service runs: apply was killed between the two. The
	 * service is restored later. */
	if (start && unit_is_kind(e->name, ".socket"))
		units_get(r->units, e->name, "Unit.Triggers", 'a', &names, &why);
	for (char **name = names; name && *name; name++) {
		struct entry *service = journal_find(&r->journal, *name);

		if (!service || strcmp(service->back, "active") != 0 ||
			!units_is_up(r->units, *name))
			continue;
		service->begun = true; /* this restore may be killed, too */
		journal_mark(&r->journal, (size_t)(service - r->journal.entries), NULL);
		units_set(r->units, *name, false, &why);
		crash_point();
		free(service->want); /* --for may have started it again */
		service->want = xstrdup("inactive");
	}
	result = units_set(r->units, e->name, start, &why);
	crash_point();
	if (result < 0) {
		restore_settle(
			r, e, (struct settlement){OUTCOME_FAILED, e->back, e->want, why.text});
		return;
	}
	action_log(ACTION_RESTORE_ONE, "%s: %s %s again", e->id, e->name,
		start ? "started" : "stopped");
	if (units_is_up(r->units, e->name) != start)
		remark = "it was started, and has ended by itself";
	restore_settle(r, e, (struct settlement){OUTCOME_RESTORED, e->want, e->back, remark});
}

/* Why a unit is not started: processes of its last start still run, and another start would begin
 * their work once more. Cron does not: a file marks that its jobs of @reboot were begun. The caller
 * frees it; NULL: it may be started. */
static char *start_would_repeat(const struct restore *r, const char *name)
{
	bool cron = text_has_word("cron.service crond.service cronie.service", name) &&
		    (access("/run/crond.reboot", F_OK) == 0 ||
			    access("/run/cron.reboot", F_OK) == 0);
	_cleanup_(freep) char *left = NULL;
	int waited = -1;

	if (cron || options.force || !unit_is_kind(name, ".service"))
		return NULL;
	left = units_left_of_start(r->units, name);
	if (left && options.wait) {
		waiting_begin(r->units, "leaves it alone");
		waited = units_wait_left(r->units, name);
		waiting_begin(r->units, NULL);
	}
	if (!left || waited >= 0)
		return NULL;
	return text_format("%s of its last start still runs", left);
}

static void restore_unit(struct restore *r, struct entry *e)
{
	const bool start = !strcmp(e->back, "active");
	const bool stays = e->back != e->old && !start && !e->unblocked;
	const int state = r->units ? units_state(r->units, e->name) : -ENOTCONN;
	struct settlement failed = {OUTCOME_FAILED, e->back, e->want};
	_cleanup_(freep) char *load = NULL, *repeats = NULL;

	if (state < 0) {
		failed.note = "systemd does not answer";
		restore_settle(r, e, failed);
		return;
	}
	if (e->changed_externally) {
		e->now = entry_read(e, r->units);
		restore_leave_changed(r, e);
		return;
	}
	if (!stays &&
		entry_is_blocked(e)) { /* that it could not be unblocked is reported already */
		failed.note = "it is still kept from being started";
		restore_settle(r, e, failed);
		return;
	}
	if (!strcmp(e->back, e->want) || state == start) {
		restore_settle(r, e, (struct settlement){OUTCOME_ALREADY, e->back, e->back});
		return;
	}

	if (start)
		units_get(r->units, e->name, "Unit.LoadState", 's', &load, NULL);
	if (load && !strcmp(load, "not-found")) /* such as a package that was removed */
		restore_settle(r, e,
			(struct settlement){
				OUTCOME_DIFFERENT, e->back, "inactive", "it no longer exists"});
	else if (load && !strcmp(load, "masked"))
		restore_settle(r, e,
			(struct settlement){OUTCOME_LEFT_ALONE, e->back, e->want,
				"masked by somebody else", .ways = "--forget leaves it so"});
	else if (load && (repeats = start_would_repeat(r, e->name)))
		restore_settle(r, e,
			(struct settlement){OUTCOME_LEFT_ALONE, e->back, e->want, repeats,
				.ways = "--wait waits for its end, --force starts it now"});
	else
		switch_unit(r, e, start);
}

/* Units that start others come first, but timers last: a socket cannot be opened once its service
 * runs, and an overdue timer starts its service at once. A unit that systemd stops when nothing
 * needs it comes after those that may need it. */
enum rank { RANK_TRIGGER, RANK_SERVICE, RANK_NEEDED, RANK_TIMER, RANKS };

static enum rank rank_of(const struct entry *e, struct units *units)
{
	if (unit_is_kind(e->name, ".timer"))
		return RANK_TIMER;
	if (units && units_flag(units, e->name, "Unit.StopWhenUnneeded", false))
		return RANK_NEEDED;
	return unit_is_kind(e->name, ".service") ? RANK_SERVICE : RANK_TRIGGER;
}

void restore_units(struct restore *r)
{
	_cleanup_(freep) struct entry **blocked = NULL;
	size_t n = r->journal.n, n_blocked = 0;

	if (r->units && !options.force)
		journal_find_unreached(&r->journal, r->units);
	for (size_t i = 0; r->units && i < n; i++) {
		struct entry *e = &r->journal.entries[i];

		/* one that goes on to be applied is blocked as long as it does not run */
		if (e->taken && e->name && e->kind == ENTRY_UNIT && e->block != BLOCK_NONE &&
			(e->back == e->old || !strcmp(e->back, "active") || e->unblocked))
			*array_add(blocked, n_blocked) = e;
	}
	entries_block(r->units, blocked, n_blocked, false, &r->report);
	if (r->units)
		waiting_begin(r->units, NULL);
	for (int rank = 0; rank < RANKS; rank++)
		for (size_t i = 0; i < n; i++) { /* the last one first, but for RANK_NEEDED */
			struct entry *e = &r->journal.entries[rank == RANK_NEEDED ? i : n - 1 - i];

			if (e->taken && e->name && e->kind == ENTRY_UNIT &&
				(int)rank_of(e, r->units) == rank)
				restore_unit(r, e);
		}
	waiting_end();
}
