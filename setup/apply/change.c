/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries out a plan: see apply.h.
 *
 * A unit is kept from being started by a mask, a link to /dev/null with its name, which systemd makes. For a unit
 * whose own file is in /etc, a mask in /run has no effect, and the name in /etc is taken: a drop-in gives it a
 * condition that never holds. */
#include "setup/apply/apply.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/host/process/signals.h"
#include "lib/host/systemd/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static int points_left;

void crash_point_kill_after(int n)
{
	points_left = n;
}

void crash_point(void)
{
	if (points_left > 0 && --points_left == 0)
		raise(SIGKILL);
}

static const char DROP_IN[] = "# Made by \"emp-setup apply\", removed by \"emp-setup restore\".\n"
			      "[Unit]\nConditionPathExists=/dev/null/no-start-while-timing\n";

static const char *root_of(const struct entry *e)
{
	return e->persistent ? "/etc/systemd/system" : "/run/systemd/system";
}

static bool is_masked(const struct entry *e)
{
	_cleanup_(freep) char *path = text_format("%s/%s", root_of(e), e->name);
	char target[16] = "";

	return path && readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "/dev/null");
}

bool change_is_blocked(const struct entry *e)
{
	_cleanup_(freep) char *path = text_format("%s/%s.d/90-emp-setup.conf", root_of(e), e->name);

	if (e->block == BLOCK_DROP_IN)
		return path && access(path, F_OK) == 0;
	return e->block == BLOCK_MASK && is_masked(e);
}

static int write_drop_in(const char *directory, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/90-emp-setup.conf", directory);
	_cleanup_(closep) int fd = -1;

	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make %s", directory);
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644) : -1;
	if (fd < 0 || write(fd, DROP_IN, strlen(DROP_IN)) != (ssize_t)strlen(DROP_IN))
		return error_os(err, fd < 0 ? -errno : -EIO, "cannot write %s", path ?: directory);
	return fsync(fd) < 0 ? error_os(err, -errno, "cannot write %s", path) : 0;
}

static int remove_drop_in(const char *directory, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/90-emp-setup.conf", directory);

	if (unlink(path) < 0 && errno != ENOENT)
		return error_os(err, -errno, "cannot remove %s", path);
	if (rmdir(directory) < 0 && errno != ENOENT && errno != ENOTEMPTY)
		return error_os(err, -errno, "cannot remove %s", directory);
	return 0;
}

static int set_block(struct units *units, const struct entry *e, bool blocked, struct error *err)
{
	_cleanup_(freep) char *directory = text_format("%s/%s.d", root_of(e), e->name);

	if (e->block == BLOCK_DROP_IN)
		return blocked ? write_drop_in(directory, err) : remove_drop_in(directory, err);
	if (e->block == BLOCK_NONE || is_masked(e) == blocked)
		return 0;
	return units_mask(units, e->name, blocked, e->persistent, err);
}

void change_block(struct units *units, const struct entry *e, bool blocked, struct report *report)
{
	struct error why = {};

	if (set_block(units, e, blocked, &why) < 0)
		report_entry(report, e, blocked ? OUTCOME_REFUSED : OUTCOME_FAILED, NULL, NULL, why.text);
	crash_point();
}

void change_reload(struct units *units, enum outcome failed, struct report *report)
{
	struct error why = {};

	if (units_reload(units, &why) < 0)
		report_add(report, "svc.units", "-", failed, NULL, NULL, why.text);
	crash_point();
}

static const char *note_of(const struct kernel_setting_result *result)
{
	if (result->outcome == SETTING_OFFLINE)
		return "its CPUs are offline";
	if (result->outcome == SETTING_REFUSED)
		return result->error == -EROFS ? "read-only here; only the host can change it"
					       : strerror(-result->error);
	return result->outcome == SETTING_CLAMPED ? "the kernel set another value than requested" : NULL;
}

/* The value that the changes before it have left. */
static int keep_file(struct plan *plan, size_t i, struct error *err)
{
	struct entry *e = &plan->journal.entries[i];
	struct kernel_setting file = entry_setting(e);
	_cleanup_(freep) char *now = NULL;
	int r;

	if (kernel_setting_read(&file, &now) < 0)
		return 0;
	free(e->held);
	e->held = TAKE(now);
	r = journal_mark(&plan->journal, i, err);
	crash_point();
	return r;
}

static int set_file(struct plan *plan, size_t i, struct report *report, struct error *err)
{
	struct entry *e = &plan->journal.entries[i];
	struct kernel_setting file = entry_setting(e);
	_cleanup_(freep) char *before = NULL;
	struct kernel_setting_result result;
	int r = 0;
	static const enum outcome outcomes[] = {[SETTING_CHANGED] = OUTCOME_CHANGED,
		[SETTING_ALREADY] = OUTCOME_ALREADY,
		[SETTING_ABSENT] = OUTCOME_ABSENT,
		[SETTING_OFFLINE] = OUTCOME_ABSENT,
		[SETTING_REFUSED] = OUTCOME_REFUSED,
		[SETTING_CLAMPED] = OUTCOME_CLAMPED};

	if (kernel_setting_read(&file, &before) < 0)
		before = NULL;
	result = kernel_setting_set(&file, e->want);
	crash_point();
	if (result.outcome == SETTING_CHANGED || result.outcome == SETTING_CLAMPED)
		action_log(ACTION_SET, "%s: %s set from %s to %s", e->id, e->name, before ?: "?",
			result.held ?: e->want);
	if (result.held) { /* also if nothing was changed: later changes are somebody else's */
		free(e->held);
		e->held = xstrdup(result.held);
		r = journal_mark(&plan->journal, i, err);
		crash_point();
	}

	report_entry(report, e, outcomes[result.outcome], before, result.held, note_of(&result));
	free(result.held);
	return r;
}

/* What became of a unit of a plan. */
struct unit_result {
	bool done;
	struct error why; /* where it is not done */
};

static bool is_as_wanted(const struct entry *e, struct units *units)
{
	return units_is_up(units, e->name) == !strcmp(e->want, "active");
}

/* An error only if it was interrupted. */
static int set_unit(const struct entry *e, struct units *units, struct unit_result *result, struct error *err)
{
	bool start = !strcmp(e->want, "active");
	int r = units_set(units, e->name, start, &result->why);

	crash_point();
	if (r == -EINTR)
		return error_say(err, r, "interrupted while it waited for %s to %s", e->name,
			start ? "start" : "stop");
	result->done = r != -ETIMEDOUT && is_as_wanted(e, units);
	if (!result->done && r >= 0)
		error_say(&result->why, -ECANCELED, "%s",
			start ? "it did not start (a condition of the unit does not hold)"
			      : "it was started again");
	return 0;
}

static int record_unit(struct plan *plan, size_t i, const char *held, struct error *err)
{
	struct entry *e = plan_entry(plan, i);
	int r;

	free(e->held);
	e->held = xstrdup(held);
	r = journal_mark(&plan->journal, plan->order[i], err);
	crash_point();
	return r;
}

/* It does not run, and is only kept from being started. */
static bool is_block_only(const struct entry *e)
{
	return e->kind == ENTRY_UNIT && !strcmp(e->old, e->want);
}

/* For status: what was refused holds its old value. */
static int mark_refused_units(struct plan *plan, const struct unit_result *results, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_UNIT && !is_block_only(e) && !results[i].done)
			r = record_unit(plan, i, e->old, err);
	}
	return r;
}

static int change_units(struct plan *plan, struct units *units, struct report *report, struct error *err)
{
	_cleanup_(freep) struct unit_result *results = xcalloc(plan->n_order + 1, sizeof(*results));
	int r;
	bool any = false;

	/* A second attempt for what is not done: another unit that was still active may have prevented it. */
	r = 0;
	for (int attempt = 0; attempt < 2; attempt++)
		for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
			struct entry *e = plan_entry(plan, i);

			if (e->kind != ENTRY_UNIT || is_block_only(e) || results[i].done)
				continue;
			r = set_unit(e, units, &results[i], err);
			if (r == 0 && results[i].done)
				r = record_unit(plan, i, e->want, err);
		}

	if (r < 0)
		return r;
	/* Stop first, then mask: an active timer that is masked fails, and a socket stays open. */
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind != ENTRY_UNIT || e->block == BLOCK_NONE || (!e->held && !is_block_only(e)))
			continue;
		change_block(units, e, true, report);
		any = true;
	}
	if (any)
		change_reload(units, OUTCOME_REFUSED, report);
	/* A request over D-Bus starts a service again, until it is masked. */
	r = 0;
	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_UNIT && (results[i].done || is_block_only(e)) && !is_as_wanted(e, units))
			r = set_unit(e, units, &results[i], err);
	}
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);
		bool start = !strcmp(e->want, "active");
		const char *before = start ? "inactive" : "active";

		if (e->kind != ENTRY_UNIT)
			continue;
		if (is_block_only(e))
			report_entry(report, e, OUTCOME_ALREADY, e->old, e->want, "kept from being started");
		else if (results[i].done) {
			action_log(ACTION_STOP, "%s: %s %s", e->id, e->name, start ? "started" : "stopped");
			report_entry(report, e, OUTCOME_CHANGED, before, e->want, e->loses);
		} else
			report_entry(report, e, OUTCOME_REFUSED, before, before, results[i].why.text);
	}
	return r == 0 ? mark_refused_units(plan, results, err) : r;
}

static int change_files(struct plan *plan, struct report *report, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (interrupt_pending())
			return error_say(err, -EINTR, "interrupted");
		if (e->kind == ENTRY_FILE)
			r = entry_is_kept(e) ? keep_file(plan, plan->order[i], err)
					     : set_file(plan, plan->order[i], report, err);
	}
	return r;
}

int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err)
{
	struct waiting waiting = {.interruptible = true};
	int r = 0;

	if (units) {
		units_set_waiting(units, waiting_step, &waiting);
		r = change_units(plan, units, report, err);
		units_set_waiting(units, NULL, NULL);
		waiting_end(&waiting);
	}
	if (r == 0)
		r = change_files(plan, report, err);
	if (r == 0 && interrupt_pending())
		r = error_say(err, -EINTR, "interrupted");
	return r;
}
