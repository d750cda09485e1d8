/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a plan: see change.h. Taking it back is in restore.c. */
#include "setup/change.h"

#include "lib/base/text.h"
#include "lib/host/action_log.h"
#include "setup/step.h"
#include "setup/unit_block.h"

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

static const char *outcome_word(const struct knob_result *result)
{
	switch (result->outcome) {
	case KNOB_CHANGED:
		return "changed";
	case KNOB_ALREADY:
		return "already";
	case KNOB_ABSENT:
		return "absent";
	case KNOB_REFUSED:
		return "refused";
	case KNOB_CLAMPED:
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
	struct knob knob = {.root_fd = AT_FDCWD,
		.path = e->name,
		.kind = e->knob,
		.write = check ? check->setting.write : NULL};
	_cleanup_(freep) char *before = NULL;
	struct knob_result result;
	int r = 0;

	if (knob_read(&knob, &before) < 0)
		before = NULL;
	knob_set(&knob, e->want, &result);
	step();
	if (result.outcome == KNOB_CHANGED || result.outcome == KNOB_CLAMPED)
		action_log(ACTION_SET, "%s: %s set from %s to %s", e->id, e->name, before ?: "?",
			result.held ?: e->want);
	if (result.held) { /* also where nothing was changed: what comes after it is somebody else's doing */
		free(e->held);
		e->held = strdup(result.held);
		r = journal_mark(&plan->journal, i, err);
		step();
	}
	report_file(report, e, outcome_word(&result), before, result.held,
		result.outcome == KNOB_REFUSED   ? refusal(result.error)
		: result.outcome == KNOB_CLAMPED ? "the kernel made something else of it"
						 : NULL);
	free(result.held);
	return r;
}

static int set_unit(
	struct plan *plan, size_t i, struct units *units, struct report *report, struct error *err)
{
	struct entry *e = &plan->journal.entries[i];
	bool start = !strcmp(e->want, "active"), up;
	struct error why = {};
	int r = start ? units_start(units, e->name, &why) : units_stop(units, e->name, &why);

	step();
	up = units_is_up(units, e->name);
	if (r < 0 || up != start) {
		report_add(report, e->id, e->name, "refused", start ? "inactive" : "active",
			up ? "active" : "inactive",
			why.text[0] ? why.text
			: start ? "systemd did not keep it running (a condition of the unit does not hold)"
				: "it came back");
		return 0;
	}
	action_log(ACTION_STOP, "%s: %s %s", e->id, e->name, start ? "started" : "stopped");
	report_add(report, e->id, e->name, "changed", e->old, e->want, NULL);
	free(e->held);
	e->held = strdup(e->want);
	r = journal_mark(&plan->journal, i, err);
	step();
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
		step();
	}
	if (any && units_reload(units, &why) < 0)
		report_add(report, "svc.units", "-", "refused", NULL, NULL, why.text);
	if (any)
		step();
}

int change_apply(struct plan *plan, struct units *units, struct report *report, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->n_order; i++)
		if (plan->journal.entries[plan->order[i]].kind == ENTRY_UNIT)
			r = set_unit(plan, plan->order[i], units, report, err);
	if (r == 0 && units)
		block_units(plan, units, report);
	for (size_t i = 0; r == 0 && i < plan->n_order; i++)
		if (plan->journal.entries[plan->order[i]].kind == ENTRY_FILE)
			r = set_file(plan, plan->order[i], report, err);
	return r;
}
