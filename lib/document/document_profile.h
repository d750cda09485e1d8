/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles as documents, emp-profile version 1. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/profile.h"
#include "lib/record/run.h"

struct book;

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err);
int document_make_profile(const struct profile *profile, json_t **ret, struct error *err);
/* Looks for an equal profile in the book. *ret: its id, of the current one first; *ret_current: the
 * id of the current profile of that name, equal or not. 0: there is none. */
int document_find_profile(struct book *book, const struct profile *profile, int64_t *ret,
	int64_t *ret_current, struct error *err);
/* Prints the document on standard output. */
int document_print_profile(const struct profile *profile, struct error *err);

/* Stores the profile that a run was measured with, which is a member of the document of the run. If
 * the book has another profile of that name, this one is kept for the run only. *ret: its id; 0:
 * the document does not have it. */
int document_put_profile_of_run(
	struct book *book, const json_t *run, int64_t *ret, struct error *err);
