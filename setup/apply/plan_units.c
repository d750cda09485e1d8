/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_units.h. */
#include "setup/apply/plan_units.h"

#include "lib/host/process/pinning.h"
#include "setup/apply/block.h"
#include "setup/apply/journal.h"
#include "setup/apply/reached.h"
#include "setup/apply/report.h"
#include "setup/apply/request.h"
#include "setup/audit/checks.h"
#include "setup/audit/facts.h"
#include "setup/audit/ntp.h"
#include "setup/options.h"

#include <systemd/sd-login.h>

/* Names of properties, which end with NULL: what stops with a unit, and what must stop before
 * it. */
static const char *const STOPPED_WITH[] = {"TriggeredBy", "RequiredBy", "RequisiteOf", "BoundBy",
	"ConsistsOf", "PropagatesStopTo", NULL};
static const char *const STOPPED_BEFORE[] = {"RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf",
	"PropagatesStopTo", "Before", "TriggeredBy", NULL};
static const char *const NEEDED_BY[] = {
	"RequiredBy", "RequisiteOf", "BoundBy", "WantedBy", "UpheldBy", NULL};

static const struct check *check_of(const char *unit)
{
	return check_rows_find(unit_is_kind(unit, ".timer") ? CHECK_ID_TIMERS : CHECK_ID_SERVICES);
}

static bool is_masked(const struct plan *plan, const char *name)
{
	_cleanup_(freep) char *state = NULL;

	return units_get(plan->units, name, "Unit.UnitFileState", 's', &state, NULL) == 0 &&
	       !strncmp(state, "masked", strlen("masked"));
}

/* A unit whose own file is in /etc or /run cannot be masked. */
static enum block block_for(const char *file)
{
	static const char etc[] = "/etc/systemd/system/", run[] = "/run/systemd/system/";

	if (!strncmp(file, etc, strlen(etc)) || !strncmp(file, run, strlen(run)))
		return BLOCK_DROP_IN;
	return BLOCK_MASK;
}

/* `with`: the unit of the policy that it is stopped with; it may be the unit itself. */
static void plan_unit(struct plan *plan, const char *name, const char *old, const char *with)
{
	_cleanup_(freep) char *file = NULL;
	struct entry entry = {
		.kind = ENTRY_UNIT,
		.id = xstrdup(check_of(name)->id),
		.name = xstrdup(name),
		.old = xstrdup(old),
		.want = xstrdup("inactive"),
		.block = BLOCK_NONE,
		.persistent = options.persistent,
		.with = strcmp(with, name) != 0 ? xstrdup(with) : NULL,
		.loses = policy_loses(plan->facts.policy, name),
	};
	struct entry *there = journal_find(&plan->journal, name);

	if (there && there->block != BLOCK_NONE && options.persistent && !there->persistent) {
		entry_clear(&entry); /* see plan_units: its mask or drop-in is in /run */
		return;
	}
	entry.was_set = there && !strcmp(there->want, entry.want) && !strcmp(old, entry.want);

	if (!is_masked(plan, name) &&
		units_get(plan->units, name, "Unit.FragmentPath", 's', &file, NULL) == 0)
		entry.block = block_for(file);
	plan_add(plan, &entry);
	there = plan_has(plan, name) ? journal_find(&plan->journal, name) : NULL;
	if (there)
		there->was_blocked = entry_is_blocked(there);
}

/* Why a unit that runs could not be started again as it is: its file has gone, is masked, or is
 * another one than systemd has read, which any reload would bring. The caller frees it. */
static char *find_file_obstacle(const struct plan *plan, const struct unit *unit)
{
	_cleanup_(freep) char *state = units_file_state(plan->units, unit->name), *path = NULL;

	if ((state && !strncmp(state, "masked", 6)) || !strcmp(unit->load, "masked"))
		return text_format("%s is masked and could not be started again", unit->name);
	if (!strcmp(unit->load, "not-found") ||
		(units_get(plan->units, unit->name, "Unit.FragmentPath", 's', &path, NULL) == 0 &&
			*path && access(path, F_OK) < 0 && errno == ENOENT))
		return text_format(
			"the file of %s is gone, and it could not be started again", unit->name);
	if (units_flag(plan->units, unit->name, "Unit.NeedDaemonReload", false))
		return text_format(
			"the file of %s is not the one that runs; 'systemctl daemon-reload' first",
			unit->name);
	return NULL;
}

/* Why a unit must stay; NULL: it may go. The caller frees it. `own`: the unit that this process
 * belongs to. */
static char *find_obstacle(const struct plan *plan, const char *own, const char *name)
{
	const struct unit *unit = unit_list_find(&plan->facts.units, name);
	const struct policy *policy = plan->facts.policy;
	const char *never = policy_never(policy, name), *protects = policy_protects(policy, name),
		   *needed = unit_reasons_find(&plan->facts.needed, name),
		   *busy = unit_reasons_find(&plan->busy, name);
	_cleanup_(freep) char *type = NULL;

	if (own && !strcmp(own, name))
		return xstrdup("this emp-setup runs in it");
	if (never || needed)
		return text_format("%s must not be touched (%s)", name, never ?: needed);
	if (protects)
		return text_format(
			"%s would be stopped too (%s); --stop %s allows it", name, protects, name);
	if (busy)
		return text_format("%s is busy: %s; try again later", name, busy);
	if (!unit)
		return text_format("%s would be stopped too", name);
	if (!strcmp(unit->file_state, "transient"))
		return text_format("%s has no unit file and could not be started again", name);
	if (!units_flag(plan->units, name, "Unit.CanStart", true))
		return text_format("%s cannot be started by hand, and so not restored", name);
	if (!units_flag(plan->units, name, "Unit.CanStop", true))
		return text_format("%s cannot be stopped by hand", name);
	if (unit_is_kind(name, ".service") && !strcmp(unit->active, "activating") &&
		units_get(plan->units, name, "Service.Type", 's', &type, NULL) == 0 &&
		!strcmp(type, "oneshot"))
		return text_format("%s is busy; try again later", name);
	return find_file_obstacle(plan, unit);
}

/* Whether systemd stops this unit when those of the plan and those of `more` are down, because
 * nothing needs it then. */
static bool loses_its_need(const struct plan *plan, const char *name, char *const *more)
{
	_cleanup_(argv_freep) char **names = NULL;

	if (plan_has(plan, name) || names_have(more, name) || !units_is_up(plan->units, name) ||
		!units_flag(plan->units, name, "Unit.StopWhenUnneeded", false) ||
		!units_flag(plan->units, name, "Unit.CanStart", true) ||
		units_related(plan->units, name, NEEDED_BY, &names, NULL) < 0)
		return false;
	for (char **n = names; *n; n++)
		if (!plan_has(plan, *n) && !names_have(more, *n) && units_is_up(plan->units, *n))
			return false;
	return true;
}

/* Why a unit must not be touched, by the policy or by this machine; NULL: it may. */
static const char *why_protected(const struct plan *plan, const char *name)
{
	return policy_protects(plan->facts.policy, name)
		       ?: unit_reasons_find(&plan->facts.needed, name);
}

/* Why these units may not be stopped: systemd would stop another one that must not be touched,
 * because nothing needs it any more. The caller frees it; NULL: they may. */
static char *find_lost(const struct plan *plan, char *const *stopped)
{
	for (char *const *unit = stopped; *unit; unit++) {
		_cleanup_(argv_freep) char **names = NULL;

		if (units_related(plan->units, *unit, units_needs, &names, NULL) < 0)
			continue;
		for (char **name = names; *name; name++) {
			const char *why = why_protected(plan, *name);

			if (why && loses_its_need(plan, *name, stopped))
				return text_format("%s, which only this unit needs, "
						   "must not be touched (%s)",
					*name, why);
		}
	}
	return NULL;
}

/* Names of units. */
struct unit_names {
	char **items; /* ends with NULL */
	size_t n;
};

enum { MOST_TOGETHER = 64 };

/* Adds the units that run and that stop with names->items[i]. */
static int add_stopped_with(
	const struct plan *plan, struct unit_names *names, size_t i, struct error *err)
{
	_cleanup_(argv_freep) char **more = NULL;
	int r = units_related(plan->units, names->items[i], STOPPED_WITH, &more, err);

	for (char **name = more; r >= 0 && name && *name; name++) {
		const struct unit *known = unit_list_find(&plan->facts.units, *name);

		/* The list of facts has four kinds of units; others are asked for. */
		if (names_have(names->items, *name) ||
			!(known ? unit_is_up(known) : units_is_up(plan->units, *name)))
			continue;
		if (names->n == MOST_TOGETHER)
			return error_say(
				err, -E2BIG, "too many units depend on %s", names->items[i]);
		names->items[names->n++] = xstrdup(*name);
	}
	return r;
}

/* Adds a unit of the policy, or the trigger of one (`with`), and all that stop with it, or reports
 * why none of them may. */
static int plan_service(
	struct plan *plan, const char *own, const char *unit, const char *with, struct error *err)
{
	_cleanup_(argv_freep) char **items = xcalloc(MOST_TOGETHER + 1, sizeof(*items));
	_cleanup_(freep) char *obstacle = NULL;
	struct unit_names names = {items, 0};

	items[names.n++] = xstrdup(unit);
	for (size_t i = 0; i < names.n && !obstacle; i++) {
		int r = 0;

		obstacle = find_obstacle(plan, own, items[i]);
		if (!obstacle)
			r = add_stopped_with(plan, &names, i, err);
		if (r < 0)
			return r;
	}
	if (!obstacle)
		obstacle = find_lost(plan, items);
	if (obstacle)
		report_add(&plan->report, check_of(unit)->id, unit, OUTCOME_REFUSED, "active",
			"active", obstacle);
	for (size_t i = 0; !obstacle && i < names.n; i++)
		if (!plan_has(plan, items[i]))
			plan_unit(plan, items[i], "active", with);
	return 0;
}

struct ordering {
	const struct plan *plan;
	size_t *order; /* as far as it is known */
	size_t n;
	bool *visited; /* by place in plan->order */
};

/* Puts a unit behind all that must stop before it. */
static int visit_unit(struct ordering *o, size_t i, struct error *err)
{
	_cleanup_(argv_freep) char **names = NULL;
	int r;

	if (o->visited[i])
		return 0;
	o->visited[i] = true; /* a service and its socket may need each other */
	r = units_related(
		o->plan->units, plan_entry(o->plan, i)->name, STOPPED_BEFORE, &names, err);
	for (char **name = names; r == 0 && *name; name++)
		for (size_t k = 0; r == 0 && k < o->plan->n_order; k++)
			if (!strcmp(plan_entry(o->plan, k)->name, *name))
				r = visit_unit(o, k, err);
	o->order[o->n++] = o->plan->order[i];
	return r;
}

/* Timers come first, and services before sockets and paths: each then brings its own. */
enum { TIMERS, SERVICES, OTHERS, KINDS };

static int kind_of(const char *unit)
{
	if (unit_is_kind(unit, ".timer"))
		return TIMERS;
	return unit_is_kind(unit, ".service") ? SERVICES : OTHERS;
}

/* Sorts the units of a plan, its only entries so far. */
static int sort_units(struct plan *plan, struct error *err)
{
	_cleanup_(freep) bool *visited = xcalloc(plan->n_order, sizeof(*visited));
	_cleanup_(freep) size_t *order = xcalloc(plan->n_order, sizeof(*order));
	struct ordering o = {plan, order, 0, visited};

	for (int kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < plan->n_order; i++) {
			int r = 0;

			if (kind_of(plan_entry(plan, i)->name) == kind)
				r = visit_unit(&o, i, err);
			if (r < 0)
				return r;
		}
	free(plan->order);
	plan->order = TAKE(order);
	return 0;
}

/* Adds a time daemon that is to run; `old` is its state. */
static void plan_time_daemon(struct plan *plan, const char *unit, const char *old, bool was_set)
{
	struct entry entry = {
		.kind = ENTRY_UNIT,
		.id = xstrdup(CHECK_ID_NTP),
		.name = xstrdup(unit),
		.old = xstrdup(old),
		.want = xstrdup("active"),
		.was_set = was_set,
	};

	plan_add(plan, &entry);
}

/* If no time daemon runs: the first that is installed and may be started. */
static void plan_ntp(struct plan *plan)
{
	const char *unit;

	/* One that an earlier apply has started must not stop with that one. */
	for (size_t i = 0; i < plan->n_open; i++) {
		struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !strcmp(e->id, CHECK_ID_NTP) &&
			!plan_has(plan, e->name) && units_is_up(plan->units, e->name)) {
			plan_time_daemon(plan, e->name, "active", true);
			return;
		}
	}
	if (plan->facts.n_daemons > 0 || !plan->facts.clock.settable ||
		(plan->facts.contained && plan->facts.clock.synchronised))
		return;

	for (size_t i = 0; (unit = ntp_unit(i)); i++) {
		_cleanup_(freep) char *state = units_file_state(plan->units, unit);

		if (state && strncmp(state, "masked", strlen("masked")) != 0) {
			plan_time_daemon(plan, unit, "inactive", false);
			return;
		}
	}
	report_add(&plan->report, CHECK_ID_NTP, "-", OUTCOME_ABSENT, NULL, NULL,
		"no time daemon is installed");
}

static bool is_to_stop(const struct plan *plan, const char *unit)
{
	return facts_stop(&plan->facts, unit) &&
	       (request_takes(check_of(unit)) || policy_requests(plan->facts.policy, unit));
}

/* Why a unit that runs is left alone, though the policy has it; NULL: it is not, or the policy does
 * not have it. The caller frees it. */
static char *why_left_alone(const struct plan *plan, const char *name)
{
	const struct policy *policy = plan->facts.policy;
	const char *ask = policy_never(policy, name) ? NULL : policy_ask(policy, name);
	const char *needed = unit_reasons_find(&plan->facts.needed, name);

	if (ask)
		return text_format("%s; --stop %s stops it", ask, name);
	if (!policy_stop(policy, name))
		return NULL;
	if (needed)
		return xstrdup(needed);
	if (facts_stop(&plan->facts, name))
		return NULL;
	return xstrdup("it belongs to a unit that must keep running");
}

/* Reports a unit that runs and that the policy would have stopped, or stops only if it is asked
 * for. */
static void plan_left_alone(struct plan *plan, const char *name)
{
	_cleanup_(freep) char *note = why_left_alone(plan, name);

	if (note && request_takes(check_of(name)) && !plan_has(plan, name))
		report_add(&plan->report, check_of(name)->id, name, OUTCOME_LEFT_ALONE, "active",
			"active", note);
}

/* Reports what was asked for by name and must not be touched, or does not exist. */
static void plan_requested(struct plan *plan)
{
	const char *name;

	for (size_t i = 0; (name = policy_requested(plan->facts.policy, i)); i++) {
		const char *never = policy_never(plan->facts.policy, name);
		const struct unit *unit = unit_list_find(&plan->facts.units, name);
		_cleanup_(freep) char *file = units_file_state(plan->units, name), *note = NULL;
		bool exists = file || (unit && strcmp(unit->load, "not-found") != 0);

		if (never)
			note = text_format("it must not be touched (%s)", never);
		else if (!exists)
			note = xstrdup("there is no such unit");
		if (note)
			report_add(&plan->report, check_of(name)->id, name, OUTCOME_REFUSED, NULL,
				NULL, note);
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds a unit of the policy that does not run, to be kept from being started. A socket or path that
 * listens for it would fail at the first request, and is stopped, too. A timer would fail when it
 * elapses: if it is not to be stopped, or cannot be, the unit stays as it is. */
static int plan_inactive(struct plan *plan, const char *own, const char *name, struct error *err)
{
	_cleanup_(argv_freep) char **triggers = NULL;
	static const char *const TRIGGERED_BY[] = {"TriggeredBy", NULL};
	int r = units_related(plan->units, name, TRIGGERED_BY, &triggers, err);

	for (char **trigger = triggers; r >= 0 && trigger && *trigger; trigger++) {
		if (plan_has(plan, *trigger) || !units_is_up(plan->units, *trigger))
			continue;
		if (unit_is_kind(*trigger, ".timer") && !is_to_stop(plan, *trigger))
			return 0;
		r = plan_service(plan, own, *trigger, name, err);
		if (r < 0 || !plan_has(plan, *trigger))
			return r;
	}
	if (r >= 0)
		plan_unit(plan, name, "inactive", name);
	return r;
}

/* Adds units that an earlier apply has stopped, and that are still stopped: those of the policy,
 * and those that were stopped with them. They stay stopped then if the earlier owner ends first.
 * The journal tells which they are: a masked unit has no properties that would. */
static int plan_open_units(struct plan *plan, const char *own, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < plan->n_open; i++) {
		const struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !strcmp(e->want, "inactive") &&
			(is_to_stop(plan, e->name) || (e->with && is_to_stop(plan, e->with))) &&
			!plan_has(plan, e->name) && !units_is_up(plan->units, e->name))
			r = plan_inactive(plan, own, e->name, err);
	}
	return r;
}

/* Whether a unit of the facts has a process, or listens. */
static bool is_running(const struct unit *unit)
{
	return unit_is_up(unit) && strcmp(unit->sub, "exited") != 0;
}

/* What is stopped until the next boot is in the journal as such, and is restored as such. */
static void refuse_persistent(struct plan *plan)
{
	for (size_t i = 0; i < plan->journal.n; i++) {
		const struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !e->persistent && e->block != BLOCK_NONE)
			report_entry(&plan->report, e, OUTCOME_REFUSED, "active", "inactive",
				"applied until the next boot; "
				"restore first, then apply --persistent");
	}
}

/* Adds the units of the policy that run, in the order in which they will be stopped. */
static int plan_running(struct plan *plan, const char *own, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->facts.units.n; i++) {
		const struct unit *unit = &plan->facts.units.items[i];

		if (is_running(unit) && is_to_stop(plan, unit->name))
			r = plan_service(plan, own, unit->name, unit->name, err);
	}
	if (r == 0)
		r = sort_units(plan, err);

	/* Units that nothing needs any more come behind those that needed them. A unit that is
	 * added here may have been the last one to need another. */
	for (size_t i = 0; r >= 0 && i < plan->n_order; i++) {
		_cleanup_(argv_freep) char **names = NULL;

		r = units_related(plan->units, plan_entry(plan, i)->name, units_needs, &names, err);
		for (char **name = names; name && *name; name++)
			if (loses_its_need(plan, *name, NULL))
				plan_unit(plan, *name, "active", plan_entry(plan, i)->name);
	}
	return r;
}

/* Adds units of the policy that do not run, to be blocked: a request over D-Bus, a timer or another
 * unit may start them. */
static int plan_not_running(struct plan *plan, const char *own, struct error *err)
{
	_cleanup_(argv_freep) char **files = NULL;
	size_t n_files = 0;
	int r = units_files(plan->units, &files, err);

	if (r < 0)
		return r;
	while (files[n_files])
		n_files++;
	if (n_files > 0)
		qsort(files, n_files, sizeof(*files), compare_names);
	for (char **name = files; r >= 0 && *name; name++)
		if (is_to_stop(plan, *name) && !plan_has(plan, *name) &&
			!units_is_up(plan->units, *name))
			r = plan_inactive(plan, own, *name, err);
	return r;
}

int plan_units(struct plan *plan, struct error *err)
{
	_cleanup_(freep) char *own = NULL;
	int r;

	if (!plan->units) {
		if (request_takes(check_rows_find(CHECK_ID_SERVICES)))
			report_add(&plan->report, CHECK_ID_SERVICES, "-", OUTCOME_ABSENT, NULL,
				NULL, plan->facts.units_why);
		return 0;
	}
	sd_pid_get_unit(0, &own); /* NULL: it belongs to none */
	units_busy(&plan->busy);
	plan_requested(plan);
	if (options.persistent)
		refuse_persistent(plan);

	r = plan_running(plan, own, err);
	for (size_t i = 0; r >= 0 && i < plan->facts.units.n; i++) {
		const struct unit *unit = &plan->facts.units.items[i];

		if (is_running(unit))
			plan_left_alone(plan, unit->name);
	}
	if (r >= 0)
		r = plan_open_units(plan, own, err);
	if (r >= 0)
		r = plan_not_running(plan, own, err);
	if (r < 0)
		return r;
	if (request_takes(check_rows_find(CHECK_ID_NTP)))
		plan_ntp(plan);
	return 0;
}
