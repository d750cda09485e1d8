/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of services and timers that are not needed, judged by the policy, and of what else
 * starts soon (EMPv1). See checks.h. */
#include "setup/audit/checks.h"

static const char HOST[] = "; the host's are not visible in a container";

/* The services of the policy that run become the finding's items; how many they are. */
static size_t list_services(const struct facts *f, struct finding *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		bool runs = unit_is_up(unit) || !strcmp(unit->active, "deactivating");

		/* a service that is "exited" did its work and has no process left */
		if (!unit_is_kind(unit->name, ".timer") && runs &&
			strcmp(unit->sub, "exited") != 0 && facts_stop(f, unit->name)) {
			text_append(&ret->items, " ", "%s", unit->name);
			n++;
		}
	}
	/* Where systemd does not run or does not answer, the names of processes are compared: that
	 * finds some daemons, but finding none proves little. */
	for (size_t i = 0; !f->has_units && i < f->n_processes; i++) {
		const char *unit = policy_unit_of_process(f->policy, f->processes[i].name);

		if (unit && !text_has_word(ret->items, unit)) {
			text_append(&ret->items, " ", "%s", unit);
			n++;
		}
	}
	return n;
}

/* What stopped services have left running; `n`: so many others run. */
static void judge_left(const struct facts *f, size_t n, struct finding *ret)
{
	_cleanup_(freep) char *running = n > 0 ? text_format("%zu running: %s", n, ret->items)
					       : xstrdup("none running");
	_cleanup_(freep) char *left = NULL;

	for (size_t i = 0; i < f->left.n; i++) {
		text_append(&left, ", ", "%s of %s", f->left.items[i].why, f->left.items[i].unit);
		text_append(&ret->items, " ", "%s", f->left.items[i].unit);
	}
	if (n == 0) { /* apply has done its part */
		ret->how = xstrdup("wait until they have ended, or end them by hand");
		ret->undo = CHECK_NO_UNDO;
	}
	finding_set(ret, CHECK_OFF, "%s; stopped ones have left %s%s", running, left,
		f->machine.container ? HOST : "");
}

DECIDER(check_daemons_services)
{
	const char *host = f->machine.container ? HOST : "";
	const size_t n = list_services(f, ret);

	if (f->left.n > 0)
		judge_left(f, n, ret);
	else if (f->has_units && n > 0)
		finding_set(ret, CHECK_OFF, "%zu running: %s%s", n, ret->items, host);
	else if (f->has_units)
		finding_set(ret, CHECK_OK, "none%s", host);
	else if (n > 0) {
		ret->how = text_format(
			"end these processes by hand (systemd does not run): %s", ret->items);
		ret->undo = "start them again by hand";
		finding_set(ret, CHECK_OFF, "%zu running: %s", n, ret->items);
	} else if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s; no known daemon among %zu processes",
			f->units_why ?: "systemd was not asked", f->n_processes);
	else
		finding_set(ret, f->machine.container ? CHECK_ABSENT : CHECK_OK,
			"no known daemon among %zu process%s%s", f->n_processes,
			f->n_processes == 1 ? "" : "es",
			f->machine.container ? HOST : " (no systemd)");
}

/* "a.timer at 2026-11-21 14:03:59, b.timer at 2026-11-21 00:00:00 or up to 12 h 0 min later";
 * the caller frees it. The units become the finding's items. */
static char *list_elapses(const struct elapse *elapses, size_t n, struct finding *ret)
{
	static const int64_t usual_ns = 60 * NS_PER_S; /* systemd's default is not worth a word */
	char *list = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct elapse *e = &elapses[i];
		bool late = e->next_ns && e->late_ns > usual_ns;

		text_append(&ret->items, " ", "%s", e->unit);
		text_append(&list, ", ", "%s%s%s%s%s%s", e->unit, e->next_ns ? " at " : "",
			e->next_ns ? text_moment(e->next_ns) : "", late ? " or up to " : "",
			late ? text_duration(e->late_ns) : "", late ? " later" : "");
	}
	return list;
}

/* True where systemd could not be asked; the finding is made then. */
static bool no_units(const struct facts *f, struct finding *ret)
{
	if (f->has_units)
		return false;
	if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s", f->units_why ?: "systemd was not asked");
	else
		finding_set(ret, CHECK_ABSENT, "systemd does not run");
	return true;
}

DECIDER(check_daemons_timers)
{
	_cleanup_(freep) char *list = list_elapses(f->timers, f->n_timers, ret);

	if (list)
		finding_set(ret, CHECK_OFF, "%zu active: %s", f->n_timers, list);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "none%s", f->machine.container ? HOST : "");
}

DECIDER(check_daemons_unknown)
{
	_cleanup_(freep) char *list = NULL;

	if (no_units(f, ret))
		return;
	for (size_t i = 0; i < f->n_unlisted; i++) {
		const struct unlisted *s = &f->unlisted[i];

		text_append(&ret->items, " ", "%s", s->unit);
		text_append(&list, ", ", "%s (%s)", s->unit,
			s->cpu_ns < 0 ? "CPU time not known" : text_duration(s->cpu_ns));
	}
	finding_set(ret, list ? CHECK_UNKNOWN : CHECK_OK, "%s", list ?: "none");
}

DECIDER(check_daemons_due)
{
	_cleanup_(freep) char *list = list_elapses(f->due, f->n_due, ret);

	if (list)
		finding_set(ret, CHECK_OFF, "%s", list);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "none within %s", text_duration(f->within_ns));
}

DECIDER(check_daemons_inhibitors)
{
	if (f->inhibitors)
		finding_set(ret, CHECK_OFF, "%s", f->inhibitors);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "nobody holds off a shutdown");
}
