/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SQL for those who keep something in the book: a question or a change in one call, and the SQL of
 * tables of fields.
 *
 * A format names the parameters of a statement from left to right, and then, after a colon, the
 * columns that are read:
 *   i  int64_t, which must be of 64 bits: (int64_t)n       I  int64_t *
 *   u  the same; 0 is stored as NULL
 *   d  double                                              D  double *, NAN for NULL
 *   t  const char *; NULL is stored as NULL                T  char **, which the caller frees
 * A column whose pointer is NULL is not read.
 *
 * Text that is not UTF-8 (a process may choose any name) is stored with \xNN for the wrong bytes,
 * so that all text of the book can be written to JSON. A statement is prepared once in each
 * connection, and found again by its text (book_statements.h). */
#pragma once

#include "lib/book/book_transaction.h"
#include "lib/record/fields.h"

#include <sqlite3.h>

/* Runs a statement and reads its first row. 1: there is one; 0: none. A change that says RETURNING
 * has a row, too.
 *
 * r = sql_row(book, err, "SELECT digest, document FROM environment WHERE id = ?", "i:TT", id,
 * &digest, &document); */
int sql_row(struct book *book, struct error *err, const char *sql, const char *format, ...);

/* "INSERT INTO table(keys, fields) VALUES (…) tail" for each of n objects. `format` is that of the
 * keys, and may have an n besides: an int64_t, to which the index of the object is added. */
int sql_insert(struct book *book, struct error *err, const struct field_table *table,
	const char *tail, const void *objects, size_t n, const char *format, ...);

/* "SELECT fields FROM table tail": the first row, into `ret`. 1: there is one; 0: none. */
int sql_one(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, const char *format, ...);
/* All rows, into an array whose address is in *ret; fields_free() frees it. */
int sql_all(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, size_t *ret_n, const char *format, ...);

/* All rows, one by one. sql_read() also reports a failure to begin or to bind. */
struct sql_query {
	struct book *book;
	sqlite3_stmt *stmt;
	int bound;  /* how many parameters have a value */
	size_t row; /* the index of the object that is inserted */
	int rc;     /* of the first parameter that could not be bound */
	int r;      /* negative: why the statement could not be prepared */
};

void sql_select(struct sql_query *q, struct book *book, struct error *err,
	const struct field_table *table, const char *tail, const char *format, ...);
/* Reads the next row into `object`. 1: there was one; 0: no more. The texts of a row that is
 * refused are freed. */
int sql_read(struct sql_query *q, const struct field_table *table, void *object, struct error *err);
void sql_end(struct sql_query *q);
