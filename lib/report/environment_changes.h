/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between this machine's environment and that of a profile. */
#pragma once

#include "lib/protocol/environment_diff.h"
#include "lib/record/book/book.h"

/* Compares two environments of the book (0: none). 1: *ret has the differences; 0: the book does not have both. */
int environment_differences(
	struct book *book, int64_t before, int64_t now, struct differences *ret, struct error *err);

/* The differences from the environment with that digest as text (at most `most`); the caller frees it. NULL if there
 * are none, or if the book does not have that environment. */
int environment_changes(
	struct book *book, const char *digest, int64_t now_id, size_t most, char **ret, struct error *err);
