/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a run in the book under the rules of discarding, from one walk over its executions. */
#pragma once

#include "lib/protocol/discard.h"
#include "lib/protocol/disturbances.h"
#include "lib/book/book.h"

struct run_result {
	struct discarding discarding;
	struct sample *samples; /* all, in order */
	size_t n_samples;
	struct sample_counters *counters; /* of each sample */
	size_t n_counters;
	struct disturbances disturbances;
};

/* rules->patterns NULL: those of names_load. */
int run_result_read(struct book *book, int64_t run, const struct discard_rules *rules, struct run_result *ret,
	struct error *err);
void run_result_clear(struct run_result *result);

/* Without counters; without a profile also without others. */
int discard_run(struct book *book, int64_t run, const struct discard_rules *rules, struct discarding *ret,
	struct error *err);

/* The clean samples of a run in progress; each call reads only those taken since the last. */
struct clean_samples {
	struct discarder *discarder;
	struct names names;
	struct sources daemons;
};

/* book: for the names of new daemons. */
int clean_samples_add(struct clean_samples *clean, struct book *book, const struct discard_rules *rules,
	const struct sample *sample, const struct execution *executions, size_t n, struct error *err);
int clean_samples_count(struct clean_samples *clean, size_t *ret, struct error *err);
void clean_samples_clear(struct clean_samples *clean);
