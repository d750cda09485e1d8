/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See changed.h. */
#include "setup/apply/changed.h"

#include "setup/apply/limits.h"
#include "setup/audit/checks.h"
#include "setup/options.h"

bool entry_is_coupled(const struct entry *e, const struct entry *with)
{
	const struct check *check = check_rows_find(with->id);
	const char *policy = strstr(with->name, "/policy");
	size_t len = policy ? (size_t)(policy - with->name) + 1 + strcspn(policy + 1, "/") : 0;

	if (!check || entry_is_kept(with) ||
		(policy && strstr(e->name, "/policy") &&
			(strncmp(with->name, e->name, len) != 0 || e->name[len] != '/')))
		return false;
	return entry_is_kept(e) ? !strcmp(e->id, with->id)
				: check->setting.coupled_check &&
					  !strcmp(check->setting.coupled_check, e->id);
}

bool entry_is_left(const struct entry *e)
{
	return entry_is_untouched(e) && !options.force;
}

/* Whether a file has neither its old value nor the one that we set or found. It is not somebody
 * else's if the kernel changes it along with another one that has its old value again, as a restore
 * that was interrupted leaves it, or, where we were killed before we set it, that we have set. */
static bool is_changed_externally(const struct journal *j, struct entry *e)
{
	const char *back = e->back ?: e->old, *last = entry_last(e);

	if (entry_is_left(e) || !e->now || !strcmp(e->now, back) || !last ||
		!strcmp(e->now, last) || (entry_is_reached(e) && !strcmp(e->now, e->want)) ||
		limits_are_half_restored(e, back))
		return false;
	if (e->file_kind == SETTING_LIMITS && !options.dry_run)
		return entry_has_others_limit(e, back);
	for (size_t i = 0; i < j->n; i++) {
		const struct entry *other = &j->entries[i];

		if (other->kind == ENTRY_FILE && entry_is_coupled(e, other) && other->now &&
			strcmp(other->want, other->old) != 0 &&
			(!strcmp(other->now, other->back ?: other->old) ||
				(!e->held && entry_is_reached(other) &&
					!strcmp(other->now, other->want))))
			return false;
	}
	return true;
}

void journal_find_changed(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->entries[i].now);
		j->entries[i].now = entry_read(&j->entries[i], NULL); /* NULL for units */
	}
	for (size_t i = 0; i < j->n; i++)
		j->entries[i].changed_externally = is_changed_externally(j, &j->entries[i]);
	for (size_t i = 0; i < j->n; i++) /* what belongs to a governor is left alone with it */
		for (size_t k = 0; k < j->n; k++)
			if (entry_is_kept(&j->entries[i]) &&
				j->entries[i].file_kind != SETTING_LIMITS &&
				strstr(j->entries[i].name, "/policy") &&
				j->entries[k].changed_externally &&
				entry_is_coupled(&j->entries[i], &j->entries[k]))
				j->entries[i].changed_externally = true;
}
