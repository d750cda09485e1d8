/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How this machine's environment differs from the one that a profile was made in. */
#pragma once

#include "lib/record/book/book.h"

/* What is different now from the environment with that digest, in words (at most `most` differences); the
 * caller frees it. NULL where nothing is, or where the book does not know that environment. */
int environment_changes(
	struct book *book, const char *digest, int64_t now_id, size_t most, char **ret, struct error *err);
