/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits of several runs of a load together: sums, and rows of a histogram. */
#pragma once

#include "lib/base/tool.h"
#include "lib/load/book_load.h"
#include "lib/record/run.h"

struct page_wait_total {
	size_t n; /* samples in which this kind was measured */
	int64_t count, total_ns, lost;
	int64_t ready_ns;           /* -1: not known */
	struct page_wait_bin *bins; /* as they were recorded, by length; .sample is 0 */
	size_t n_bins;
};

/* Of one kind, in samples[n] that count. page_wait_total_clear() frees it. */
struct page_wait_total page_wait_total_of(const struct page_waits *waits, enum page_wait_kind kind,
	const struct sample *samples, size_t n);
void page_wait_total_clear(struct page_wait_total *total);

enum { PAGE_WAIT_ROWS = 7 }; /* that a histogram has at most */

/* The smallest width of 1, 2 or 5 in a decade, from 10 us on, with which all rows except the last,
 * which is open-ended, hold at least nine waits in ten. */
int64_t page_wait_width(const struct page_wait_total *total);

/* Rows of this width, from 0 on; the last one holds all that is longer. Returns how many are
 * needed. */
size_t page_wait_rows(const struct page_wait_total *total, int64_t width_ns,
	struct page_wait_bin ret[PAGE_WAIT_ROWS]);

/* How long `kind` made sample n wait; NULL: it was not measured. */
const struct page_wait *page_wait_find(
	const struct page_waits *waits, enum page_wait_kind kind, uint32_t n);

/* The width of the rows, as an option: the edges of the rows on the screen must be edges of bins
 * that are recorded. */
option_parser page_wait_width_parse;
