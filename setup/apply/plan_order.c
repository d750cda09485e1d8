/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which units are stopped: see plan.h.
 *
 * Timers go first. Then, for each service: what needs it or was started after it (systemd, too, stops these
 * first when it shuts down), what would start it again, and the service itself. In another order, a unit may
 * wait for one that is gone (cups-browsed asks avahi for 25 s), or start it again. */
#include "setup/apply/plan.h"

#include <string.h>

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
	static const char *const before[] = {
		"RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf", "Before", "TriggeredBy"};
	int r = 0;

	if (o->visited[i])
		return 0;
	o->visited[i] = true; /* a service and its socket may need each other */
	for (size_t k = 0; r == 0 && k < ELEMENTS(before); k++)
		r = visit_list(o, i, before[k], err);
	o->order[o->n++] = o->plan->order[i];
	return r;
}

/* Services before sockets and paths: each then brings its own. */
static int rank(const char *unit)
{
	return unit_is_kind(unit, ".timer") ? 0 : unit_is_kind(unit, ".service") ? 1 : 2;
}

int plan_order(struct plan *plan, struct units *units, struct error *err)
{
	struct ordering o = {.plan = plan, .units = units};
	_cleanup_(freep) bool *visited = calloc(plan->n_order + 1, sizeof(*visited));
	_cleanup_(freep) size_t *order = calloc(plan->n_order + 1, sizeof(*order));
	int r = 0;

	if (!visited || !order)
		return error_oom(err);
	o.visited = visited;
	o.order = order;
	for (int which = 0; which <= 2; which++)
		for (size_t i = 0; r == 0 && i < plan->n_order; i++)
			if (rank(name_of(&o, i)) == which)
				r = visit(&o, i, err);
	if (r < 0)
		return r;
	free(plan->order);
	plan->order = TAKE(order);
	return 0;
}
