/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How this machine's environment differs from the one that a profile was made in. */
#pragma once

#include "lib/protocol/environment_diff.h"
#include "lib/record/book/book.h"

/* Of two environments of the book (0: none). 1: *ret has what differs; 0: the book does not have both. */
int environment_differences(
	struct book *book, int64_t before, int64_t now, struct differences *ret, struct error *err);

/* What is different now from the environment with that digest, in words (at most `most` differences); the
 * caller frees it. NULL where nothing is, or where the book does not know that environment. */
int environment_changes(
	struct book *book, const char *digest, int64_t now_id, size_t most, char **ret, struct error *err);
