/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentinels of each sample in the lab book, by the names that documents and sqlite3 users see. Apart from
 * struct sample, so that whoever walks samples need not carry them. */
#pragma once

#include "lib/host/system/counters.h"
#include "lib/record/book/book.h"

/* By enum counter: the column, and the member of a document. */
extern const char *const counter_names[N_COUNTERS];

struct sample_counters {
	uint32_t sample; /* its n */
	struct counters moved;
};

/* With the sample, in one transaction. */
int book_add_counters(
	struct book *book, int64_t run, uint32_t sample, const struct counters *moved, struct error *err);

/* In order of samples; those of a run that has none are none. The caller frees the array. */
int book_counters(
	struct book *book, int64_t run, struct sample_counters **ret, size_t *ret_n, struct error *err);
