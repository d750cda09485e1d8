/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The owners of entries, as text with commas between them: see owners.h. */
#include "setup/apply/owners.h"

#include "lib/host/process/process.h"
#include "setup/options.h"

static const char PLAIN[] = "apply";

char *owner_new(void)
{
	return xstrdup(options.run_for ? process_ref(getpid()) : PLAIN);
}

/* Journals of older versions know no owners. */
static const char *owners_of(const struct entry *e)
{
	return e->owners ?: PLAIN;
}

/* The next one, which the caller frees; NULL after the last. */
static char *owner_next(const char **rest)
{
	size_t len = strcspn(*rest, ",");
	char *owner = len > 0 ? xstrndup(*rest, len) : NULL;

	*rest += len + ((*rest)[len] == ',');
	return owner;
}

bool entry_has_owner(const struct entry *e, const char *owner)
{
	const char *rest = owners_of(e);

	for (;;) {
		_cleanup_(freep) char *one = owner_next(&rest);

		if (!one || !strcmp(one, owner))
			return one;
	}
}

bool entry_is_applied(const struct entry *e)
{
	return entry_has_owner(e, PLAIN);
}

pid_t entry_needed_by(const struct entry *e)
{
	const char *rest = owners_of(e);

	for (;;) {
		_cleanup_(freep) char *one = owner_next(&rest);
		pid_t pid = process_ref_pid(one);

		if (!one || pid > 0)
			return pid;
	}
}

bool entry_is_abandoned(const struct entry *e)
{
	return *owners_of(e) && !entry_is_applied(e) && entry_needed_by(e) == 0;
}

void entry_remove_owner(struct entry *e, const char *owner)
{
	const char *rest = owners_of(e);
	char *left = NULL;

	for (;;) {
		_cleanup_(freep) char *one = owner_next(&rest);

		if (!one)
			break;
		if (strcmp(one, owner) != 0 && (!strcmp(one, PLAIN) || process_ref_pid(one) > 0))
			text_append(&left, ",", "%s", one);
	}
	free(e->owners);
	e->owners = left ?: xstrdup("");
}

void entry_add_owner(struct entry *e, const char *owner)
{
	entry_remove_owner(e, owner);
	text_append(&e->owners, *e->owners ? "," : "", "%s", owner);
}

void entry_add_owners(struct entry *e, const struct entry *of)
{
	const char *rest = owners_of(of);

	for (;;) {
		_cleanup_(freep) char *one = owner_next(&rest);

		if (!one)
			break;
		entry_add_owner(e, one);
	}
}
