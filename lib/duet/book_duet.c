/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See book_duet.h. */
#include "lib/duet/book_duet.h"

#include "lib/base/array.h"
#include "lib/book/query.h"

static int add(
	struct book *book, const struct field_table *table, int64_t run, const void *row, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_insert(&q, book, table, "", err);
	query_int(&q, run);
	query_bind_fields(&q, table, row);
	return query_run(&q, err);
}

int book_add_duet(struct book *book, int64_t run, const struct duet_row *row, struct error *err)
{
	return BOOK_ATOMIC(book, add(book, &duet_table, run, row, err), err);
}

int book_add_duet_sample(struct book *book, int64_t run, const struct duet_sample *row, struct error *err)
{
	return add(book, &duet_sample_table, run, row, err);
}

int book_add_duet_alone(struct book *book, int64_t run, const struct duet_alone *row, struct error *err)
{
	return BOOK_ATOMIC(book, add(book, &duet_alone_table, run, row, err), err);
}

int book_get_duet(struct book *book, int64_t run, struct duet_row *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_select(&q, book, &duet_table, "WHERE run = ?", err);
	query_int(&q, run);
	return query_row(&q, &duet_table, ret, err);
}

int book_duet_samples(
	struct book *book, int64_t run, struct duet_sample **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &duet_sample_table, "WHERE run = ? ORDER BY sample", run, ret, ret_n, err);
}

int book_duet_alone(struct book *book, int64_t run, struct duet_alone **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &duet_alone_table, "WHERE run = ? ORDER BY n", run, ret, ret_n, err);
}

int book_duet_runs(struct book *book, int64_t reference, int64_t **ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(freep) int64_t *runs = NULL;
	size_t n = 0;
	int r;

	query_begin(&q, book, "SELECT run FROM duet WHERE reference = ? ORDER BY run", err);
	query_int(&q, reference);
	while ((r = query_step(&q, err)) > 0) {
		int64_t *run = array_add(runs, n);

		*run = query_column(&q, 0);
	}
	r = r < 0 ? r : query_done(&q, err);
	if (r < 0)
		return r;
	*ret = TAKE(runs);
	*ret_n = n;
	return 0;
}
