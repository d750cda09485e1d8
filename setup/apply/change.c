/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries out a plan: see apply.h.
 *
 * A unit is kept from being started by a mask, a link to /dev/null with its name, which systemd makes. For a unit
 * whose own file is in /etc, a mask in /run has no effect, and the name in /etc is taken: a drop-in gives it a
 * condition that never holds. */
#include "setup/apply/apply.h"

#include "lib/host/process/signals.h"
#include "setup/options.h"

#include <sys/stat.h>

void crash_point(void)
{
	if (options.kill_after > 0 && --options.kill_after == 0)
		raise(SIGKILL);
}

bool change_is_mask(const char *path)
{
	char target[16] = "";

	return readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "/dev/null");
}

/* The mask or the drop-in of a unit; the caller frees it. */
static char *block_path(const struct entry *e)
{
	return text_format("%s/%s%s", e->persistent ? "/etc/systemd/system" : "/run/systemd/system", e->name,
		e->block == BLOCK_DROP_IN ? ".d/" CHANGE_DROP_IN : "");
}

bool change_is_blocked(const struct entry *e)
{
	_cleanup_(freep) char *path = block_path(e);

	if (e->block == BLOCK_DROP_IN)
		return access(path, F_OK) == 0;
	return e->block == BLOCK_MASK && change_is_mask(path);
}

static int set_drop_in(const char *path, bool there, struct error *err)
{
	static const char text[] = "# Made by \"emp-setup apply\", removed by \"emp-setup restore\".\n"
				   "[Unit]\nConditionPathExists=/dev/null/no-start-while-timing\n";
	_cleanup_(freep) char *directory = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	_cleanup_(closep) int fd = -1;

	if (!there) {
		if (unlink(path) < 0 && errno != ENOENT)
			return error_os(err, -errno, "cannot remove %s", path);
		if (rmdir(directory) < 0 && errno != ENOENT && errno != ENOTEMPTY)
			return error_os(err, -errno, "cannot remove %s", directory);
		return 0;
	}
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make %s", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return error_os(err, fd < 0 ? -errno : -EIO, "cannot write %s", path);
	return fsync(fd) < 0 ? error_os(err, -errno, "cannot write %s", path) : 0;
}

void change_block(struct units *units, const struct entry *e, bool blocked, struct report *report)
{
	_cleanup_(freep) char *path = block_path(e);
	struct error why = {};
	int r = 0;

	if (e->block == BLOCK_DROP_IN)
		r = set_drop_in(path, blocked, &why);
	else if (e->block == BLOCK_MASK && change_is_mask(path) != blocked)
		r = units_mask(units, e->name, blocked, e->persistent, &why);
	if (r < 0)
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
	e->done = r != -ETIMEDOUT && units_is_up(units, e->name) == start;
	free(e->why);
	e->why = xstrdup(r < 0   ? why.text
			 : start ? "it did not start (a condition of the unit does not hold)"
				 : "it was started again");
	return 0;
}

/* A unit that runs and is to be stopped, or the other way; another is only kept from being started. */
static bool is_switched(const struct entry *e)
{
	return e->kind == ENTRY_UNIT && strcmp(e->old, e->want) != 0;
}

/* Reports what became of the units, and records for status that those that were refused hold their old values. */
static int report_units(struct plan *plan, int r, struct error *err)
{
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);
		bool start = !strcmp(e->want, "active");
		const char *before = start ? "inactive" : "active";

		if (e->kind != ENTRY_UNIT)
			continue;
		if (!is_switched(e))
			report_entry(&plan->report, e, OUTCOME_ALREADY, e->old, e->want,
				"kept from being started");
		else if (e->done) {
			action_log(ACTION_STOP, "%s: %s %s", e->id, e->name, start ? "started" : "stopped");
			report_entry(&plan->report, e, OUTCOME_CHANGED, before, e->want, e->loses);
		} else {
			report_entry(&plan->report, e, OUTCOME_REFUSED, before, before, e->why);
			r = r == 0 ? record_held(plan, i, xstrdup(e->old), err) : r;
		}
	}
	return r;
}

static int change_units(struct plan *plan, struct error *err)
{
	bool any = false;
	int r = 0;

	/* A second attempt for what is not done: another unit that was still active may have prevented it. */
	for (int attempt = 0; attempt < 2; attempt++)
		for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
			struct entry *e = plan_entry(plan, i);

			if (!is_switched(e) || e->done)
				continue;
			r = set_unit(e, plan->units, err);
			if (r == 0 && e->done)
				r = record_held(plan, i, xstrdup(e->want), err);
		}
	if (r < 0)
		return r;
	/* Stop first, then mask: an active timer that is masked fails, and a socket stays open. */
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);

		if (e->kind != ENTRY_UNIT || e->block == BLOCK_NONE || (is_switched(e) && !e->held))
			continue;
		change_block(plan->units, e, true, &plan->report);
		any = true;
	}
	if (any)
		change_reload(plan->units, OUTCOME_REFUSED, &plan->report);
	/* A request over D-Bus starts a service again, until it is masked. */
	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		struct entry *e = plan_entry(plan, i);

		if (e->kind == ENTRY_UNIT && (e->done || !is_switched(e)) &&
			units_is_up(plan->units, e->name) != !strcmp(e->want, "active"))
			r = set_unit(e, plan->units, err);
	}
	return report_units(plan, r, err);
}

static int set_file(struct plan *plan, size_t i, struct error *err)
{
	static const enum outcome outcomes[] = {[SETTING_CHANGED] = OUTCOME_CHANGED,
		[SETTING_ALREADY] = OUTCOME_ALREADY,
		[SETTING_ABSENT] = OUTCOME_ABSENT,
		[SETTING_OFFLINE] = OUTCOME_ABSENT,
		[SETTING_REFUSED] = OUTCOME_REFUSED,
		[SETTING_CLAMPED] = OUTCOME_CLAMPED};
	struct entry *e = plan_entry(plan, i);
	struct kernel_setting file = entry_setting(e);
	_cleanup_(freep) char *before = entry_read(e, NULL);
	struct kernel_setting_result result = kernel_setting_set(&file, e->want);
	_cleanup_(freep) char *held = result.held;
	const char *note = NULL;
	int r = 0;

	crash_point();
	if (result.outcome == SETTING_CHANGED || result.outcome == SETTING_CLAMPED)
		action_log(ACTION_SET, "%s: %s set from %s to %s", e->id, e->name, before ?: "?",
			held ?: e->want);
	if (held) /* also if nothing was changed: later changes are somebody else's */
		r = record_held(plan, i, xstrdup(held), err);
	if (result.outcome == SETTING_OFFLINE)
		note = "its CPUs are offline";
	else if (result.outcome == SETTING_REFUSED)
		note = result.error == -EROFS ? "read-only here; only the host can change it"
					      : strerror(-result.error);
	else if (result.outcome == SETTING_CLAMPED)
		note = "the kernel set another value than requested";
	report_entry(&plan->report, e, outcomes[result.outcome], before, held, note);
	return r;
}

static int change_files(struct plan *plan, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
		const struct entry *e = plan_entry(plan, i);
		char *now;

		if (interrupt_pending())
			return error_say(err, -EINTR, "interrupted");
		if (e->kind != ENTRY_FILE)
			continue;
		if (!entry_is_kept(e))
			r = set_file(plan, i, err);
		else if ((now = entry_read(e, NULL))) /* the value that the changes before it have left */
			r = record_held(plan, i, now, err);
	}
	return r;
}

int change_apply(struct plan *plan, struct error *err)
{
	struct waiting waiting = {.interruptible = true};
	int r = 0;

	if (plan->units) {
		units_set_waiting(plan->units, waiting_step, &waiting);
		r = change_units(plan, err);
		units_set_waiting(plan->units, NULL, NULL);
		waiting_end(&waiting);
	}
	if (r == 0)
		r = change_files(plan, err);
	if (r == 0 && interrupt_pending())
		r = error_say(err, -EINTR, "interrupted");
	return r;
}
