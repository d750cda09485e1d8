/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources in the lab book: the programs and units whose executions the samples have. An execution
 * stores the id of its source. */
#pragma once

#include "lib/record/run.h"

struct book;

/* The id of a source, added if it is new; the id in `who` is ignored. Bytes of a name that are not
 * UTF-8 are stored as \xNN. */
int book_source(struct book *book, const struct source *who, uint32_t *ret, struct error *err);
/* The id of a source without adding it; 0: the book does not have it. */
uint32_t book_known_source(struct book *book, const struct source *who);
int book_sources(struct book *book, struct sources *ret, struct error *err);

/* For the modules of the book: forgets the ids that are kept in memory. */
void book_forget_sources(struct book *book);
