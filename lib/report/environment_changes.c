/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing environments: see environment_changes.h. */
#include "lib/report/environment_changes.h"

#include "lib/base/json.h"
#include "lib/protocol/environment_diff.h"
#include "lib/document/document.h"

#include <string.h>

int environment_differences(
	struct book *book, int64_t before_id, int64_t now_id, struct differences *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL;
	int r;

	r = document_read_environment(book, before_id, &before, err);
	if (r == 0)
		r = document_read_environment(book, now_id, &now, err);
	if (r < 0 || !before || !now)
		return r;
	*ret = environment_diff(before, now);
	return 1;
}

int profile_changes(struct book *book, const struct profile *profile, int64_t now, struct differences *ret,
	struct error *err)
{
	int64_t before = 0;
	int r = book_find_environment(book, profile->environment_digest, &before, err);

	return r <= 0 ? r : environment_differences(book, before, now, ret, err);
}

/* The book does not have the fingerprint that the profile was made under. */
static int note_unknown(
	struct notes *notes, struct book *book, const struct profile *profile, int64_t now, struct error *err)
{
	_cleanup_(freep) char *digest = NULL;
	int r = now ? book_get_environment(book, now, &digest, NULL, err) : 0;

	if (r < 0 || !digest || !profile->environment_digest || !strcmp(digest, profile->environment_digest))
		return r;
	return notes_add(notes, NOTE_PROFILE, err,
		"Warning: profile '%s' is from an environment that is not in the book; its cutoffs may not hold",
		profile->name);
}

int profile_changes_note(
	struct notes *notes, struct book *book, const struct profile *profile, int64_t now, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(freep) char *text = NULL;
	int r = profile_changes(book, profile, now, &differences, err);

	if (r == 0)
		return note_unknown(notes, book, profile, now, err);
	if (r < 0 || differences_validity(&differences) == VALIDITY_HOLDS)
		return r < 0 ? r : 0;
	differences_keep_demanding(&differences);
	text = differences_description(&differences, 3);
	return notes_add(notes, NOTE_PROFILE, err,
		"Warning: profile '%s' may not hold: %s ('emp-setup verify %s' says what to repeat)",
		profile->name, text, profile->name);
}
