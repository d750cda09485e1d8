/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run of the book with its tables, and with the remedy of each source. */
#pragma once

#include "lib/jitter/jitter_remedy.h"
#include "lib/jitter/jitter_table.h"
#include "lib/jitter/book_jitter.h"
#include "lib/document/document.h"

struct policy;

struct jitter_run {
	struct run run;
	struct jitter jitter;
	struct sources sources;
	struct jitter_cpu all;         /* CPUs together */
	struct jitter_table frequency; /* Table I: single sources */
	struct jitter_table time;      /* combinations are sources */
	struct policy *policy;         /* of this machine; NULL: none, or the run is from another */
	json_t *context;               /* document_context.h */
};

int jitter_run_load(struct book *book, int64_t run, struct jitter_run *ret, struct error *err);
void jitter_run_clear(struct jitter_run *run);

/* The name of what stopped its CPUs outside the kernel. */
const char *jitter_run_outside(const struct jitter_run *run);

/* By the policy of this machine, if the run is from it. */
struct remedy jitter_run_remedy(const struct jitter_run *run, const struct source *source);
