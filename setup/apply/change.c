/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a plan: see change.h. Taking it back is in restore.c. */
#include "setup/apply/change.h"

#include "lib/base/text.h"
#include "lib/host/systemd/action_log.h"
#include "setup/apply/crash_point.h"
#include "setup/apply/unit_block.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const struct check *check_by_id(const char *id)
{
	for (const struct check *c = checks; c->id; c++)
		if (!strcmp(c->id, id))
			return c;
	return NULL;
}

static const char *outcome_word(const struct kernel_setting_result *result)
{
	switch (result->outcome) {
	case SETTING_CHANGED:
		return "changed";
	case SETTING_ALREADY:
		return "already";
	case SETTING_ABSENT:
		return "absent";
	case SETTING_REFUSED:
		return "refused";
	case SETTING_CLAMPED:
		break;
	}
	return "clamped";
}

static const char *refusal(int error)
{
	return error == -EROFS ? "read-only in here: only the host can" : strerror(-error);
}

static int set_file(struct plan *plan, size_t i, struct report *report, struct error *err)
{
	struct entry *e = &plan->journal.entries[i];
	const struct check *check = check_by_id(e->id);
	struct kernel_setting knob = {.root_fd = AT_FDCWD,
		.path = e->name,
		.kind = e->knob,
		.write = check ? check->setting.write : NULL};
	_cleanup_(freep) char *before = NULL;
	struct kernel_setting_result result;
	int r = 0;

	if (kernel_setting_read(&knob, &before) < 0)
		before = NULL;
	kernel_setting_set(&knob, e->want, &result);
	crash_point();
	if (result.outcome == SETTING_CHANGED || result.outcome == SETTING_CLAMPED)
		action_log(ACTION_SET, "%s: %s set from %s to %s", e->id, e->name, before ?: "?",
			result.held ?: e->want);
	if (result.held) { /* also where nothing was changed: what comes after it is somebody else's doing */
		free(e->held);
		e->held = strdup(result.held);
		r = journal_mark(&plan->journal, i, err);
		crash_point();
	}
	report_file(report, e, outcome_word(&result), before, result.held,
		result.outcome == SETTING_REFUSED   ? refusal(result.error)
		: result.outcome == SETTING_CLAMPED ? "the kernel made something else of it"
						    : NULL);
	free(result.held);
	return r;
}

/* What came of the units of a plan, by their places in plan->order. */
struct unit_results {
	bool *done;
	struct error *why; /* what kept it, where it is not done */
};

static bool is_as_wanted(const struct entry *e, struct units *units)
{
	return units_is_up(units, e->name) == !strcmp(e->want, "active");
}

static bool set_unit(const struct entry *e, struct units *units, struct error *why)
{
	bool start = !strcmp(e->want, "active");
	int r = start ? units_start(units, e->name, why) : units_stop(units, e->name, why);

	crash_point();
	if (is_as_wanted(e, units))
		return true;
	if (r >= 0)
		error_say(why, -ECANCELED, "%s",
			start ? "systemd did not keep it running (a condition of the unit does not hold)"
			      : "it came back");
	return false;
}

/* Once more for what is not done: what kept it may have been another one that was still up. */
static int set_units(struct plan *plan, struct units *units, struct unit_results *results, struct error *err)
{
	int r = 0;

	for (int attempt = 0; attempt < 2; attempt++)
		for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
			struct entry *e = &plan->journal.entries[plan->order[i]];

			if (e->kind != ENTRY_UNIT || results->done[i] ||
				!set_unit(e, units, &results->why[i]))
				continue;
			results->done[i] = true;
			free(e->held);
			e->held = strdup(e->want);
			r = journal_mark(&plan->journal, plan->order[i], err);
			crash_point();
		}
	return r;
}

/* Stop first, then mask: a timer that is masked while it waits fails, and a socket stays open. */
static void block_units(struct plan *plan, struct units *units, struct report *report)
{
	struct error why = {};
	bool any = false;

	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = &plan->journal.entries[plan->order[i]];

		if (e->kind != ENTRY_UNIT || e->block == BLOCK_NONE || !e->held)
			continue;
		if (unit_block(units, e, &why) < 0)
			report_add(report, e->id, e->name, "refused", NULL, NULL, why.text);
		any = true;
		crash_point();
	}
	if (any && units_reload(units, &why) < 0)
		report_add(report, "svc.units", "-", "refused", NULL, NULL, why.text);
	if (any)
		crash_point();
}

/* Whoever asks a service something over D-Bus has it started, until it is masked. */
static void stop_the_woken(const struct plan *plan, struct units *units, struct unit_results *results)
{
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = &plan->journal.entries[plan->order[i]];

		if (e->kind == ENTRY_UNIT && results->done[i] && !is_as_wanted(e, units))
			results->done[i] = set_unit(e, units, &results->why[i]);
	}
}

static void report_units(const struct plan *plan, const struct unit_results *results, struct report *report)
{
	for (size_t i = 0; i < plan->n_order; i++) {
		const struct entry *e = &plan->journal.entries[plan->order[i]];
		bool start = !strcmp(e->want, "active");

		if (e->kind != ENTRY_UNIT)
			continue;
		if (results->done[i])
			action_log(ACTION_STOP, "%s: %s %s", e->id, e->name, start ? "started" : "stopped");
		report_add(report, e->id, e->name, results->done[i] ? "changed" : "refused",
			start ? "inactive" : "active",
			results->done[i] ? e->want
			: start          ? "inactive"
					 : "active",
			results->done[i] ? NULL : results->why[i].text);
	}
}

static int change_units(struct plan *plan, struct units *units, struct report *report, struct error *err)
{
	_cleanup_(freep) bool *done = calloc(plan->n_order + 1, sizeof(*done));
	_cleanup_(freep) struct error *why = calloc(plan->n_order + 1, sizeof(*why));
	struct unit_results results = {done, why};
	int r;

	if (!done || !why)
		return error_os(err, -ENOMEM, "cannot stop units");
	r = set_units(plan, units, &results, err);
	if (r < 0)
		return r;
	block_units(plan, units, report);
	stop_the_woken(plan, units, &results);
	report_units(plan, &results, report);
	return 0;
}

int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err)
{
	int r = units ? change_units(plan, units, report, err) : 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++)
		if (plan->journal.entries[plan->order[i]].kind == ENTRY_FILE)
			r = set_file(plan, plan->order[i], report, err);
	return r;
}
