/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentinels of each sample in the lab book, by the names that documents and sqlite3 users see. Apart from
 * struct sample, so that whoever walks samples need not carry them. */
#pragma once

#include "lib/host/system/counters.h"
#include "lib/record/book/book.h"

/* By enum sentinel: the column, and the member of a document. */
extern const char *const sentinel_names[N_SENTINELS];

struct sample_sentinels {
	uint32_t sample; /* its n */
	struct sentinels moved;
};

/* With the sample, in one transaction. */
int book_add_sentinels(
	struct book *book, int64_t run, uint32_t sample, const struct sentinels *moved, struct error *err);

/* In order of samples; those of a run that has none are none. The caller frees the array. */
int book_sentinels(
	struct book *book, int64_t run, struct sample_sentinels **ret, size_t *ret_n, struct error *err);
