/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page waits of the runs of a load, in the lab book. */
#pragma once

#include "lib/book/book.h"
#include "lib/load/page_waits.h"

/* After book_add_sample(), in the same transaction. */
int book_add_page_waits(struct book *book, int64_t run, const struct page_waits *waits, struct error *err);
/* Of all samples, by sample, kind and length; page_waits_clear() frees them. None: they were not watched. */
int book_page_waits(struct book *book, int64_t run, struct page_waits *ret, struct error *err);
