/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs and profiles as JSON documents, emp-run and emp-profile version 1, and between them and the
 * book. Unknown members are ignored. If a member is wrong, the message names it and its location, and
 * nothing is stored. A run may be larger than memory. */
#pragma once

#include "lib/base/json_stream.h"
#include "lib/book/book_counters.h"

/* Stores a run, with the other runs of its duet, its profile and its environment; or a calibration of the clocks (emp-clocks). All as
 * one transaction, or as a part of the caller's. *ret is the number of the run, or of the calibration. */
int document_import(struct book *book, struct json_stream *document, int64_t *ret, struct error *err);

struct document_parts {
	bool no_profile, no_environment; /* are left out */
};

int document_export_run(
	struct book *book, int64_t run, const struct document_parts *parts, FILE *file, struct error *err);

/* A calibration of the clocks with its environment. */
int document_make_clocks(struct book *book, const struct clocks *clocks, json_t **ret, struct error *err);

/* The disturbance counters of a sample, those that are known; NULL: no memory. */
json_t *document_make_counters(const struct counters *counters);

int document_parse_profile(const json_t *document, struct profile *ret, struct error *err);
int document_make_profile(const struct profile *profile, json_t **ret, struct error *err);
