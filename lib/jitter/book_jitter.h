/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a jitter run leaves, in the lab book. Names of sources are those of book_source() and book_sources(). */
#pragma once

#include "lib/document/document.h"
#include "lib/jitter/jitter.h"

extern const struct document_feature jitter_feature;

/* All of the run so far, in place of what was stored for it before, in one transaction. `combinations` are added; a
 * combination that is stored already keeps its parts. */
int book_put_jitter(struct book *book, int64_t run, const struct jitter *jitter, struct error *err);
/* -ENOENT, with a sentence, if the run has none; jitter_clear() frees it. */
int book_get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err);
