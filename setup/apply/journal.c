/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply has changed and what was there before: see journal.h. */
#include "setup/apply/journal.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "setup/audit/audit.h"

#include <fcntl.h>
#include <string.h>

void entry_clear(struct entry *e)
{
	free(e->id);
	free(e->name);
	free(e->old);
	free(e->want);
	free(e->held);
	*e = (struct entry){};
}

struct kernel_setting entry_setting(const struct entry *e)
{
	const struct check *check = check_rows_find(e->id);

	return (struct kernel_setting){
		AT_FDCWD, e->name, e->file_kind, check && !entry_is_kept(e) ? check->setting.write : NULL};
}

void journal_clear(struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		entry_clear(&j->entries[i]);
	free(j->entries);
	free(j->boot_id);
	*j = (struct journal){};
}

char *journal_boot_id(void)
{
	char *id = NULL;

	return text_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &id) < 0 ? NULL : id;
}

bool journal_is_stale(const struct journal *j)
{
	_cleanup_(freep) char *now = journal_boot_id();

	return now && j->boot_id && strcmp(now, j->boot_id) != 0;
}

void journal_compact(struct journal *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].name)
			j->entries[kept++] = j->entries[i];
	j->n = kept;
}

size_t journal_drop_stale(struct journal *j)
{
	size_t n = j->n;

	if (!journal_is_stale(j))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!j->entries[i].persistent)
			entry_clear(&j->entries[i]);
	journal_compact(j);
	free(j->boot_id);
	j->boot_id = journal_boot_id();
	return n - j->n;
}

bool journal_is_incomplete(const struct journal *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].kind == ENTRY_LOST)
			return true;
	return false;
}

struct entry *journal_find(const struct journal *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->entries[i].name && !strcmp(j->entries[i].name, name))
			return &j->entries[i];
	return NULL;
}

int journal_add(struct journal *j, struct entry *entry, struct error *err)
{
	struct entry *added = array_add(j->entries, j->n);

	if (!added) {
		entry_clear(entry);
		return error_oom(err);
	}
	*added = *entry;
	*entry = (struct entry){};
	return 0;
}

int journal_lock(struct lock *ret, struct error *err)
{
	return lock_take(ret, "/run/emp-setup", err);
}
