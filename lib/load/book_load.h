/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads in the lab book: the load of a run, and what it measured in each sample. */
#pragma once

#include "lib/document/document.h"
#include "lib/load/load.h"
#include "lib/load/page_waits.h"

extern const struct document_feature load_feature;

/* Once a run, before its samples. */
int book_put_load(struct book *book, int64_t run, const struct load_row *row, struct error *err);
/* 1: found, load_row_clear() frees it; 0: the run is no load, or was imported. */
int book_get_load(struct book *book, int64_t run, struct load_row *ret, struct error *err);
/* After book_add_sample(), in the same transaction. */
int book_add_load_sample(struct book *book, int64_t run, const struct load_sample *sample, struct error *err);
/* In the order of samples; the caller frees the array. */
int book_load_samples(
	struct book *book, int64_t run, struct load_sample **ret, size_t *ret_n, struct error *err);

/* After book_add_sample(), in the same transaction. */
int book_add_page_waits(struct book *book, int64_t run, const struct page_waits *waits, struct error *err);
/* Of all samples, by sample, kind and length; page_waits_clear() frees them. None: they were not watched. */
int book_page_waits(struct book *book, int64_t run, struct page_waits *ret, struct error *err);
