/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run at once, in the lab book: see book_programs.h. */
#include "lib/book/book_programs.h"

#include "lib/book/query.h"

int book_put_programs(
	struct book *book, int64_t run, const struct run_program *programs, size_t n, struct error *err)
{
	return BOOK_ATOMIC(book, query_add_rows(book, run, &run_program_table, programs, n, err), err);
}

int book_programs(struct book *book, int64_t run, struct run_program **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &run_program_table, "WHERE run = ? ORDER BY n", run, ret, ret_n, err);
}

int book_add_sample_programs(
	struct book *book, int64_t run, const struct sample_program *items, size_t n, struct error *err)
{
	return BOOK_ATOMIC(book, query_add_rows(book, run, &sample_program_table, items, n, err), err);
}

int book_sample_programs(
	struct book *book, int64_t run, struct sample_program **ret, size_t *ret_n, struct error *err)
{
	return query_all(
		book, &sample_program_table, "WHERE run = ? ORDER BY sample, program", run, ret, ret_n, err);
}

int book_put_load(struct book *book, int64_t run, const struct load_row *row, struct error *err)
{
	return BOOK_ATOMIC(book, query_add_rows(book, run, &load_table, row, 1, err), err);
}

int book_get_load(struct book *book, int64_t run, struct load_row *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_select(&q, book, &load_table, "WHERE run = ?", err);
	query_int(&q, run);
	return query_row(&q, &load_table, ret, err);
}

int book_add_load_sample(struct book *book, int64_t run, const struct load_sample *sample, struct error *err)
{
	return query_add_rows(book, run, &load_sample_table, sample, 1, err);
}

int book_load_samples(
	struct book *book, int64_t run, struct load_sample **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &load_sample_table, "WHERE run = ? ORDER BY sample", run, ret, ret_n, err);
}
