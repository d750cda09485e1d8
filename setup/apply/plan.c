/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change: see apply.h. */
#include "setup/apply/apply.h"

#include "lib/base/number.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/base/xalloc.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/pinning.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static void plan_isolation(struct plan *plan, const struct planning *from);
static int plan_units(struct plan *plan, const struct planning *from, struct error *err);

/* Whether the kernel changes this check's files with those of a check in the list. */
static bool is_along(const char *list, const char *id)
{
	for (const struct check *c = check_rows; c->id; c++)
		if (c->setting.coupled_check && !strcmp(c->setting.coupled_check, id) &&
			list_has(list, ',', c->id))
			return true;
	return false;
}

bool request_takes(const struct request *request, const struct check *check)
{
	if (!check_can_be_applied(check) || list_has(request->skip, ',', check->id))
		return false;
	if (request->isolate && check->setting.isolates)
		return true;
	if (request->only)
		return list_has(request->only, ',', check->id) || is_along(request->only, check->id);
	return !check->setting.on_request;
}

static int validate_list(const char *list, const char *option, struct error *err)
{
	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
		_cleanup_(freep) char *id = xstrndup(p, strcspn(p, ","));
		const struct check *c = id ? check_rows_find(id) : NULL;

		if (!c) {
			struct nearest nearest = {.typed = id};

			for (size_t i = 0; i < n_check_rows; i++)
				nearest_try(&nearest, check_rows[i].id);
			return error_say(err, -EINVAL,
				"%s: there is no check '%s'%s; 'emp-setup audit --all' lists them", option,
				id, nearest_hint(&nearest, ""));
		}
		if (!check_can_be_applied(c))
			return error_say(err, -EINVAL, "%s: %s cannot be applied; do it by hand: %s", option,
				c->id, c->how ?: "-");
	}
	return 0;
}

int request_validate(const struct request *request, struct error *err)
{
	int r = validate_list(request->only, "--only", err);

	return r < 0 ? r : validate_list(request->skip, "--skip", err);
}

void plan_add(struct plan *plan, struct entry *entry)
{
	size_t *place = array_add(plan->order, plan->n_order);
	struct entry *there = journal_find(&plan->journal, entry->name);

	if (there) {
		*place = (size_t)(there - plan->journal.entries);
		/* The value found first remains the one to restore. */
		free(there->want);
		there->want = TAKE(entry->want);
		free(TAKE(there->held));
		there->persistent = there->persistent || entry->persistent;
		there->loses = entry->loses;
		if (there->block == BLOCK_NONE)
			there->block = entry->block;
		entry_clear(entry);
		return;
	}
	*place = plan->journal.n;
	journal_add(&plan->journal, entry);
}

static void plan_file(struct plan *plan, const struct check *check, const struct setting_file *file,
	const struct planning *from)
{
	_cleanup_(freep) char *want = setting_want(&check->setting, from->facts, file);
	struct entry entry = {.kind = ENTRY_FILE, .file_kind = check->setting.kind};

	if (!file->value) {
		if (file->error != -ENOENT)
			report_add(from->report, check->id, file->path, OUTCOME_REFUSED, NULL, NULL,
				strerror(-file->error));
		return;
	}
	if (!want) {
		report_add(from->report, check->id, file->path, OUTCOME_ABSENT, file->value, NULL,
			check->setting.isolates ? "no other core would handle it"
						: "the kernel does not report the base frequency");
		return;
	}
	entry.id = xstrdup(check->id);
	entry.name = xstrdup(file->path);
	entry.old = xstrdup(file->value);
	entry.want = TAKE(want);
	plan_add(plan, &entry);
}

/* Settings of one order stay in the order of the rows. */
static int plan_settings(struct plan *plan, int order, const struct planning *from, struct error *err)
{
	for (size_t i = 0; i < n_check_rows; i++) {
		const struct check *check = &check_rows[i];
		const struct setting_files *files = &from->facts->files[i];

		if (!check->setting.pattern || check->setting.order != order ||
			!request_takes(from->request, check))
			continue;
		if (check->setting.isolates && from->facts->cpu < 0)
			return error_say(err, -EINVAL, "%s: no CPU is set apart for timing; --cpu names one",
				check->id);
		if (files->n == 0)
			report_add(from->report, check->id, "-", OUTCOME_ABSENT, NULL, NULL, NULL);
		for (size_t k = 0; k < files->n; k++)
			plan_file(plan, check, &files->items[k], from);
	}
	return 0;
}

static void plan_kept_files(struct plan *plan, const struct check *check, const char *pattern)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, pattern);

	for (size_t i = 0; i < paths.n; i++) {
		const struct kernel_setting file = {.root_fd = AT_FDCWD, .path = paths.items[i]};
		_cleanup_(freep) char *value = NULL;
		struct entry entry;
		struct stat st;

		if (stat(paths.items[i], &st) == 0 && st.st_mode & S_IWUSR &&
			kernel_setting_read(&file, &value) == 0 && value[0] != '<') { /* "<unsupported>" */
			entry = (struct entry){.id = xstrdup(check->id),
				.name = xstrdup(paths.items[i]),
				.old = TAKE(value),
				.want = xstrdup("")};
			plan_add(plan, &entry);
		}
	}
}

int plan_make(struct plan *ret, struct journal *open, const struct planning *from, struct error *err)
{
	enum { ORDERS = 16 };
	_cleanup_(plan_clear) struct plan plan = {.journal = *open};
	int r;

	*open = (struct journal){};
	if (!plan.journal.since_ns)
		plan.journal.since_ns = clock_ns(CLOCK_REALTIME);
	if (!plan.journal.boot_id)
		plan.journal.boot_id = journal_boot_id();
	r = plan_units(&plan, from, err);
	if (r == 0)
		plan_isolation(&plan, from);
	for (int order = 0; r == 0 && order < ORDERS; order++)
		r = plan_settings(&plan, order, from, err);
	if (r == 0) {
		/* Behind all settings: their values are read again when these are set. */
		for (size_t i = 0; i < n_check_rows; i++) {
			const struct check *check = &check_rows[i];

			if (!check->setting.keeps || !request_takes(from->request, check) ||
				from->facts->files[i].n == 0)
				continue;
			for (const char *const *pattern = check->setting.keeps; r == 0 && *pattern; pattern++)
				plan_kept_files(&plan, check, *pattern);
		}
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(plan);
	return 0;
}

void plan_clear(struct plan *plan)
{
	journal_clear(&plan->journal);
	free(plan->order);
	*plan = (struct plan){};
}

/* The isolated partition that apply will make. */

static const char ID[] = "isolated";

/* The value of now is the one to restore. */
static void add(struct plan *plan, const char *name, enum kernel_setting_kind kind, const char *want)
{
	struct kernel_setting file = {.root_fd = AT_FDCWD, .path = name, .kind = kind};
	struct entry entry = {.kind = ENTRY_FILE, .file_kind = kind};

	if (kernel_setting_read(&file, &entry.old) < 0)
		entry.old = NULL;
	entry.id = xstrdup(ID);
	entry.name = xstrdup(name);
	entry.want = xstrdup(want);
	plan_add(plan, &entry);
}

/* Adds the isolated partition, if it is requested. */
static void plan_isolation(struct plan *plan, const struct planning *from)
{
	const struct facts *cpus = from->facts;
	_cleanup_(freep) char *directory = partition_directory(AT_FDCWD), *top = NULL, *path = NULL,
			      *list = NULL;
	const char *obstacle;

	if (!from->request->isolate)
		return;
	top = directory ? xstrndup(directory, (size_t)(strrchr(directory, '/') - directory)) : NULL;

	/* Why it cannot be made; NULL if it may. */
	_cleanup_(freep) char *obstacle_path = text_format("%s/cgroup.controllers", top ?: ""),
			      *controllers = NULL;
	_cleanup_(freep) char *rest = cpus->online
					      ? cpu_list_without(cpus->online, cpus->threads, cpus->n_threads)
					      : NULL;

	if (!directory)
		obstacle = "no cgroup v2 is mounted";
	else if (!obstacle_path || text_read_file(AT_FDCWD, obstacle_path, &controllers) < 0 ||
		 !list_has(controllers, ' ', "cpuset"))
		obstacle = "cgroup v1 has the cpuset controller: boot with cgroup_no_v1=cpuset";
	else if (!rest || !*rest)
		obstacle = "no other core would remain for all other programs";
	else
		obstacle = NULL;
	if (obstacle) {
		report_add(from->report, ID, directory ?: "-", OUTCOME_REFUSED, NULL, NULL, obstacle);
		return;
	}
	path = text_format("%s/cgroup.subtree_control", top);
	list = cpu_list_text(cpus->threads, cpus->n_threads);
	add(plan, path, SETTING_CPUSET, "+cpuset");
	add(plan, directory, SETTING_PARTITION, list);
}

/* A service is stopped together with its triggers (a socket, path or timer would start it again) and with what
 * requires it: systemd stops that too. If any of these must not be touched, the service stays as well.
 *
 * Timers are stopped first. Then, for each service: what needs it or was started after it (systemd, too, stops these
 * first when it shuts down), what would start it again, and the service itself. In another order, a unit may wait
 * for one that is gone (cups-browsed asks avahi for 25 s), or start it again.
 *
 * Last comes what systemd stops by itself when nothing needs it any more (StopWhenUnneeded=). */

enum { MOST_TOGETHER = 64 };

/* A unit of the policy and all units that stop with it. */
struct closure {
	const struct facts *facts;
	struct units *units;
	char *own; /* the unit that this process belongs to */
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
static bool is_up(const struct closure *c, const char *name)
{
	const struct unit *unit = unit_list_find(&c->facts->units, name);

	return unit ? unit_is_up(unit) : units_is_up(c->units, name);
}

static bool is_at_work(struct units *units, const struct unit *unit)
{
	_cleanup_(freep) char *type = NULL;
	struct error ignored;

	return unit_is_kind(unit->name, ".service") && !strcmp(unit->active, "activating") &&
	       units_service_type(units, unit->name, &type, &ignored) == 0 && !strcmp(type, "oneshot");
}

static int collect_related(struct closure *c, const char *name, struct error *err)
{
	static const char *const properties[] = {
		"TriggeredBy", "RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf", "PropagatesStopTo"};

	for (size_t i = 0; i < ELEMENTS(properties); i++) {
		_cleanup_(strings_freep) char **names = NULL;
		int r = units_names(c->units, name, properties[i], &names, err);

		if (r < 0)
			return r;
		for (char **n = names; n && *n; n++) {
			if (closure_has(c, *n) || !is_up(c, *n))
				continue;
			if (c->n == MOST_TOGETHER)
				return error_say(err, -E2BIG, "too many units depend on %s", name);
			c->names[c->n++] = TAKE(*n);
			*n = xstrdup(""); /* keeps the list complete */
		}
	}
	return 0;
}

/* Starts with the first name and ends when nothing new is found, or something is in the way. */
static int collect(struct closure *c, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n; i++) {
		const char *name = c->names[i];
		const struct unit *unit = unit_list_find(&c->facts->units, name);
		const char *never = policy_never(c->facts->policy, name);

		/* Why this unit must stay; NULL if it may go. */
		if (c->own && !strcmp(c->own, name))
			c->obstacle = xstrdup("this emp-setup runs in it");
		else if (never)
			c->obstacle = text_format("%s must not be touched (%s)", name, never);
		else if (!unit)
			c->obstacle = text_format("%s would be stopped too", name);
		else if (!strcmp(unit->file_state, "transient"))
			c->obstacle = text_format("%s has no unit file and could not be started again", name);
		else if (!units_flag(c->units, name, "CanStart", true))
			c->obstacle = text_format("%s cannot be started by hand, and so not restored", name);
		else if (!units_flag(c->units, name, "CanStop", true))
			c->obstacle = text_format("%s cannot be stopped by hand", name);
		else if (is_at_work(c->units, unit)) {
			c->obstacle = text_format("%s is busy; try again later", name);
		} else
			c->obstacle = NULL;
		if (c->obstacle)
			return 0;
		r = collect_related(c, c->names[i], err);
	}
	return r;
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

static const struct check *check_of(const char *unit)
{
	return check_rows_find(unit_is_kind(unit, ".timer") ? "svc.timers" : "svc.units");
}

static bool is_planned(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_order; i++)
		if (!strcmp(plan_entry(plan, i)->name, name))
			return true;
	return false;
}

static void plan_unit(struct plan *plan, const char *name, const char *old, const struct planning *from)
{
	struct entry entry = {
		.kind = ENTRY_UNIT,
		.id = xstrdup(check_of(name)->id),
		.name = xstrdup(name),
		.old = xstrdup(old),
		.want = xstrdup("inactive"),
		.block = block_for(from->units, name),
		.persistent = from->request->persistent,
		.loses = policy_loses(from->facts->policy, name),
	};

	plan_add(plan, &entry);
}

struct ordering {
	const struct plan *plan;
	struct units *units;
	size_t *order; /* as far as it is known */
	size_t n;
	bool *visited; /* by place in plan->order */
};

static const char *name_of(const struct ordering *o, size_t i)
{
	return plan_entry(o->plan, i)->name;
}

static int visit(struct ordering *o, size_t i, struct error *err);

/* Those units of the plan that are in a list of this one's. */
static int visit_list(struct ordering *o, size_t i, const char *property, struct error *err)
{
	_cleanup_(strings_freep) char **names = NULL;
	int r = units_names(o->units, name_of(o, i), property, &names, err);

	for (char **name = names; r == 0 && name && *name; name++)
		for (size_t k = 0; r == 0 && k < o->plan->n_order; k++)
			if (!strcmp(name_of(o, k), *name))
				r = visit(o, k, err);
	return r;
}

static int visit(struct ordering *o, size_t i, struct error *err)
{
	static const char *const before[] = {"RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf",
		"PropagatesStopTo", "Before", "TriggeredBy"};
	int r = 0;

	if (o->visited[i])
		return 0;
	o->visited[i] = true; /* a service and its socket may need each other */
	for (size_t k = 0; r == 0 && k < ELEMENTS(before); k++)
		r = visit_list(o, i, before[k], err);
	o->order[o->n++] = o->plan->order[i];
	return r;
}

/* Sorts the units of a plan, its only entries so far. */
static int sort_units(struct plan *plan, struct units *units, struct error *err)
{
	_cleanup_(freep) bool *visited = xcalloc(plan->n_order + 1, sizeof(*visited));
	_cleanup_(freep) size_t *order = xcalloc(plan->n_order + 1, sizeof(*order));
	struct ordering o = {plan, units, order, 0, visited};
	int r = 0;

	for (int which = 0; which <= 2; which++)
		for (size_t i = 0; r == 0 && i < plan->n_order; i++) {
			const char *unit = name_of(&o, i);

			/* Services before sockets and paths: each then brings its own. */
			if ((unit_is_kind(unit, ".timer")            ? 0
				    : unit_is_kind(unit, ".service") ? 1
								     : 2) == which)
				r = visit(&o, i, err);
		}
	if (r < 0)
		return r;
	free(plan->order);
	plan->order = TAKE(order);
	return 0;
}

/* Whether systemd stops this unit when the plan's are down: nothing else needs it then. */
static bool loses_its_need(const struct plan *plan, const struct planning *from, const char *name)
{
	static const char *const needs[] = {"RequiredBy", "RequisiteOf", "BoundBy", "WantedBy", "UpheldBy"};
	struct error ignored;

	if (is_planned(plan, name) || !units_is_up(from->units, name) ||
		!units_flag(from->units, name, "StopWhenUnneeded", false) ||
		!units_flag(from->units, name, "CanStart", true))
		return false;
	for (size_t i = 0; i < ELEMENTS(needs); i++) {
		_cleanup_(strings_freep) char **names = NULL;

		if (units_names(from->units, name, needs[i], &names, &ignored) < 0)
			return false;
		for (char **n = names; n && *n; n++)
			if (!is_planned(plan, *n) && units_is_up(from->units, *n))
				return false;
	}
	return true;
}

static int plan_unneeded_of(
	struct plan *plan, const char *name, const struct planning *from, struct error *err)
{
	static const char *const properties[] = {"Requires", "Requisite", "BindsTo", "Wants", "Upholds"};
	int r = 0;

	for (size_t i = 0; i < ELEMENTS(properties) && r == 0; i++) {
		_cleanup_(strings_freep) char **names = NULL;

		r = units_names(from->units, name, properties[i], &names, err);
		for (char **n = names; r == 0 && n && *n; n++)
			if (loses_its_need(plan, from, *n))
				plan_unit(plan, *n, "active", from);
	}
	return r;
}

/* If no time daemon runs: the first that is installed and may be started. */
static void plan_ntp(struct plan *plan, const struct planning *from)
{
	const char *unit;

	if (from->facts->ntp.n > 0 || !from->facts->clock.settable)
		return;
	for (size_t i = 0; (unit = ntp_unit(i)); i++) {
		_cleanup_(freep) char *state = NULL;
		struct error ignored;

		if (units_file_state(from->units, unit, &state, &ignored) == 0 &&
			strncmp(state, "masked", 6)) {
			plan_add(plan, &(struct entry){.kind = ENTRY_UNIT,
					       .id = xstrdup("ntp.on"),
					       .name = xstrdup(unit),
					       .old = xstrdup("inactive"),
					       .want = xstrdup("active")});
			return;
		}
	}
	report_add(from->report, "ntp.on", "-", OUTCOME_ABSENT, NULL, NULL, "no time daemon is installed");
}

/* Adds the units that apply will stop, and the time daemon that it will start, to a plan that has no files yet. */
static int plan_units(struct plan *plan, const struct planning *from, struct error *err)
{
	int r;

	if (!from->units) {
		if (request_takes(from->request, check_of("x.service")))
			report_add(from->report, "svc.units", "-", OUTCOME_ABSENT, NULL, NULL,
				from->facts->units_why);
		return 0;
	}
	/* What is stopped until the next boot is in the journal as such, and is restored as such. */
	for (size_t i = 0; from->request->persistent && i < plan->journal.n; i++) {
		const struct entry *e = &plan->journal.entries[i];

		if (e->kind == ENTRY_UNIT && !e->persistent && e->block != BLOCK_NONE)
			report_entry(from->report, e, OUTCOME_REFUSED, "active", "inactive",
				"applied until the next boot; restore first, then apply --persistent");
	}

	const struct facts *f = from->facts;
	_cleanup_(freep) char *own = units_own();

	r = 0;
	for (size_t i = 0; r == 0 && i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		_cleanup_(closure_clear) struct closure c = {f, from->units, own};

		if (!unit_is_up(unit) || !strcmp(unit->sub, "exited") ||
			!policy_stop(f->policy, unit->name) ||
			!request_takes(from->request, check_of(unit->name)))
			continue;
		c.names[c.n++] = xstrdup(unit->name);
		r = collect(&c, err);
		if (r == 0 && c.obstacle)
			report_add(from->report, check_of(c.names[0])->id, c.names[0], OUTCOME_REFUSED,
				"active", "active", c.obstacle);
		for (size_t k = 0; r == 0 && !c.obstacle && k < c.n; k++)
			if (!is_planned(plan, c.names[k]))
				plan_unit(plan, c.names[k], "active", from);
	}
	if (r == 0)
		r = sort_units(plan, from->units, err);
	if (r == 0) {
		/* Behind those that need them. What is added may have been all that others were needed by. */
		for (size_t i = 0; r == 0 && i < plan->n_order; i++)
			r = plan_unneeded_of(plan, plan_entry(plan, i)->name, from, err);
	}
	if (r == 0) {
		_cleanup_(strings_freep) char **files = NULL;

		/* Units of the policy that do not run, but that a request over D-Bus, a timer or another
		 * unit may start, are blocked. */
		r = units_files(from->units, &files, err);
		for (char **name = files; r == 0 && *name; name++) {
			if (!policy_stop(from->facts->policy, *name) ||
				!request_takes(from->request, check_of(*name)) || is_planned(plan, *name) ||
				units_is_up(from->units, *name))
				continue;
			plan_unit(plan, *name, "inactive", from);
		}
	}
	if (r == 0 && request_takes(from->request, check_rows_find("ntp.on")))
		plan_ntp(plan, from);
	return r;
}
