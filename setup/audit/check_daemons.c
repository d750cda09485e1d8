/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv1: non-critical services and timers, judged by the policy; see check.h.
 *
 * Where systemd does not run, or does not answer, processes are looked at instead: a daemon that is found
 * that way is found, but one that is not proves little. */
#include "setup/audit/check.h"

#include "lib/base/text.h"

#include <string.h>

static const char HOST[] = "; the host's daemons cannot be seen from a container";

/* "exited" is what a service is called that did its work and has no process left. */
static bool disturbs(const struct facts *f, const struct unit *unit)
{
	return !unit_is_kind(unit->name, ".timer") && unit_is_up(unit) && strcmp(unit->sub, "exited") != 0 &&
	       policy_stop(f->policy, unit->name);
}

static int find_units(const struct facts *f, struct finding *ret)
{
	int n = 0;

	for (size_t i = 0; i < f->units.n; i++)
		if (disturbs(f, &f->units.items[i])) {
			finding_add_item(ret, f->units.items[i].name);
			n++;
		}
	return n;
}

static bool lists(const char *items, const char *item)
{
	size_t len = strlen(item);

	for (const char *p = items; p && (p = strstr(p, item)); p += len)
		if ((p == items || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}

static int find_processes(const struct facts *f, struct finding *ret)
{
	int n = 0;

	for (size_t i = 0; i < f->n_processes; i++) {
		_cleanup_(freep) char *unit = policy_unit_of_process(f->policy, f->processes[i].name);

		if (unit && !lists(ret->items, unit)) {
			finding_add_item(ret, unit);
			n++;
		}
	}
	return n;
}

static void check_without_units(const struct facts *f, struct finding *ret)
{
	int n = find_processes(f, ret);

	ret->how = "end their processes; systemd is not there to stop %s";
	ret->undo = "start them again as they were started before";
	if (n > 0)
		finding_set(
			ret, CHECK_OFF, "processes of %d of the policy's services run: %s", n, ret->items);
	else if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s; no known daemon is among %zu processes",
			f->units_why ?: "systemd was not asked", f->n_processes);
	else if (f->machine.container)
		finding_set(ret, CHECK_ABSENT, "no known daemon among %zu process%s%s", f->n_processes,
			f->n_processes == 1 ? "" : "es", HOST);
	else
		finding_set(ret, CHECK_OK, "no known daemon among %zu processes (systemd does not run here)",
			f->n_processes);
}

void check_services(const struct facts *f, struct finding *ret)
{
	const char *host = f->machine.container ? HOST : "";
	int n;

	if (!f->has_units) {
		check_without_units(f, ret);
		return;
	}
	n = find_units(f, ret);
	if (n > 0)
		finding_set(ret, CHECK_OFF, "%d of the policy's run: %s%s", n, ret->items, host);
	else
		finding_set(ret, CHECK_OK, "none of the policy's runs%s", host);
}

static void describe_timers(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *text = strdup("");

	for (size_t i = 0; i < f->n_timers; i++) {
		const struct elapse *t = &f->timers[i];
		char moment[TEXT_TIME_SIZE], *longer;

		finding_add_item(ret, t->unit);
		longer = text_format("%s%s%s%s%s", text ?: "", i ? ", " : "", t->unit,
			t->next_ns ? " at " : "", t->next_ns ? text_moment(moment, t->next_ns) : "");
		free(text);
		text = longer;
	}
	finding_set(ret, CHECK_OFF, "%zu of the policy's wait: %s", f->n_timers, text ?: "");
}

void check_timers(const struct facts *f, struct finding *ret)
{
	if (f->n_timers > 0)
		describe_timers(f, ret);
	else if (f->has_units)
		finding_set(ret, CHECK_OK, "none of the policy's waits%s", f->machine.container ? HOST : "");
	else if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s", f->units_why ?: "systemd was not asked");
	else
		finding_set(ret, CHECK_ABSENT, "systemd does not run here, and with it no timer of its kind");
}
