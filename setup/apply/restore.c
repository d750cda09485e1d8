/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores what a journal holds: see restore.h.
 *
 * It compares with the values of now, so it may run twice, and nothing is recorded on the way: a restore that was
 * killed is simply repeated. What somebody else has changed since is left alone. */
#include "setup/apply/restore.h"

#include "lib/host/systemd/action_log.h"
#include "setup/apply/crash_point.h"
#include "setup/audit/check_rows.h"
#include "setup/apply/unit_block.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A finished entry is cleared, and removed at the end. */
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

/* Ours if it is the value that we set, or if we were killed before we could record that. */
static bool is_ours(const struct entry *e, const char *now)
{
	return !e->held || !strcmp(now, e->held) || !strcmp(now, e->want);
}

/* After writing the old value. What could not be restored is tried again by the next restore. */
static void settle_file(struct entry *e, const struct kernel_setting_result *result, const char *now,
	const struct restore_options *how, struct report *report)
{
	switch (result->outcome) {
	case SETTING_CHANGED:
		action_log(ACTION_RESTORE_ONE, "%s: %s restored from %s to %s", e->id, e->name, now ?: "?",
			e->old);
		report_add_file(report, e, OUTCOME_RESTORED, now, e->old, NULL);
		entry_clear(e);
		return;
	case SETTING_ALREADY:
		report_add_file(report, e, OUTCOME_ALREADY, e->old, e->old, NULL);
		entry_clear(e);
		return;
	case SETTING_ABSENT:
		report_add_file(report, e, OUTCOME_ABSENT, NULL, NULL, "it no longer exists");
		entry_clear(e);
		return;
	case SETTING_REFUSED:
	case SETTING_CLAMPED:
		report_add_file(report, e, OUTCOME_FAILED, now, result->held,
			result->outcome == SETTING_REFUSED ? strerror(-result->error)
							   : "the kernel set another value than requested");
		free(e->held);
		e->held = result->held ? strdup(result->held) : NULL;
		if (how->forget)
			entry_clear(e);
	}
}

static void restore_file(
	struct entry *e, const struct check *check, const struct restore_options *how, struct report *report)
{
	struct kernel_setting file = {.root_fd = AT_FDCWD,
		.path = e->name,
		.kind = e->file_kind,
		.write = check ? check->setting.write : NULL};
	_cleanup_(freep) char *now = NULL;
	struct kernel_setting_result result = {};

	if (kernel_setting_read(&file, &now) == 0 && strcmp(now, e->old) != 0 && !is_ours(e, now) &&
		!how->force) {
		report_add_file(report, e, OUTCOME_LEFT_ALONE, e->old, now,
			"changed by somebody else; --force restores it, --forget keeps it");
		if (how->forget)
			entry_clear(e);
		return;
	}
	kernel_setting_set(&file, e->old, &result);
	crash_point();
	settle_file(e, &result, now, how, report);
	free(result.held);
}

static void restore_files(struct journal *j, const struct restore_options *how, struct report *report)
{
	enum { ORDERS = 16 };

	for (int order = 0; order < ORDERS; order++)
		for (size_t i = j->n; i-- > how->first;) { /* the last one first */
			struct entry *e = &j->entries[i];
			const struct check *check = is_dropped(e) ? NULL : check_rows_find(e->id);

			if (is_dropped(e) || e->kind != ENTRY_FILE)
				continue;
			if ((check ? check->setting.restore_order : ORDERS - 1) == order)
				restore_file(e, check, how, report);
		}
}

static void restore_unit(struct entry *e, struct units *units, struct report *report)
{
	bool start = !strcmp(e->old, "active");
	struct error why = {};
	int r;

	if (units_is_up(units, e->name) == start) {
		report_add(report, e->id, e->name, OUTCOME_ALREADY, e->old, e->old, NULL);
		entry_clear(e);
		return;
	}
	r = start ? units_start(units, e->name, &why) : units_stop(units, e->name, &why);
	crash_point();
	if (r < 0) {
		report_add(report, e->id, e->name, OUTCOME_FAILED, e->want, NULL, why.text);
		return;
	}
	action_log(ACTION_RESTORE_ONE, "%s: %s %s again", e->id, e->name, start ? "started" : "stopped");
	report_add(report, e->id, e->name, OUTCOME_RESTORED, e->want, e->old,
		units_is_up(units, e->name) == start ? NULL : "it was started, and has ended by itself");
	entry_clear(e);
}

/* What starts others comes first, and timers last: a socket cannot be opened once its service runs, and an
 * overdue timer starts its service at once. */
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
		if (unit_block_remove(units, e, &why) < 0)
			report_add(report, e->id, e->name, OUTCOME_FAILED, NULL, NULL, why.text);
		any = true;
		crash_point();
	}
	if (any && units_reload(units, &why) < 0)
		report_add(report, "svc.units", "-", OUTCOME_FAILED, NULL, NULL, why.text);
	if (any)
		crash_point();
}

static void restore_units(struct journal *j, size_t first, struct units *units, struct report *report)
{
	if (units)
		unblock_units(j, first, units, report);
	for (int r = 0; r <= 2; r++)
		for (size_t i = j->n; i-- > first;) {
			struct entry *e = &j->entries[i];

			if (is_dropped(e) || e->kind != ENTRY_UNIT || rank(e) != r)
				continue;
			if (units)
				restore_unit(e, units, report);
			else
				report_add(report, e->id, e->name, OUTCOME_FAILED, NULL, NULL,
					"systemd does not answer");
		}
}

void restore_entries(
	struct journal *j, const struct restore_options *how, struct units *units, struct report *report)
{
	restore_files(j, how, report);
	restore_units(j, how->first, units, report);
	compact(j);
}
