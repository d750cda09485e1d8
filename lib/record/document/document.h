/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs and profiles as JSON documents, emp-run and emp-profile version 1, and between them and the
 * book. Unknown members are ignored. If a member is wrong, the message names it and its location, and
 * nothing is stored. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/book/book_counters.h"

/* Checks the whole document, then stores it as one transaction. */
int document_import_run(struct book *book, const json_t *document, int64_t *ret_run, struct error *err);
/* The disturbance counters of a sample, those that are known; NULL: no memory. */
json_t *document_make_counters(const struct counters *counters);
int document_export_run(struct book *book, int64_t run, json_t **ret, struct error *err);

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err);
int document_make_profile(const struct profile *profile, json_t **ret, struct error *err);
