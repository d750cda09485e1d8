/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a jitter run, as lib/jitter/jitter.h has it, for the book. */
#pragma once

#include "lib/jitter/merge.h"
#include "lib/jitter/book_jitter.h"

/* A CPU of the run. The caller sets those of the `facts` that the merge does not know. */
struct jitter_watched {
	struct jitter_cpu facts;
	const struct merge *merge;
};

/* Completes the facts from the merge. */
struct jitter_cpu jitter_facts(const struct jitter_watched *watched);

/* Stores all of it, replacing what the book has of the run. started_ns: the start of the run, since 1970. */
int jitter_store(struct book *book, int64_t run, int64_t started_ns, const struct jitter_watched *watched,
	size_t n, const struct jitter_sources *sources, struct error *err);
