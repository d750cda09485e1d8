/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run at once, in the lab book: see book_programs.h. */
#include "lib/record/book/book_programs.h"

#include "lib/record/book/query.h"

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
