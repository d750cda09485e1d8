/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See changed.h. */
#include "setup/apply/changed.h"

#include "setup/apply/limits.h"
#include "setup/audit/checks.h"
#include "setup/options.h"

/* Whether two names are of different policies of cpufreq: "…/policy0/…", "…/policy1/…". */
static bool are_of_two_policies(const char *name, const char *other)
{
	const char *policy = strstr(other, "/policy");
	size_t len;

	if (!policy || !strstr(name, "/policy"))
		return false;
	len = (size_t)(policy - other) + 1 + strcspn(policy + 1, "/");
	return strncmp(other, name, len) != 0 || name[len] != '/';
}

bool entry_is_coupled(const struct entry *e, const struct entry *with)
{
	const struct check *check = check_rows_find(with->id);

	if (!check || entry_is_kept(with) || are_of_two_policies(e->name, with->name))
		return false;
	if (entry_is_kept(e))
		return !strcmp(e->id, with->id);
	return check->setting.coupled_check && !strcmp(check->setting.coupled_check, e->id);
}

bool entry_is_left(const struct entry *e)
{
	return entry_is_untouched(e) && !options.force;
}

/* Whether the kernel may have changed `e` along with another entry: one that has its old value
 * again, as a restore that was interrupted leaves it, or, where we were killed before we set `e`,
 * one that we have set. */
static bool may_have_changed_with(const struct entry *e, const struct entry *other)
{
	if (other->kind != ENTRY_FILE || !entry_is_coupled(e, other) || !other->now ||
		!strcmp(other->want, other->old))
		return false;
	if (!strcmp(other->now, other->back ?: other->old))
		return true;
	return !e->held && entry_is_reached(other) && !strcmp(other->now, other->want);
}

/* Whether a file has neither its old value nor the one that we set or found, and the kernel has not
 * changed it along with another one. */
static bool is_changed_externally(const struct journal *j, struct entry *e)
{
	const char *back = e->back ?: e->old, *last = entry_last(e);

	if (!e->now || !last || entry_is_left(e))
		return false;
	if (!strcmp(e->now, back) || !strcmp(e->now, last) ||
		(entry_is_reached(e) && !strcmp(e->now, e->want)) ||
		limits_are_half_restored(e, back))
		return false;
	if (e->file_kind == SETTING_LIMITS && !options.dry_run)
		return entry_has_others_limit(e, back);
	for (size_t i = 0; i < j->n; i++)
		if (may_have_changed_with(e, &j->entries[i]))
			return false;
	return true;
}

/* Whether a file belongs to a governor that somebody else has changed. */
static bool belongs_to_changed(const struct journal *j, const struct entry *e)
{
	if (!entry_is_kept(e) || e->file_kind == SETTING_LIMITS || !strstr(e->name, "/policy"))
		return false;
	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].changed_externally && entry_is_coupled(e, &j->entries[i]))
			return true;
	return false;
}

void journal_find_changed(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->entries[i].now);
		j->entries[i].now = entry_read(&j->entries[i], NULL); /* NULL for units */
	}
	for (size_t i = 0; i < j->n; i++)
		j->entries[i].changed_externally = is_changed_externally(j, &j->entries[i]);
	for (size_t i = 0; i < j->n; i++) /* it is left alone with its governor */
		j->entries[i].changed_externally |= belongs_to_changed(j, &j->entries[i]);
}
