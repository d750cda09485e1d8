/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One statement, bound, stepped and read: see query.h. */
#include "lib/book/query.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <assert.h>
#include <errno.h>

static int prepare(struct book *book, const char *sql, sqlite3_stmt **ret, struct error *err)
{
	int rc = sqlite3_prepare_v3(book->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

static int find(struct query *q, struct book *book, const struct field_table *table, const char *sql,
	query_sql *make, struct error *err)
{
	size_t i = 0;

	while (i < book->n_statements &&
		(book->statements[i].sql != sql || book->statements[i].table != table))
		i++;
	if (i == book->n_statements) {
		_cleanup_(freep) char *made = make ? make(table, sql) : NULL;
		int r;

		assert(i < ELEMENTS(book->statements));
		if (make && !made)
			return error_oom(err);
		r = prepare(book, made ?: sql, &book->statements[i].stmt, err);
		if (r < 0)
			return r;
		book->statements[i].table = table;
		book->statements[i].sql = sql;
		book->n_statements++;
	}
	q->stmt = book->statements[i].stmt;
	assert(!sqlite3_stmt_busy(q->stmt));
	return 0;
}

/* After a failure there is no statement: what binds to it is SQLITE_MISUSE, and query_step reports the failure. */
int query_begin_for(struct query *q, struct book *book, const struct field_table *table, const char *sql,
	query_sql *make, struct error *err)
{
	*q = (struct query){.book = book};
	q->r = pending_store(book, err);
	if (q->r == 0)
		q->r = find(q, book, table, sql, make, err);
	return q->r;
}

int query_begin(struct query *q, struct book *book, const char *sql, struct error *err)
{
	return query_begin_for(q, book, NULL, sql, NULL, err);
}

void query_end(struct query *q)
{
	if (!q->stmt)
		return;
	sqlite3_reset(q->stmt);
	sqlite3_clear_bindings(q->stmt);
	q->stmt = NULL;
}

static void keep(struct query *q, int rc)
{
	if (q->rc == SQLITE_OK)
		q->rc = rc;
}

void query_int(struct query *q, int64_t value)
{
	keep(q, sqlite3_bind_int64(q->stmt, ++q->bound, value));
}

void query_unless(struct query *q, int64_t value, int64_t unknown)
{
	if (value == unknown)
		keep(q, sqlite3_bind_null(q->stmt, ++q->bound));
	else
		query_int(q, value);
}

void query_real(struct query *q, double value)
{
	keep(q, sqlite3_bind_double(q->stmt, ++q->bound, value));
}

void query_text(struct query *q, const char *text)
{
	char *utf8 = text_utf8(text);

	q->bound++;
	if (!text)
		keep(q, sqlite3_bind_null(q->stmt, q->bound));
	else
		keep(q, utf8 ? sqlite3_bind_text(q->stmt, q->bound, utf8, -1, free) : SQLITE_NOMEM);
}

int query_done(struct query *q, struct error *err)
{
	return q->rc == SQLITE_OK ? 0 : book_failed(q->book, q->rc, err);
}

int query_step(struct query *q, struct error *err)
{
	int rc;

	if (q->r < 0)
		return q->r;
	if (q->rc != SQLITE_OK)
		return query_done(q, err);
	rc = sqlite3_step(q->stmt);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return book_failed(q->book, rc, err);
}

int query_run(struct query *q, struct error *err)
{
	int r;

	do
		r = query_step(q, err);
	while (r > 0);
	sqlite3_reset(q->stmt);
	q->bound = 0;
	return r;
}

int query_value(struct book *book, const char *sql, int64_t *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book, sql, err);
	r = query_step(&q, err);
	if (r > 0)
		*ret = query_column(&q, 0);
	return r < 0 ? r : 0;
}

int64_t query_column(struct query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

char *query_column_text(struct query *q, int column)
{
	const char *text;
	char *copy;

	if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL)
		return NULL;
	text = (const char *)sqlite3_column_text(q->stmt, column);
	copy = text_utf8(text);
	if (!copy)
		keep(q, SQLITE_NOMEM);
	return copy;
}
