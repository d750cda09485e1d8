/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which units will be stopped: see plan_units.h.
 *
 * A service is stopped together with its triggers (a socket, path or timer would start it again) and with what
 * requires it: systemd stops that too. If any of these must not be touched, the service stays as well. */
#include "setup/apply/plan_units.h"

#include "lib/base/text.h"
#include "setup/apply/plan_order.h"

#include <errno.h>
#include <string.h>

enum { MOST_TOGETHER = 64 };

/* A unit of the policy and all units that stop with it. */
struct closure {
	char *names[MOST_TOGETHER];
	size_t n;
	char *obstacle; /* why none of them may be stopped */
};

static void closure_clear(struct closure *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->names[i]);
	free(c->obstacle);
}

static bool closure_has(const struct closure *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->names[i], name))
			return true;
	return false;
}

/* The list of facts has four kinds of units; others are asked for. */
static bool is_up(const struct facts *f, struct units *units, const char *name)
{
	const struct unit *unit = unit_list_find(&f->units, name);

	return unit ? unit_is_up(unit) : units_is_up(units, name);
}

static bool is_at_work(struct units *units, const struct unit *unit)
{
	_cleanup_(freep) char *type = NULL;
	struct error ignored;

	return unit_is_kind(unit->name, ".service") && !strcmp(unit->active, "activating") &&
	       units_service_type(units, unit->name, &type, &ignored) == 0 && !strcmp(type, "oneshot");
}

/* Why this unit must stay; NULL if it may go. The caller frees it. */
static char *find_obstacle(const struct facts *f, struct units *units, const char *own, const char *name)
{
	const struct unit *unit = unit_list_find(&f->units, name);
	const char *never = policy_never(f->policy, name);

	if (own && !strcmp(own, name))
		return strdup("this emp-setup runs in it");
	if (never)
		return text_format("%s must not be touched (%s)", name, never);
	if (!unit)
		return text_format("%s would be stopped too", name);
	if (!strcmp(unit->file_state, "transient"))
		return text_format("%s has no unit file and could not be started again", name);
	if (is_at_work(units, unit))
		return text_format("%s is at work; try again later", name);
	return NULL;
}

static int collect_related(
	struct closure *c, const struct facts *f, struct units *units, const char *name, struct error *err)
{
	static const char *const properties[] = {
		"TriggeredBy", "RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf"};

	for (size_t i = 0; i < ELEMENTS(properties); i++) {
		_cleanup_(strings_freep) char **names = NULL;
		int r = units_names(units, name, properties[i], &names, err);

		if (r < 0)
			return r;
		for (char **n = names; n && *n; n++) {
			if (closure_has(c, *n) || !is_up(f, units, *n))
				continue;
			if (c->n == MOST_TOGETHER)
				return error_say(err, -E2BIG, "too many units depend on %s", name);
			c->names[c->n++] = TAKE(*n);
			*n = strdup(""); /* keeps the list complete */
		}
	}
	return 0;
}

/* Starts with the first name and ends when nothing new is found, or something is in the way. */
static int collect(
	struct closure *c, const struct facts *f, struct units *units, const char *own, struct error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		int r;

		c->obstacle = find_obstacle(f, units, own, c->names[i]);
		if (c->obstacle)
			return 0;
		r = collect_related(c, f, units, c->names[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A unit whose own file is in /etc or /run cannot be masked. */
static enum block block_for(struct units *units, const char *name)
{
	_cleanup_(freep) char *file = NULL, *state = NULL;
	struct error ignored;

	if (units_text(units, name, "UnitFileState", &state, &ignored) == 0 && !strncmp(state, "masked", 6))
		return BLOCK_NONE;
	if (units_text(units, name, "FragmentPath", &file, &ignored) < 0)
		return BLOCK_NONE;
	return !strncmp(file, "/etc/systemd/system/", 20) || !strncmp(file, "/run/systemd/system/", 20)
		       ? BLOCK_DROP_IN
		       : BLOCK_MASK;
}

static int plan_unit(
	struct plan *plan, const char *name, bool persistent, struct units *units, struct error *err)
{
	struct entry entry = {
		.kind = ENTRY_UNIT,
		.id = strdup(unit_is_kind(name, ".timer") ? "svc.timers" : "svc.units"),
		.name = strdup(name),
		.old = strdup("active"),
		.want = strdup("inactive"),
		.block = block_for(units, name),
		.persistent = persistent,
	};

	for (size_t i = 0; i < plan->n_order; i++) /* stopped with another unit */
		if (!strcmp(plan_entry(plan, i)->name, name)) {
			entry_clear(&entry);
			return 0;
		}
	return plan_add(plan, &entry, err);
}

static int plan_closure(struct plan *plan, const char *id, struct closure *c, const struct request *request,
	struct units *units, struct report *report, struct error *err)
{
	int r = 0;

	if (c->obstacle) {
		report_add(report, id, c->names[0], OUTCOME_REFUSED, "active", "active", c->obstacle);
		return 0;
	}
	for (size_t i = 0; r == 0 && i < c->n; i++)
		r = plan_unit(plan, c->names[i], request->persistent, units, err);
	return r;
}

static const struct check *check_of(const char *unit)
{
	return check_rows_find(unit_is_kind(unit, ".timer") ? "svc.timers" : "svc.units");
}

static int plan_stops(struct plan *plan, const struct facts *f, const struct request *request,
	struct units *units, struct report *report, struct error *err)
{
	_cleanup_(freep) char *own = units_own();

	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		_cleanup_(closure_clear) struct closure c = {};
		int r;

		if (!unit_is_up(unit) || !strcmp(unit->sub, "exited") ||
			!policy_stop(f->policy, unit->name) || !request_takes(request, check_of(unit->name)))
			continue;
		c.names[c.n++] = strdup(unit->name);
		if (!c.names[0])
			return error_oom(err);
		r = collect(&c, f, units, own, err);
		if (r == 0)
			r = plan_closure(plan, check_of(unit->name)->id, &c, request, units, report, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* If no time daemon runs: the first that is installed and may be started. */
static int plan_ntp(struct plan *plan, const struct facts *f, struct units *units, struct report *report,
	struct error *err)
{
	struct entry entry = {.kind = ENTRY_UNIT};
	const char *unit;

	if (f->ntp.n > 0 || !f->clock.settable)
		return 0;
	for (size_t i = 0; (unit = ntp_unit(i)); i++) {
		_cleanup_(freep) char *state = NULL;
		struct error ignored;

		if (units_file_state(units, unit, &state, &ignored) < 0 || !strncmp(state, "masked", 6))
			continue;
		entry.id = strdup("ntp.on");
		entry.name = strdup(unit);
		entry.old = strdup("inactive");
		entry.want = strdup("active");
		return plan_add(plan, &entry, err);
	}
	report_add(report, "ntp.on", "-", OUTCOME_ABSENT, NULL, NULL, "no time daemon is installed");
	return 0;
}

/* What is stopped until the next boot is in the journal as such, and is restored as such. */
static void refuse_persistent(const struct plan *plan, const struct request *request, struct report *report)
{
	for (size_t i = 0; request->persistent && i < plan->journal.n; i++) {
		const struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !e->persistent && e->block != BLOCK_NONE)
			report_add(report, e->id, e->name, OUTCOME_REFUSED, "active", "inactive",
				"applied until the next boot; restore first, then apply --persistent");
	}
}

int plan_units(struct plan *plan, const struct facts *f, const struct request *request, struct units *units,
	struct report *report, struct error *err)
{
	int r;

	if (!units) {
		if (request_takes(request, check_of("x.service")))
			report_add(report, "svc.units", "-", OUTCOME_ABSENT, NULL, NULL, f->units_why);
		return 0;
	}
	refuse_persistent(plan, request, report);
	r = plan_stops(plan, f, request, units, report, err);
	if (r < 0)
		return r;
	r = plan_order(plan, units, err);
	if (r < 0)
		return r;
	return request_takes(request, check_rows_find("ntp.on")) ? plan_ntp(plan, f, units, report, err) : 0;
}
