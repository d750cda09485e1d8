/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One SQL statement: parameters are bound from left to right, then it is stepped and its columns are read.
 *
 * A failure to begin, to bind or to read is kept, and query_step or query_done reports it: twelve columns need one check.
 * Text that is not UTF-8 (a process may choose any name) is stored with \xNN for the wrong bytes, so that all text of
 * the book can be written to JSON. */
#pragma once

#include "lib/book/book_internal.h"

struct query {
	struct book *book;
	sqlite3_stmt *stmt;
	int bound; /* parameters so far */
	int rc;    /* the first failure */
	int r;     /* why it could not be begun */
};

/* `sql` must be a literal: the statement is cached by its address. */
int query_begin(struct query *q, struct book *book, const char *sql, struct error *err);
void query_end(struct query *q);

/* The same for statements that are made of a table of fields (query_fields.c): "INSERT INTO table(keys, fields)
 * VALUES (…) tail", whose keys the caller binds first, and "SELECT fields FROM table tail". */
int query_insert(struct query *q, struct book *book, const struct field_table *table, const char *tail,
	struct error *err);
int query_select(struct query *q, struct book *book, const struct field_table *table, const char *tail,
	struct error *err);
void query_bind_fields(struct query *q, const struct field_table *table, const void *object);
/* 1 and the first column, a value of the table 'measurement', or -EBADMSG with a sentence. */
int query_measurement(struct query *q, double *ret, struct error *err);
/* The current row, into `object`. */
int query_read_fields(struct query *q, const struct field_table *table, void *object, struct error *err);
/* Steps to the next row and reads it. 1: done; 0: no more rows. */
int query_row(struct query *q, const struct field_table *table, void *object, struct error *err);
/* All rows that are left, into an array whose address is in *ret; fields_free() frees it. */
int query_rows(struct query *q, const struct field_table *table, void *ret, size_t *ret_n, struct error *err);
/* The same in one call, for a tail with at most one parameter. */
int query_all(struct book *book, const struct field_table *table, const char *tail, int64_t parameter,
	void *ret, size_t *ret_n, struct error *err);
/* Inserts n objects into a table whose key is the run. */
int query_add_rows(struct book *book, int64_t run, const struct field_table *table, const void *objects,
	size_t n, struct error *err);
/* Inserts an object into a table without keys; *ret_id is that of its row. */
int query_add(struct book *book, const struct field_table *table, const void *object, int64_t *ret_id,
	struct error *err);

/* For them: the SQL of a table and a tail; NULL: no memory. */
typedef char *query_sql(const struct field_table *table, const char *tail);
int query_begin_for(struct query *q, struct book *book, const struct field_table *table, const char *tail,
	query_sql *make, struct error *err);

void query_int(struct query *q, int64_t value);
void query_unless(struct query *q, int64_t value, int64_t unknown); /* NULL where value == unknown */
void query_text(struct query *q, const char *text);                 /* NULL is NULL */
void query_real(struct query *q, double value);

/* 1: a row is there; 0: no more. */
int query_step(struct query *q, struct error *err);
/* Steps to the end; then parameters can be bound again. */
int query_run(struct query *q, struct error *err);

int64_t query_column(struct query *q, int column);
char *query_column_text(struct query *q, int column); /* the caller frees it; NULL for NULL */
/* The number that `sql`, which has no parameters, selects. */
int query_value(struct book *book, const char *sql, int64_t *ret, struct error *err);
/* Whether all columns could be read. */
int query_done(struct query *q, struct error *err);
