/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cutoff profiles in the lab book. One that was replaced or removed is retired: it is kept for the
 * runs that were measured with it, and found only by its id. */
#pragma once

#include "lib/record/profile.h"
#include "lib/record/run.h"

struct book;

/* Replaces a profile of the same name only if `replace`, else -EEXIST. */
int book_put_profile(
	struct book *book, const struct profile *profile, bool replace, struct error *err);
/* By its id, which struct run has; id 0: by its name. -ENOENT */
int book_get_profile(
	struct book *book, int64_t id, const char *name, struct profile *ret, struct error *err);
/* All profiles, by name; if a name is given, all that have or had it, the present one first. The
 * caller clears each and frees the array. */
int book_profiles(struct book *book, const char *name, struct profile **ret, size_t *ret_n,
	struct error *err);
int book_remove_profile(struct book *book, const char *name, struct error *err);

/* For book_runs.c: removes the retired profiles that no run needs any more. */
int book_prune_profiles(struct book *book, struct error *err);
