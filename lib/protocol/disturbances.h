/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sentinels moved in a run, and in which of its samples, in words. */
#pragma once

#include "lib/record/book/book_counters.h"

struct disturbance {
	enum counter which;
	uint32_t *samples; /* in which it moved enough to be told */
	size_t n;
	int64_t total; /* in those; of the clock's rate: the greatest change */
};

struct disturbances {
	struct disturbance items[N_COUNTERS];
	size_t n;
	size_t n_samples;
	uint32_t unknown; /* sentinels that no sample knows, 1 << sentinel */
};

/* et_ns: a sample's usual length, for what is a matter of proportion. Context switches are counted and kept,
 * and not told: every program has some. */
int disturbances_find(struct disturbances *ret, const struct sample_counters *samples, size_t n,
	int64_t et_ns, struct error *err);
void disturbances_clear(struct disturbances *moves);

/* "the hypervisor took away more than 0.1 % of the time in 12 of 400 samples (3, 17, 18, …), 340.0 ms in
 * all"; the caller frees it. NULL: no memory. */
char *disturbance_description(const struct disturbances *moves, const struct disturbance *moved);

/* "heat (throttling), swapping"; the caller frees it. "" if all can be known. NULL: no memory. */
char *disturbances_unknown(const struct disturbances *moves);

/* Of a run in the book: its samples' sentinels, and their usual length. */
int disturbances_of_run(struct book *book, int64_t run, struct disturbances *ret, struct error *err);
