/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The warnings and remarks on a run's result in the lab book, as they were when it was measured. */
#include "lib/book/query.h"

static int put_notes(struct book *book, int64_t run, const struct note *notes, size_t n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book, "DELETE FROM note WHERE run = ?", err);
	query_int(&q, run);
	r = query_run(&q, err);
	return r < 0 ? r : query_add_rows(book, run, &note_table, notes, n, err);
}

int book_put_notes(struct book *book, int64_t run, const struct note *notes, size_t n, struct error *err)
{
	book_unsynced(book);
	return BOOK_ATOMIC(book, put_notes(book, run, notes, n, err), err);
}

int book_notes(struct book *book, int64_t run, struct note **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &note_table, "WHERE run = ? ORDER BY n", run, ret, ret_n, err);
}
