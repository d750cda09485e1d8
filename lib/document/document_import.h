/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading documents from files, and storing the runs, profiles and environments in them, or what a
 * feature stores. */
#pragma once

#include "lib/base/base.h"

struct book;

/* A document to be read. */
struct document_stream;

/* "-" is standard input; see input.h. What is no regular file, or compressed, is first copied to a
 * file without a name in TMPDIR (otherwise /var/tmp). */
int document_stream_open(struct document_stream **ret, const char *path, struct error *err);
void document_stream_free(struct document_stream *s);
DEFINE_FREEP(document_stream)

/* Stores a run, with the other runs that it belongs with, its profile and its environment; or a
 * document of a feature. All as one transaction, or as a part of the caller's. *ret is the number
 * of the run, or what the feature gives it. */
int document_import(
	struct book *book, struct document_stream *document, int64_t *ret, struct error *err);

/* Whether the run that was imported names a profile that the document does not have. */
bool document_names_profile(const struct document_stream *document);
