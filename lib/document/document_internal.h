/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of documents. */
#pragma once

#include "lib/document/document.h"

/* document_environment.c */

/* Adds the machine of an environment, its fingerprint, and what was measured of it. */
int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err);

/* document_export.c */
int document_not_made(struct error *err);

/* document.c: {"lag1": …, "samples": …}; missing: not known. */
void document_read_correlation(struct json_fields *f, struct correlation *ret);
void document_add_correlation(json_t *document, const struct correlation *correlation);

/* document_quick.c: samples as EMP writes them, read in a tenth of the time that json.h takes: a run may have ten million
 * executions. */
struct quick_sample {
	struct sample sample;
	int64_t counters[N_COUNTER_VALUES];
	bool has_counters;
};

/* An execution, whose texts are valid during the call; a value other than 0 ends the sample. */
typedef int quick_execution(const struct execution *execution, const struct source *source, void *data);

/* 1: it is read; 0: it is wrong, or unusual (texts with escapes, null, members of which EMP knows nothing): read it
 * with json.h, which says what is wrong. Otherwise what `each` returned. */
int document_quick_execution(const char *text, size_t size, quick_execution *each, void *data);
int document_quick_sample(
	const char *text, size_t size, struct quick_sample *ret, quick_execution *each, void *data);
