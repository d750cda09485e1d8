/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQL for those who keep something in the book: a question or a change in one call, and the SQL of
 * tables of fields.
 *
 * Formats name the parameters from left to right, then, after a colon, the columns:
 *   i  int64_t             u  int64_t, 0 is NULL     t  const char *, NULL is NULL     d  double
 *   I  int64_t *           D  double *, NAN for NULL                                   T  char **, which the caller frees
 * An argument for i or u must be of 64 bits: (int64_t)n. A pointer for a column may be NULL: it is
 * not read.
 *
 * Text that is not UTF-8 (a process may choose any name) is stored with \xNN for the wrong bytes,
 * so that all text of the book can be written to JSON. Statements are literals: they are cached by
 * their addresses. */
#pragma once

#include "lib/book/book.h"

#include <sqlite3.h>

/* Runs a statement and reads its first row. 1: there is one; 0: none. A change that says RETURNING
 * has a row, too.
 *
 * r = sql_row(book, err, "SELECT digest, document FROM environment WHERE id = ?", "i:TT", id,
 * &digest, &document); */
int sql_row(struct book *book, struct error *err, const char *sql, const char *format, ...);
/* "INSERT INTO table(keys, fields) VALUES (…) tail" for each of n objects; `format` is that of the
 * keys, which may have an n: int64_t, a number that is counted up for each object. */
int sql_insert(struct book *book, struct error *err, const struct field_table *table,
	const char *tail, const void *objects, size_t n, const char *format, ...);
/* "SELECT fields FROM table tail": the first row, into `ret`. 1: there is one; 0: none. */
int sql_one(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, const char *format, ...);
/* All rows, into an array whose address is in *ret; fields_free() frees it. */
int sql_all(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, size_t *ret_n, const char *format, ...);

/* The same row by row. A failure to begin or to bind is kept, and sql_read reports it. */
struct sql_query {
	struct book *book;
	sqlite3_stmt *stmt;
	int bound;  /* parameters so far */
	size_t row; /* of those that are inserted */
	int rc;     /* the first failure to bind one */
	int r;      /* why it could not be begun */
};

void sql_select(struct sql_query *q, struct book *book, struct error *err,
	const struct field_table *table, const char *tail, const char *format, ...);
/* Reads the next row into `object`. 1: there was one; 0: no more. The texts of a row that is
 * refused are freed. */
int sql_read(struct sql_query *q, const struct field_table *table, void *object, struct error *err);
void sql_end(struct sql_query *q);

/* Several of these in one transaction, unless one is open already: what `call` returns, or a
 * failure to begin or to commit. */
#define BOOK_ATOMIC(book, call, err) BOOK_WITHIN(true, book, call, err)
/* The same for those that must see one state of the file, and only read. */
#define BOOK_AT_ONCE(book, call, err) BOOK_WITHIN(false, book, call, err)
#define BOOK_WITHIN(writes, book, call, err)                       \
	({                                                         \
		bool _own;                                         \
		int _r;                                            \
                                                                   \
		do {                                               \
			_r = book_enter(book, writes, &_own, err); \
			if (_r >= 0)                               \
				_r = (call);                       \
			if (_own)                                  \
				_r = book_end(book, _r, err);      \
		} while (_own && book_again(book, _r, err));       \
		_r;                                                \
	})

/* Begins a transaction unless one is open already. *ret_own: book_end() is to end it, also after a
 * failure here. */
int book_enter(struct book *book, bool writes, bool *ret_own, struct error *err);
