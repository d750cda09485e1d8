/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units that apply had planned to stop or start, and was killed before it came to them: see
 * reached.h. */
#include "setup/apply/reached.h"

const char *const units_needs[] = {"Requires", "Requisite", "BindsTo", "Wants", "Upholds", NULL};
/* Whether systemd stops it along with one of these: its own properties name those that it depends
 * on. What others need or stop is asked of them: systemd may have unloaded them, and forgotten whom
 * they need, until they are asked. */
static bool is_stopped_along(
	const struct journal *j, const bool *stopped, struct units *units, const char *name)
{
	static const char *const depends[] = {"Requires", "Requisite", "BindsTo", "PartOf", NULL},
				 *const takes[] = {"PropagatesStopTo", NULL};
	_cleanup_(argv_freep) char **with = NULL;
	const bool when_unneeded = units_flag(units, name, "Unit.StopWhenUnneeded", false);

	if (units_related(units, name, depends, &with, NULL) < 0)
		return true; /* systemd does not tell */
	for (size_t i = 0; i < j->n; i++) {
		_cleanup_(argv_freep) char **taken = NULL, **needs = NULL;
		const char *other = j->entries[i].name;

		if (!stopped[i])
			continue;
		if (names_have(with, other) ||
			(units_related(units, other, takes, &taken, NULL) == 0 &&
				names_have(taken, name)) ||
			(when_unneeded &&
				units_related(units, other, units_needs, &needs, NULL) == 0 &&
				names_have(needs, name)))
			return true;
	}
	return false;
}

void journal_find_unreached(struct journal *j, struct units *units)
{
	_cleanup_(freep) bool *stopped = xcalloc(j->n + 1, sizeof(*stopped)),
			      *theirs = xcalloc(j->n + 1, sizeof(*theirs));
	bool more = true;

	for (size_t i = 0; i < j->n; i++) {
		const struct entry *e = &j->entries[i];
		const bool unit = e->kind == ENTRY_UNIT, start = unit && !strcmp(e->want, "active");

		stopped[i] = unit && !start && entry_is_reached(e);
		theirs[i] = unit && !entry_is_reached(e) && strcmp(e->old, e->want) != 0 &&
			    units_state(units, e->name) == start;
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < j->n; i++) {
			struct entry *e = &j->entries[i];

			if (!theirs[i] || !strcmp(e->want, "active") ||
				!is_stopped_along(j, stopped, units, e->name))
				continue;
			theirs[i] = false;
			stopped[i] = more = true;
		}
	}
	for (size_t i = 0; i < j->n; i++)
		j->entries[i].changed_externally |= theirs[i];
}
