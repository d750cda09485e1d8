/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results in documents of hyperfine, pyperf and emp-measure, each as one side of a comparison. */
#pragma once

#include "analyze/compare_input.h"

/* One of its results. The texts are the document's. */
struct compare_result {
	const json_t *json;
	const char *name, *unit; /* unit NULL: seconds */
	/* its result in the other document, from 1, as compare_document_match found it; 0: none */
	size_t match;
};

struct compare_document {
	const json_t *document;
	const char *path; /* for messages */
	const struct format *format;
	struct compare_result *results;
	size_t n;
};

/* -EINVAL: it is of another program, or of a version that is not known. */
int compare_document_open(
	struct compare_document *ret, const json_t *document, const char *path, struct error *err);
void compare_document_close(struct compare_document *document);

/* `number` is that of the result, from 1; 0: there must be one result only, else -EINVAL, and the
 * sentence lists them. */
int compare_document_read(struct compare_input *ret, const struct compare_document *document,
	int64_t number, struct error *err);

/* Finds the results of the same name, of several the first with the first and so on. Returns their
 * number. */
size_t compare_document_match(struct compare_document *a, struct compare_document *b);
