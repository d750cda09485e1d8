/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where and when something was measured: the "context" of documents, with the members of Google Benchmark's where it has them. */
#pragma once

#include "lib/base/json.h"
#include "lib/book/book.h"

/* The fingerprint of an environment of the book, which the caller frees. NULL: 0 is asked for, or it has none. */
int document_read_environment(struct book *book, int64_t environment, json_t **ret, struct error *err);

/* environment: 0: not known; when_ns: since 1970, 0: not known. What the fingerprint does not have is missing. */
int document_make_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t **ret, struct error *err);
