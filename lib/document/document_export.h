/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the book as a document, emp-run version 1, written while it is read: a run may be larger
 * than memory. */
#pragma once

#include "lib/base/base.h"

struct book;

/* What is left out. */
struct document_parts {
	bool no_profile, no_environment;
};

int document_export_run(struct book *book, int64_t run, const struct document_parts *parts,
	FILE *file, struct error *err);

/* -EBADMSG: the book has text that no document can have. */
int document_not_made(struct error *err);
