/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page waits in the lab book: see book_page_waits.h. */
#include "lib/load/book_page_waits.h"

#include "lib/book/query.h"

/* The order of the kinds in the book, which has their names. */
#define BY_KIND "CASE kind WHEN 'slave' THEN 0 WHEN 'read' THEN 1 ELSE 2 END"

static int add(struct book *book, int64_t run, const struct page_waits *waits, struct error *err)
{
	int r = query_add_rows(book, run, &page_wait_table, waits->items, waits->n, err);

	return r < 0 ? r : query_add_rows(book, run, &page_wait_bin_table, waits->bins, waits->n_bins, err);
}

int book_add_page_waits(struct book *book, int64_t run, const struct page_waits *waits, struct error *err)
{
	return BOOK_ATOMIC(book, add(book, run, waits, err), err);
}

static int get(struct book *book, int64_t run, struct page_waits *ret, struct error *err)
{
	int r = query_all(book, &page_wait_table, "WHERE run = ? ORDER BY sample, " BY_KIND, run, &ret->items,
		&ret->n, err);

	return r < 0 ? r
		     : query_all(book, &page_wait_bin_table,
			       "WHERE run = ? ORDER BY sample, " BY_KIND ", low_ns", run, &ret->bins,
			       &ret->n_bins, err);
}

int book_page_waits(struct book *book, int64_t run, struct page_waits *ret, struct error *err)
{
	_cleanup_(page_waits_clear) struct page_waits waits = {};
	int r = BOOK_AT_ONCE(book, get(book, run, &waits, err), err);

	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(waits);
	return 0;
}
