/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that the book has of a run besides the run itself, its samples and what belongs to one sample: rows of tables, for documents. */
#pragma once

#include "lib/book/book.h"

struct run_rows {
	const char *member; /* of a document */
	const struct field_table *table;
	const char *select, *insert; /* what follows the statements of query_select and query_insert */
	bool single;                 /* there is one row at most */
};

/* In the order in which they can be stored, as some refer to others; the last one has no member. A test sees that no table of the
 * book is forgotten. */
extern const struct run_rows book_run_rows[];

/* A value other than 0 from `each` ends it and is returned. */
int book_each_row(struct book *book, int64_t run, const struct run_rows *rows,
	int (*each)(const void *row, void *data), void *data, struct error *err);
int book_add_row(struct book *book, int64_t run, const struct run_rows *rows, const void *row, struct error *err);

/* Measurements of an environment: a name and a value each, such as the constant of INC. */
struct measurement {
	char *name;
	double value;
	char *unit; /* "": a bare number */
};
extern const struct field_table measurement_table;
int book_measurements(
	struct book *book, int64_t environment, struct measurement **ret, size_t *ret_n, struct error *err);
int book_put_measurement(
	struct book *book, int64_t environment, const struct measurement *measurement, struct error *err);
