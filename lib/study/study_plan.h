/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan of a study: how many samples of each program in how many rounds, so that it ends in time,
 * and its blocks in random order. Pure. */
#pragma once

#include "lib/study/study_file.h"

struct study_plan {
	int rounds;
	uint32_t *samples;   /* of each subject under each step, in all rounds */
	int64_t expected_ns; /* how long all of it takes, without the subjects that follow */
	size_t n_unknown;    /* subjects of which it is not known how long they take */
	bool shortened;      /* fewer samples than the file says */
};

/* limit_ns 0: as the file says. -E2BIG with a sentence: even the least takes longer. */
int study_plan_make(
	struct study_plan *ret, const struct study_file *file, int64_t limit_ns, struct error *err);
void study_plan_clear(struct study_plan *plan);

/* The blocks, by position: in each round, the combinations of steps are in a random order, and the
 * programs in each of them. fields_free(&study_block_table, …). */
struct study_block *study_plan_blocks(
	const struct study_plan *plan, const struct study_file *file, uint64_t seed, size_t *ret_n);

/* How long a block takes, of a program that takes so long: with its warm-up, and the start of
 * emp-measure. */
int64_t study_block_expected(int64_t one_ns, uint32_t samples);
