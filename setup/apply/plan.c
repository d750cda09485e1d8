/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change: see apply.h.
 *
 * A service is stopped together with its triggers (a socket, path or timer would start it again)
 * and with what requires it: systemd stops that too. If any of these must not be touched, the
 * service stays as well.
 *
 * Timers are stopped first. Then, for each service: what needs it or was started after it (systemd,
 * too, stops these first when it shuts down), what would start it again, and the service itself. In
 * another order, a unit may wait for one that is gone (cups-browsed asks avahi for 25 s), or start
 * it again.
 *
 * Last comes what systemd stops by itself when nothing needs it any more (StopWhenUnneeded=). */
#include "setup/apply/apply.h"

#include "lib/base/tool.h"
#include "lib/host/process/pinning.h"
#include "setup/audit/ntp.h"

#include <systemd/sd-login.h>

bool request_takes(const struct check *check)
{
	if ((!check->applied && !check->setting.pattern) || text_has_word(options.skip, check->id))
		return false;
	if (options.isolate >= 0 && check->setting.isolates)
		return true;
	if (!options.only)
		return !check->setting.on_request;
	/* Its own name, or that of a check with whose files the kernel changes its files. */
	for (const struct check *c = check_rows; c->id; c++)
		if (text_has_word(options.only, c->id) &&
			(c == check || (c->setting.coupled_check &&
					       !strcmp(c->setting.coupled_check, check->id))))
			return true;
	return false;
}

int request_validate(struct error *err)
{
	const char *const lists[] = {options.only, options.skip};

	for (size_t i = 0; i < ELEMENTS(lists); i++)
		/* an empty list has one empty name */
		for (const char *p = lists[i]; p; p = *p ? p + 1 : NULL) {
			_cleanup_(freep) char *id = xstrndup(p, strcspn(p, ","));
			const struct check *check = check_rows_find(id);
			const char *option = i ? "--skip" : "--only";
			struct nearest nearest = {.typed = id};

			p += strlen(id);
			if (check && (check->applied || check->setting.pattern))
				continue;
			if (check)
				return error_say(err, -EINVAL,
					"%s: %s cannot be applied; do it by hand: %s", option, id,
					check->how ?: "-");
			for (size_t k = 0; k < n_check_rows; k++)
				nearest_try(&nearest, check_rows[k].id);
			return error_say(err, -EINVAL,
				"%s: there is no check '%s'%s; 'emp-setup audit --all' lists them",
				option, id, nearest_hint(&nearest, ""));
		}
	return 0;
}

static const char *plan_owner(struct plan *plan)
{
	return plan->owner = plan->owner ?: owner_new();
}

static bool is_planned(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_order; i++)
		if (!strcmp(plan_entry(plan, i)->name, name))
			return true;
	return false;
}

/* Whether somebody else has set what an entry holds now: the value of the new wish. */
static bool is_from_others(const struct entry *there, const struct entry *entry)
{
	const char *now = entry->old;

	if (!now || !strcmp(now, there->old))
		return false;
	if (there->kind == ENTRY_UNIT && !there->changed_externally)
		return strcmp(now, there->want) != 0 &&
		       (!there->held || strcmp(now, there->held) != 0);
	/* what a restore has left alone is not applied, whatever it holds */
	return there->changed_externally || (there->owners && !*there->owners);
}

/* Adds a wish to an entry that is applied. The value found first remains the one to go back to,
 * unless somebody else has set another meanwhile. */
static void plan_join(struct plan *plan, struct entry *there, struct entry *entry)
{
	bool needed = entry_needed_by(there) > 0, from_others = is_from_others(there, entry);

	if (entry_is_untouched(there)) {
		free(there->old);
		there->old = xstrdup(entry->old);
		from_others = false;
	}
	if (from_others) {
		entry_adopt(there, entry->old);
		there->adopted = true;
	}
	if (!options.run_for || (!needed && entry_is_applied(there)))
		free(TAKE(there->prior));
	if (options.run_for && !needed && entry_is_applied(there)) {
		there->prior = text_copy(entry->old);
		there->unblocked = !entry_is_blocked(there); /* that apply was killed */
	}
	there->gained = !entry_has_owner(there, plan_owner(plan));
	entry_add_owner(there, plan_owner(plan));
	if (entry_is_kept(entry))
		return;
	if (entry_is_kept(there)) {
		free(there->id);
		there->id = TAKE(entry->id);
		there->file_kind = entry->file_kind;
	}
	there->begun = there->kind == ENTRY_UNIT && !strcmp(entry->old, entry->want) &&
		       entry_is_reached(there); /* by an earlier apply */
	free(there->want);
	there->want = TAKE(entry->want);
	free(TAKE(there->held));
	free(there->last);
	there->last = there->kind == ENTRY_FILE ? text_copy(entry->old) : NULL;
	there->persistent = there->persistent || entry->persistent;
	there->loses = entry->loses;
	there->was_set = entry->was_set;
	if (there->block == BLOCK_NONE)
		there->block = entry->block;
}

void plan_add(struct plan *plan, struct entry *entry)
{
	struct entry *there = journal_find(&plan->journal, entry->name);
	pid_t needed_by = there ? entry_needed_by(there) : 0;

	if (there && entry_is_kept(entry) && is_planned(plan, entry->name)) {
		entry_clear(entry);
		return;
	}
	if (needed_by > 0 && !entry_is_kept(entry) && !entry_is_kept(there) &&
		strcmp(there->want, entry->want) != 0) {
		report_entry(&plan->report, entry, OUTCOME_REFUSED, entry->old, entry->old,
			text_brief(
				"process %d (emp-setup apply --for) needs it as it is", needed_by));
		entry_clear(entry);
		return;
	}
	if (there) { /* what is set already needs not be kept, but owned */
		if (!entry_is_kept(entry) || entry_is_kept(there))
			*array_add(plan->order,
				plan->n_order) = (size_t)(there - plan->journal.entries);
		plan_join(plan, there, entry);
		entry_clear(entry);
		return;
	}
	entry->gained = true;
	entry->last = entry->kind == ENTRY_FILE ? text_copy(entry->old) : NULL;
	entry->owners = xstrdup(plan_owner(plan));
	*array_add(plan->order, plan->n_order) = plan->journal.n;
	*array_add(plan->journal.entries, plan->journal.n) = TAKE_STRUCT(*entry);
}

void plan_clear(struct plan *plan)
{
	facts_clear(&plan->facts);
	units_free(plan->units);
	journal_clear(&plan->journal);
	free(plan->order);
	free(plan->owner);
	unit_reasons_clear(&plan->busy);
	report_clear(&plan->report);
	*plan = (struct plan){};
}

/* Units. */

/* Names of properties, which end with NULL: what stops with a unit, and what must stop before
 * it. */
static const char *const STOPPED_WITH[] = {"TriggeredBy", "RequiredBy", "RequisiteOf", "BoundBy",
	"ConsistsOf", "PropagatesStopTo", NULL};
static const char *const STOPPED_BEFORE[] = {"RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf",
	"PropagatesStopTo", "Before", "TriggeredBy", NULL};
static const char *const NEEDED_BY[] = {
	"RequiredBy", "RequisiteOf", "BoundBy", "WantedBy", "UpheldBy", NULL};
const char *const units_needs[] = {"Requires", "Requisite", "BindsTo", "Wants", "Upholds", NULL};

static const struct check *check_of(const char *unit)
{
	return check_rows_find(unit_is_kind(unit, ".timer") ? CHECK_ID_TIMERS : CHECK_ID_SERVICES);
}

/* `with`: the unit of the policy that it is stopped with; it may be the unit itself. */
static void plan_unit(struct plan *plan, const char *name, const char *old, const char *with)
{
	_cleanup_(freep) char *file = NULL, *state = NULL;
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
	/* A unit whose own file is in /etc or /run cannot be masked. */
	if ((units_get(plan->units, name, "Unit.UnitFileState", 's', &state, NULL) < 0 ||
		    strncmp(state, "masked", 6) != 0) &&
		units_get(plan->units, name, "Unit.FragmentPath", 's', &file, NULL) == 0)
		entry.block = !strncmp(file, "/etc/systemd/system/", 20) ||
					      !strncmp(file, "/run/systemd/system/", 20)
				      ? BLOCK_DROP_IN
				      : BLOCK_MASK;
	plan_add(plan, &entry);
	there = is_planned(plan, name) ? journal_find(&plan->journal, name) : NULL;
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

/* Whether systemd stops this unit when the plan's, and those of `more`, are down: nothing else
 * needs it then. */
static bool loses_its_need(const struct plan *plan, const char *name, char *const *more)
{
	_cleanup_(argv_freep) char **names = NULL;

	if (is_planned(plan, name) || names_have(more, name) || !units_is_up(plan->units, name) ||
		!units_flag(plan->units, name, "Unit.StopWhenUnneeded", false) ||
		!units_flag(plan->units, name, "Unit.CanStart", true) ||
		units_related(plan->units, name, NEEDED_BY, &names, NULL) < 0)
		return false;
	for (char **n = names; *n; n++)
		if (!is_planned(plan, *n) && !names_have(more, *n) && units_is_up(plan->units, *n))
			return false;
	return true;
}

/* The obstacle that systemd would stop a unit which must not be touched, when nothing needs it any
 * more. The caller frees it; NULL: there is none. */
static char *find_lost(const struct plan *plan, char *const *stopped)
{
	for (char *const *unit = stopped; *unit; unit++) {
		_cleanup_(argv_freep) char **names = NULL;

		if (units_related(plan->units, *unit, units_needs, &names, NULL) < 0)
			continue;
		for (char **name = names; *name; name++) {
			const char *why = policy_protects(plan->facts.policy, *name)
						  ?: unit_reasons_find(&plan->facts.needed, *name);

			if (why && loses_its_need(plan, *name, stopped))
				return text_format(
					"%s, which only this unit needs, must not be touched (%s)",
					*name, why);
		}
	}
	return NULL;
}

/* Adds a unit of the policy, or the trigger of one (`with`), and all that stop with it, or reports
 * why none of them may. */
static int plan_service(
	struct plan *plan, const char *own, const char *unit, const char *with, struct error *err)
{
	enum { MOST_TOGETHER = 64 };
	_cleanup_(argv_freep) char **names = xcalloc(MOST_TOGETHER + 1, sizeof(*names));
	_cleanup_(freep) char *obstacle = NULL;
	size_t n = 0;

	names[n++] = xstrdup(unit);
	for (size_t i = 0; i < n && !obstacle; i++) {
		_cleanup_(argv_freep) char **more = NULL;
		int r;

		obstacle = find_obstacle(plan, own, names[i]);
		r = obstacle ? 0 : units_related(plan->units, names[i], STOPPED_WITH, &more, err);
		if (r < 0)
			return r;
		for (char **name = more; name && *name; name++) {
			const struct unit *known = unit_list_find(&plan->facts.units, *name);
			size_t k = 0; /* its place among the names, or n */

			while (k < n && strcmp(names[k], *name) != 0)
				k++;
			/* The list of facts has four kinds of units; others are asked for. */
			if (k < n || !(known ? unit_is_up(known) : units_is_up(plan->units, *name)))
				continue;
			if (n == MOST_TOGETHER)
				return error_say(
					err, -E2BIG, "too many units depend on %s", names[i]);
			names[n++] = xstrdup(*name);
		}
	}
	obstacle = obstacle ?: find_lost(plan, names);
	if (obstacle)
		report_add(&plan->report, check_of(unit)->id, unit, OUTCOME_REFUSED, "active",
			"active", obstacle);
	for (size_t i = 0; !obstacle && i < n; i++)
		if (!is_planned(plan, names[i]))
			plan_unit(plan, names[i], "active", with);
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

/* Sorts the units of a plan, its only entries so far. Timers come first, and services before
 * sockets and paths: each then brings its own. */
static int sort_units(struct plan *plan, struct error *err)
{
	_cleanup_(freep) bool *visited = xcalloc(plan->n_order, sizeof(*visited));
	_cleanup_(freep) size_t *order = xcalloc(plan->n_order, sizeof(*order));
	struct ordering o = {plan, order, 0, visited};

	for (int kind = 0; kind < 3; kind++)
		for (size_t i = 0; i < plan->n_order; i++) {
			const char *unit = plan_entry(plan, i)->name;
			int own = unit_is_kind(unit, ".timer")     ? 0
				  : unit_is_kind(unit, ".service") ? 1
								   : 2,
			    r = own == kind ? visit_unit(&o, i, err) : 0;

			if (r < 0)
				return r;
		}
	free(plan->order);
	plan->order = TAKE(order);
	return 0;
}

/* If no time daemon runs: the first that is installed and may be started. */
static void plan_ntp(struct plan *plan)
{
	const char *unit;

	/* One that an earlier apply has started must not stop with that one. */
	for (size_t i = 0; i < plan->n_open; i++) {
		struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !strcmp(e->id, CHECK_ID_NTP) &&
			!is_planned(plan, e->name) && units_is_up(plan->units, e->name)) {
			plan_add(plan, &(struct entry){.kind = ENTRY_UNIT,
					       .id = xstrdup(CHECK_ID_NTP),
					       .name = xstrdup(e->name),
					       .old = xstrdup("active"),
					       .want = xstrdup("active"),
					       .was_set = true});
			return;
		}
	}
	if (plan->facts.n_daemons > 0 || !plan->facts.clock.settable ||
		(plan->facts.contained && plan->facts.clock.synchronised))
		return;
	for (size_t i = 0; (unit = ntp_unit(i)); i++) {
		_cleanup_(freep) char *state = units_file_state(plan->units, unit);

		if (state && strncmp(state, "masked", 6)) {
			plan_add(plan, &(struct entry){.kind = ENTRY_UNIT,
					       .id = xstrdup(CHECK_ID_NTP),
					       .name = xstrdup(unit),
					       .old = xstrdup("inactive"),
					       .want = xstrdup("active")});
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

/* Reports a unit that runs and that the policy would have stopped, or stops only if it is asked
 * for. */
static void plan_left_alone(struct plan *plan, const char *name)
{
	const struct policy *policy = plan->facts.policy;
	const char *needed = policy_stop(policy, name)
				     ? unit_reasons_find(&plan->facts.needed, name)
				     : NULL,
		   *ask = policy_never(policy, name) ? NULL : policy_ask(policy, name);
	_cleanup_(
		freep) char *note = ask      ? text_format("%s; --stop %s stops it", ask, name)
				    : needed ? xstrdup(needed)
				    : policy_stop(policy, name) && !facts_stop(&plan->facts, name)
					    ? xstrdup("it belongs to a unit that must keep running")
					    : NULL;

	if (note && request_takes(check_of(name)) && !is_planned(plan, name))
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
		_cleanup_(freep) char *file = units_file_state(plan->units, name);
		bool exists = file || (unit && strcmp(unit->load, "not-found") != 0);
		_cleanup_(freep) char *note = never ? text_format(
							      "it must not be touched (%s)", never)
					      : exists ? NULL
						       : xstrdup("there is no such unit");

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
		if (is_planned(plan, *trigger) || !units_is_up(plan->units, *trigger))
			continue;
		if (unit_is_kind(*trigger, ".timer") && !is_to_stop(plan, *trigger))
			return 0;
		r = plan_service(plan, own, *trigger, name, err);
		if (r < 0 || !is_planned(plan, *trigger))
			return r;
	}
	if (r >= 0)
		plan_unit(plan, name, "inactive", name);
	return r;
}

/* Takes part in what an earlier apply has stopped, and is stopped still: of the policy, and what
 * was stopped with that. Its owner may end first. What is masked has no properties that would
 * tell. */
static int plan_open_units(struct plan *plan, const char *own, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < plan->n_open; i++) {
		const struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !strcmp(e->want, "inactive") &&
			(is_to_stop(plan, e->name) || (e->with && is_to_stop(plan, e->with))) &&
			!is_planned(plan, e->name) && !units_is_up(plan->units, e->name))
			r = plan_inactive(plan, own, e->name, err);
	}
	return r;
}

/* Adds the units that apply will stop, and the time daemon that it will start, to a plan that has
 * no files yet. */
static int plan_units(struct plan *plan, struct error *err)
{
	_cleanup_(argv_freep) char **files = NULL;
	_cleanup_(freep) char *own = NULL;
	size_t n_files;
	int r = 0;

	if (!plan->units) {
		if (request_takes(check_of("x.service")))
			report_add(&plan->report, CHECK_ID_SERVICES, "-", OUTCOME_ABSENT, NULL,
				NULL, plan->facts.units_why);
		return 0;
	}
	sd_pid_get_unit(0, &own); /* NULL: it belongs to none */
	units_busy(&plan->busy);
	plan_requested(plan);
	/* What is stopped until the next boot is in the journal as such, and is restored as
	 * such. */
	for (size_t i = 0; options.persistent && i < plan->journal.n; i++) {
		const struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !e->persistent && e->block != BLOCK_NONE)
			report_entry(&plan->report, e, OUTCOME_REFUSED, "active", "inactive",
				"applied until the next boot; restore first, then apply --persistent");
	}
	for (size_t i = 0; r == 0 && i < plan->facts.units.n; i++) {
		const struct unit *unit = &plan->facts.units.items[i];

		if (unit_is_up(unit) && strcmp(unit->sub, "exited") != 0 &&
			is_to_stop(plan, unit->name))
			r = plan_service(plan, own, unit->name, unit->name, err);
	}
	r = r < 0 ? r : sort_units(plan, err);
	/* Behind those that need them. What is added may have been all that others were needed
	 * by. */
	for (size_t i = 0; r >= 0 && i < plan->n_order; i++) {
		_cleanup_(argv_freep) char **names = NULL;

		r = units_related(plan->units, plan_entry(plan, i)->name, units_needs, &names, err);
		for (char **name = names; name && *name; name++)
			if (loses_its_need(plan, *name, NULL))
				plan_unit(plan, *name, "active", plan_entry(plan, i)->name);
	}
	for (size_t i = 0; r >= 0 && i < plan->facts.units.n; i++) {
		const struct unit *unit = &plan->facts.units.items[i];

		if (unit_is_up(unit) && strcmp(unit->sub, "exited") != 0)
			plan_left_alone(plan, unit->name);
	}
	r = r < 0 ? r : plan_open_units(plan, own, err);
	/* Units of the policy that do not run, but that a request over D-Bus, a timer or another
	 * unit may start, are blocked. */
	r = r < 0 ? r : units_files(plan->units, &files, err);
	if (r < 0)
		return r;
	for (n_files = 0; files[n_files]; n_files++)
		;
	if (n_files > 0)
		qsort(files, n_files, sizeof(*files), compare_names);
	for (char **name = files; r >= 0 && *name; name++)
		if (is_to_stop(plan, *name) && !is_planned(plan, *name) &&
			!units_is_up(plan->units, *name))
			r = plan_inactive(plan, own, *name, err);
	if (r >= 0 && request_takes(check_rows_find(CHECK_ID_NTP)))
		plan_ntp(plan);
	return r < 0 ? r : 0;
}

/* Files. */

/* Adds the isolated partition, if it is requested. */
static void plan_isolation(struct plan *plan)
{
	const struct facts *f = &plan->facts;
	_cleanup_(freep) char *directory = partition_directory(AT_FDCWD), *top = NULL,
			      *controllers = NULL, *rest = NULL, *subtree = NULL, *list = NULL;
	const char *obstacle = NULL;

	if (options.isolate < 0)
		return;
	top = directory ? xstrndup(directory, (size_t)(strrchr(directory, '/') - directory)) : NULL;
	controllers = top ? path_text(AT_FDCWD, "%s/cgroup.controllers", top) : NULL;
	rest = f->online ? cpu_list_without(f->online, f->threads, f->n_threads) : NULL;
	if (!directory)
		obstacle = "no cgroup v2 is mounted";
	else if (!text_has_word(controllers, "cpuset"))
		obstacle = "cgroup v1 has the cpuset controller: boot with cgroup_no_v1=cpuset";
	else if (!rest || !*rest)
		obstacle = "no other core would remain for all other programs";
	if (obstacle) {
		report_add(&plan->report, CHECK_ID_ISOLATED, directory ?: "-", OUTCOME_REFUSED,
			NULL, NULL, obstacle);
		return;
	}
	subtree = text_format("%s/cgroup.subtree_control", top);
	list = cpu_list_text(f->threads, f->n_threads);

	struct entry files[] = {
		{.name = TAKE(subtree), .file_kind = SETTING_CPUSET, .want = xstrdup("+cpuset")},
		{.name = TAKE(directory), .file_kind = SETTING_PARTITION, .want = TAKE(list)}};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		files[i].kind = ENTRY_FILE;
		files[i].id = xstrdup(CHECK_ID_ISOLATED);
		files[i].old = entry_read(&files[i], NULL);
		plan_add(plan, &files[i]);
	}
}

/* Settings of one order stay in the order of the rows. */
static int plan_settings(struct plan *plan, enum setting_order order, struct error *err)
{
	for (const struct check *check = check_rows; check->id; check++) {
		const struct setting_files *files = check_files(check, &plan->facts);

		if (!check->setting.pattern || check->setting.order != order ||
			!request_takes(check))
			continue;
		if (check->setting.isolates && plan->facts.cpu < 0)
			return error_say(err, -EINVAL,
				"%s: no CPU is set apart for timing; --cpu names one", check->id);
		if (files->n == 0)
			report_add(&plan->report, check->id, "-", OUTCOME_ABSENT, NULL, NULL, NULL);
		for (size_t k = 0; k < files->n; k++) {
			const struct setting_file *file = &files->items[k];

			if (setting_is_of_host(&plan->facts, file))
				report_add(&plan->report, check->id, file->path, OUTCOME_ABSENT,
					file->value, file->value, "the host decides");
			else if (!file->value && file->error != -ENOENT)
				report_add(&plan->report, check->id, file->path, OUTCOME_REFUSED,
					NULL, NULL, strerror(-file->error));
			else if (file->value && !file->want)
				report_add(&plan->report, check->id, file->path, OUTCOME_ABSENT,
					file->value, NULL, check->setting.no_want);
			else if (file->value)
				plan_add(plan, &(struct entry){.file_kind = check->setting.kind,
						       .id = xstrdup(check->id),
						       .name = xstrdup(file->path),
						       .old = xstrdup(file->value),
						       .want = xstrdup(file->want),
						       .loses = check->setting.costs});
		}
	}
	return 0;
}

/* Files that lose their values while a setting is applied, and those that have lost them to an
 * earlier apply. */
static void plan_kept_files(struct plan *plan, const struct check *check)
{
	for (const char *const *pattern = check->setting.keeps; *pattern; pattern++) {
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, *pattern);

		for (size_t i = 0; i < paths.n; i++) {
			struct kernel_setting file = {.root_fd = AT_FDCWD, .path = paths.items[i]};
			struct entry *there = journal_find(&plan->journal, paths.items[i]);
			_cleanup_(freep) char *value = NULL;
			struct stat st;

			if (stat(paths.items[i], &st) < 0 || !(st.st_mode & S_IWUSR) ||
				setting_is_of_host(
					&plan->facts, &(struct setting_file){.path = paths.items[i],
							      .value = (char *)""}))
				continue;
			if (S_ISDIR(st.st_mode))
				file.kind = SETTING_LIMITS;
			if (kernel_setting_read(&file, &value) < 0)
				continue;
			if (value[0] != '<') /* "<unsupported>" */
				plan_add(plan, &(struct entry){.id = xstrdup(check->id),
						       .name = xstrdup(paths.items[i]),
						       .file_kind = file.kind,
						       .old = TAKE(value),
						       .want = xstrdup("")});
			else if (there && entry_is_kept(there) && there->changed_externally)
				entry_adopt(there, value); /* it went with the governor */
		}
	}
	/* What cannot be read now has no value to join with. */
	for (size_t i = 0; i < plan->n_open; i++) {
		struct entry *e = &plan->journal.entries[i];

		if (!entry_is_kept(e) || strcmp(e->id, check->id) != 0 ||
			is_planned(plan, e->name) || e->changed_externally)
			continue;
		if (!options.run_for || (entry_needed_by(e) == 0 && entry_is_applied(e)))
			free(TAKE(e->prior)); /* as plan_join does with its governor's */
		e->gained = !entry_has_owner(e, plan_owner(plan));
		entry_add_owner(e, plan_owner(plan));
	}
}

int plan_make(struct plan *plan, struct error *err)
{
	int r;

	if (!plan->journal.since_ns)
		plan->journal.since_ns = clock_ns(CLOCK_REALTIME);
	if (!plan->journal.boot_id)
		plan->journal.boot_id = journal_boot_id();
	r = plan_units(plan, err);
	if (r < 0)
		return r;
	plan_isolation(plan);
	for (int order = 0; r == 0 && order < N_ORDERS; order++)
		r = plan_settings(plan, (enum setting_order)order, err);
	if (r < 0)
		return r;
	/* Behind all settings: their values are read again when these are set. */
	for (const struct check *check = check_rows; check->id; check++)
		if (check->setting.keeps && request_takes(check) &&
			check_files(check, &plan->facts)->n > 0)
			plan_kept_files(plan, check);
	return 0;
}
