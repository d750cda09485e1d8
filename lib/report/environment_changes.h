/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between this machine's environment and that of a profile. */
#pragma once

#include "lib/protocol/environment_diff.h"
#include "lib/book/book.h"
#include "lib/report/notes.h"

/* Compares two environments of the book (0: none). 1: *ret has the differences; 0: the book does not have both. */
int environment_differences(
	struct book *book, int64_t before, int64_t now, struct differences *ret, struct error *err);

/* What has changed since a profile was made, in an environment of the book. 1: *ret has the differences, and
 * differences_validity() says whether the profile holds; 0: the book does not have both environments. */
int profile_changes(struct book *book, const struct profile *profile, int64_t now, struct differences *ret,
	struct error *err);

/* Adds a note if the profile may not hold in that environment. */
int profile_changes_note(struct notes *notes, struct book *book, const struct profile *profile, int64_t now,
	struct error *err);
