/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taking back what a journal holds: see change.h.
 *
 * Looking at what is there now makes it safe to do it twice, so nothing is written down on the way: a restore
 * that was killed is simply done again. What somebody else has set since is theirs. */
#include "setup/apply/change.h"

#include "lib/base/text.h"
#include "lib/host/systemd/action_log.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/unit_block.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* An entry that is done with is cleared, and taken out at the end. */
static bool is_dropped(const struct entry *e)
{
	return !e->name;
}

static void compact(struct journal *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->n; i++)
		if (!is_dropped(&j->entries[i]))
			j->entries[kept++] = j->entries[i];
	j->n = kept;
}

/* Ours if it is what we left behind, or if we were stopped before we could write down what that was. */
static bool is_ours(const struct entry *e, const char *now)
{
	return !e->held || !strcmp(now, e->held) || !strcmp(now, e->want);
}

/* What came of writing the old value. What could not be put back is tried again by the next restore. */
static void settle_file(struct entry *e, const struct kernel_setting_result *result, const char *now,
	const struct taking_back *how, struct report *report)
{
	switch (result->outcome) {
	case SETTING_CHANGED:
		action_log(
			ACTION_PUT_BACK, "%s: %s put back from %s to %s", e->id, e->name, now ?: "?", e->old);
		report_file(report, e, "restored", now, e->old, NULL);
		entry_clear(e);
		return;
	case SETTING_ALREADY:
		report_file(report, e, "already", e->old, e->old, NULL);
		entry_clear(e);
		return;
	case SETTING_ABSENT:
		report_file(report, e, "absent", NULL, NULL, "it is no longer there");
		entry_clear(e);
		return;
	case SETTING_REFUSED:
	case SETTING_CLAMPED:
		report_file(report, e, "failed", now, result->held,
			result->outcome == SETTING_REFUSED ? strerror(-result->error)
							   : "the kernel made something else of it");
		free(e->held);
		e->held = result->held ? strdup(result->held) : NULL;
		if (how->forget)
			entry_clear(e);
	}
}

static void put_file_back(
	struct entry *e, const struct check *check, const struct taking_back *how, struct report *report)
{
	struct kernel_setting knob = {.root_fd = AT_FDCWD,
		.path = e->name,
		.kind = e->knob,
		.write = check ? check->setting.write : NULL};
	_cleanup_(freep) char *now = NULL;
	struct kernel_setting_result result = {};

	if (kernel_setting_read(&knob, &now) == 0 && strcmp(now, e->old) != 0 && !is_ours(e, now) &&
		!how->force) {
		report_file(report, e, "left alone", e->old, now,
			"somebody else has set it since; --force puts it back, --forget lets it be");
		if (how->forget)
			entry_clear(e);
		return;
	}
	kernel_setting_set(&knob, e->old, &result);
	crash_point();
	settle_file(e, &result, now, how, report);
	free(result.held);
}

static void put_files_back(struct journal *j, const struct taking_back *how, struct report *report)
{
	enum { ORDERS = 16 };

	for (int order = 0; order < ORDERS; order++)
		for (size_t i = j->n; i-- > how->first;) { /* the last one first */
			struct entry *e = &j->entries[i];
			const struct check *check = checks;

			if (is_dropped(e) || e->kind != ENTRY_FILE)
				continue;
			while (check->id && strcmp(check->id, e->id) != 0)
				check++;
			if (check->id ? check->setting.restore_order == order : order == ORDERS - 1)
				put_file_back(e, check->id ? check : NULL, how, report);
		}
}

static void put_unit_back(struct entry *e, struct units *units, struct report *report)
{
	bool start = !strcmp(e->old, "active");
	struct error why = {};
	int r;

	if (units_is_up(units, e->name) == start) {
		report_add(report, e->id, e->name, "already", e->old, e->old, NULL);
		entry_clear(e);
		return;
	}
	r = start ? units_start(units, e->name, &why) : units_stop(units, e->name, &why);
	crash_point();
	if (r < 0) {
		report_add(report, e->id, e->name, "failed", e->want, NULL, why.text);
		return;
	}
	action_log(ACTION_PUT_BACK, "%s: %s %s again", e->id, e->name, start ? "started" : "stopped");
	report_add(report, e->id, e->name, "restored", e->want, e->old,
		units_is_up(units, e->name) == start ? NULL : "it ran, and has ended by itself");
	entry_clear(e);
}

/* What starts others comes first, and timers last: a socket cannot be opened once its service runs, and a
 * timer that is overdue starts its service at once. */
static int rank(const struct entry *e)
{
	return unit_is_kind(e->name, ".timer") ? 2 : unit_is_kind(e->name, ".service") ? 1 : 0;
}

static void unblock_units(struct journal *j, size_t first, struct units *units, struct report *report)
{
	struct error why = {};
	bool any = false;

	for (size_t i = first; i < j->n; i++) {
		struct entry *e = &j->entries[i];

		if (is_dropped(e) || e->kind != ENTRY_UNIT || e->block == BLOCK_NONE)
			continue;
		if (unit_unblock(units, e, &why) < 0)
			report_add(report, e->id, e->name, "failed", NULL, NULL, why.text);
		any = true;
		crash_point();
	}
	if (any && units_reload(units, &why) < 0)
		report_add(report, "svc.units", "-", "failed", NULL, NULL, why.text);
	if (any)
		crash_point();
}

static void put_units_back(struct journal *j, size_t first, struct units *units, struct report *report)
{
	if (units)
		unblock_units(j, first, units, report);
	for (int r = 0; r <= 2; r++)
		for (size_t i = j->n; i-- > first;) {
			struct entry *e = &j->entries[i];

			if (is_dropped(e) || e->kind != ENTRY_UNIT || rank(e) != r)
				continue;
			if (units)
				put_unit_back(e, units, report);
			else
				report_add(report, e->id, e->name, "failed", NULL, NULL,
					"systemd does not answer");
		}
}

void change_restore(
	struct journal *j, const struct taking_back *how, struct units *units, struct report *report)
{
	put_files_back(j, how, report);
	put_units_back(j, how->first, units, report);
	compact(j);
}
