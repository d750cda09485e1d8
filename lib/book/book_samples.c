/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and executions in the lab book: one transaction for each sample. */
#include "lib/book/query.h"

#include <errno.h>
#include <inttypes.h>

static int add_sample_row(struct book *book, int64_t run, const struct sample *sample, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_insert(&q, book, &sample_table, "", err);
	query_int(&q, run);
	query_bind_fields(&q, &sample_table, sample);
	r = query_run(&q, err);
	switch (r < 0 ? sqlite3_extended_errcode(book->db) : SQLITE_OK) {
	case SQLITE_CONSTRAINT_PRIMARYKEY:
		return error_say(err, -EEXIST,
			"run %" PRId64 " in the lab book '%s' has a sample %" PRIu32 " already", run,
			book->path, sample->n);
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		return error_say(err, -ENOENT,
			"run %" PRId64 " is not in the lab book '%s' any more, so sample %" PRIu32
			" cannot be stored",
			run, book->path, sample->n);
	}
	return r;
}

int book_add_executions(struct book *book, int64_t run, uint32_t sample, size_t before,
	const struct execution *executions, size_t n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_insert(&q, book, &execution_table, "", err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		query_int(&q, run);
		query_int(&q, sample);
		query_int(&q, (int64_t)(before + i) + 1);
		query_bind_fields(&q, &execution_table, &executions[i]);
		r = query_run(&q, err);
	}
	return r;
}

static int add_sample(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n, struct error *err)
{
	int r = add_sample_row(book, run, sample, err);

	return r < 0 ? r : book_add_executions(book, run, sample->n, 0, executions, n, err);
}

int book_add_sample(struct book *book, int64_t run, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	return BOOK_ATOMIC(book, add_sample(book, run, sample, executions, n_executions, err), err);
}

int book_samples(struct book *book, int64_t run, struct sample **ret, size_t *ret_n, struct error *err)
{
	return query_all(book, &sample_table, "WHERE run = ? ORDER BY n", run, ret, ret_n, err);
}
