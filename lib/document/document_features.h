/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What features add to documents of runs, and the tables with rows of a run, of the core and of the
 * features. */
#pragma once

#include "lib/base/json.h"
#include "lib/book/book_runs.h"

/* What a feature adds to documents. */
struct document_feature {
	/* of its runs, in the order in which they can be stored; the last has no member. NULL:
	 * none */
	const struct run_rows *rows;
	/* The document of a run has, under this member, the other runs without which it cannot be
	 * understood: all of them, by their numbers. Without a member: there are none. */
	struct run_rows companions;
	/* Documents of its own, which are not runs; NULL: none. *ret: the number that the book
	 * gives it */
	const char *format;
	int (*import)(struct book *book, const json_t *document, int64_t *ret, struct error *err);
};

/* In lib/features.c; NULL ends them. */
extern const struct document_feature *const document_features[];

/* The numbers of the runs without which this run cannot be understood, and its own; none: there are
 * no such runs. The caller frees the array. */
int document_companions(
	struct book *book, int64_t run, int64_t **ret, size_t *ret_n, struct error *err);

/* The i-th of the tables with rows of a run, of the core and of the features; NULL: there are no
 * more. */
const struct run_rows *document_run_rows(size_t i);
