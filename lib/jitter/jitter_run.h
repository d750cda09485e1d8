/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run of the book with its tables, and its baseline. */
#pragma once

#include "lib/jitter/jitter_change.h"

#include <jansson.h>

struct policy;

struct jitter_run {
	struct run run;
	struct jitter jitter;
	struct sources sources;
	struct jitter_cpu all;         /* CPUs together */
	struct jitter_table frequency; /* Table I: single sources */
	struct jitter_table time;      /* combinations are sources */
	struct policy *policy;         /* of this machine; NULL: none, or the run is from another */
	json_t *context;               /* document.h */
};

/* `run` is {}; it is cleared also after a failure. */
int jitter_run_load(struct book *book, int64_t id, struct jitter_run *run, struct error *err);
void jitter_run_clear(struct jitter_run *run);

/* A run and its baseline, with what differs. */
struct jitter_pair {
	const struct jitter_run *run, *baseline; /* baseline NULL: none */
	struct jitter_changes changes;
};
