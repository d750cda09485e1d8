/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv1: services and timers: see check_rows.h.
 *
 * Where systemd does not run or does not answer, the names of processes are compared instead: that finds some
 * daemons, but finding none proves little. */
#include "setup/audit/check_rows.h"

#include "lib/base/text.h"

#include <string.h>

static const char HOST[] = "; the host's are not visible in a container";

/* A service that is "exited" did its work and has no process left. */
static bool disturbs(const struct facts *f, const struct unit *unit)
{
	bool runs = unit_is_up(unit) || !strcmp(unit->active, "deactivating");

	return !unit_is_kind(unit->name, ".timer") && runs && strcmp(unit->sub, "exited") != 0 &&
	       policy_stop(f->policy, unit->name);
}

static int find_units(const struct facts *f, struct finding *ret)
{
	int n = 0;

	for (size_t i = 0; i < f->units.n; i++)
		if (disturbs(f, &f->units.items[i])) {
			list_add(&ret->items, " ", f->units.items[i].name);
			n++;
		}
	return n;
}

static int find_processes(const struct facts *f, struct finding *ret)
{
	int n = 0;

	for (size_t i = 0; i < f->n_processes; i++) {
		_cleanup_(freep) char *unit = policy_unit_of_process(f->policy, f->processes[i].name);

		if (unit && !list_has(ret->items, ' ', unit)) {
			list_add(&ret->items, " ", unit);
			n++;
		}
	}
	return n;
}

static void check_without_units(const struct facts *f, struct finding *ret)
{
	int n = find_processes(f, ret);

	if (n > 0) {
		ret->how = "end these processes by hand (systemd does not run): %s";
		ret->undo = "start them again by hand";
		finding_set(ret, CHECK_OFF, "%d running: %s", n, ret->items);
	} else if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s; no known daemon among %zu processes",
			f->units_why ?: "systemd was not asked", f->n_processes);
	else if (f->machine.container)
		finding_set(ret, CHECK_ABSENT, "no known daemon among %zu process%s%s", f->n_processes,
			f->n_processes == 1 ? "" : "es", HOST);
	else
		finding_set(
			ret, CHECK_OK, "no known daemon among %zu processes (no systemd)", f->n_processes);
}

void check_daemons_services(const struct facts *f, struct finding *ret)
{
	const char *host = f->machine.container ? HOST : "";
	int n = f->has_units ? find_units(f, ret) : 0;

	if (!f->has_units)
		check_without_units(f, ret);
	else if (n > 0)
		finding_set(ret, CHECK_OFF, "%d running: %s%s", n, ret->items, host);
	else
		finding_set(ret, CHECK_OK, "none%s", host);
}

/* "a.timer at 2026-11-21 14:03:59, b.timer"; the caller frees it. The units become the finding's items. */
static char *list_elapses(const struct elapse *elapses, size_t n, struct finding *ret)
{
	char *list = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct elapse *e = &elapses[i];
		char moment[TEXT_TIME_SIZE];
		_cleanup_(freep) char *one = text_format("%s%s%s", e->unit, e->next_ns ? " at " : "",
			e->next_ns ? text_moment(moment, e->next_ns) : "");

		list_add(&ret->items, " ", e->unit);
		list_add(&list, ", ", one ?: e->unit);
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

void check_daemons_timers(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = list_elapses(f->timers, f->n_timers, ret);

	if (list)
		finding_set(ret, CHECK_OFF, "%zu active: %s", f->n_timers, list);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "none%s", f->machine.container ? HOST : "");
}

void check_daemons_unknown(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = NULL;

	if (no_units(f, ret))
		return;
	for (size_t i = 0; i < f->n_unlisted; i++) {
		const struct unlisted *s = &f->unlisted[i];
		char time[TEXT_TIME_SIZE];
		_cleanup_(freep) char *one = text_format("%s (%s)", s->unit,
			s->cpu_ns < 0 ? "CPU time not known" : text_duration(time, s->cpu_ns));

		list_add(&ret->items, " ", s->unit);
		list_add(&list, ", ", one ?: s->unit);
	}
	finding_set(ret, list ? CHECK_UNKNOWN : CHECK_OK, "%s", list ?: "none");
}

void check_daemons_due(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = list_elapses(f->due, f->n_due, ret);
	char window[TEXT_TIME_SIZE];

	if (list)
		finding_set(ret, CHECK_OFF, "%s", list);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "none within %s", text_duration(window, f->within_ns));
}
