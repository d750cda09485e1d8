/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One statement, bound, stepped and read: see query.h. */
#include "lib/record/book/query.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static int prepare(struct book *book, const char *sql, sqlite3_stmt **ret, struct error *err)
{
	int rc = sqlite3_prepare_v3(book->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

int query_begin(struct query *q, struct book *book, const char *sql, struct error *err)
{
	size_t i = 0;

	*q = (struct query){.book = book};
	while (i < book->n_statements && book->statements[i].sql != sql)
		i++;
	if (i == book->n_statements) {
		int r;

		assert(i < ELEMENTS(book->statements));
		r = prepare(book, sql, &book->statements[i].stmt, err);
		if (r < 0)
			return r;
		book->statements[i].sql = sql;
		book->n_statements++;
	}
	q->stmt = book->statements[i].stmt;
	assert(!sqlite3_stmt_busy(q->stmt));
	return 0;
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

/* How many bytes the UTF-8 character at `s` has, 0 if it is none (also: overlong, surrogate, too high). */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = *s < 0x80                 ? 1
		   : *s >= 0xc2 && *s < 0xe0 ? 2
		   : *s >= 0xe0 && *s < 0xf0 ? 3
		   : *s < 0xf5               ? 4
					     : 0;

	if (*s >= 0x80 && *s < 0xc2)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
		(*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static bool is_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (; *s; s += n) {
		n = utf8_length(s);
		if (n == 0)
			return false;
	}
	return true;
}

static char *made_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *made = malloc(strlen(text) * 4 + 1), *to = made;

	while (made && *s) {
		size_t n = utf8_length(s);

		if (n == 0)
			to += sprintf(to, "\\x%02x", *s);
		else
			to = mempcpy(to, s, n);
		s += n ?: 1;
	}
	if (made)
		*to = '\0';
	return made;
}

void query_text(struct query *q, const char *text)
{
	_cleanup_(freep) char *made = NULL;

	q->bound++;
	if (!text) {
		keep(q, sqlite3_bind_null(q->stmt, q->bound));
		return;
	}
	if (is_utf8(text)) {
		/* copied, because callers may let go of it before the step */
		keep(q, sqlite3_bind_text(q->stmt, q->bound, text, -1, SQLITE_TRANSIENT));
		return;
	}
	made = made_utf8(text);
	keep(q, made ? sqlite3_bind_text(q->stmt, q->bound, made, -1, SQLITE_TRANSIENT) : SQLITE_NOMEM);
}

int query_done(struct query *q, struct error *err)
{
	return q->rc == SQLITE_OK ? 0 : book_failed(q->book, q->rc, err);
}

int query_step(struct query *q, struct error *err)
{
	int rc;

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

int64_t query_column(struct query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

int64_t query_column_or(struct query *q, int column, int64_t unknown)
{
	return sqlite3_column_type(q->stmt, column) == SQLITE_NULL ? unknown : query_column(q, column);
}

char *query_column_text(struct query *q, int column)
{
	const char *text;
	char *copy;

	if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL)
		return NULL;
	text = (const char *)sqlite3_column_text(q->stmt, column);
	copy = text ? strdup(text) : NULL;
	if (!copy)
		keep(q, SQLITE_NOMEM);
	return copy;
}
