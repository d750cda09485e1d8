/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and columns for people, through libsmartcols: columns as wide as they must be, numbers to the
 * right, long text wrapped to the terminal. What programs read is JSON, and comes from json.h. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct table;

enum column_kind {
	COLUMN_TEXT,
	COLUMN_NUMBER, /* to the right */
	COLUMN_WRAP,   /* text that may be folded where the terminal is narrow */
};

struct column {
	const char *name;
	enum column_kind kind;
};

/* `columns` ends with {}. */
int table_new(struct table **ret, const struct column *columns, struct error *err);
void table_free(struct table *table);

/* Begins a row, then fills its cells from left to right. A failure is kept and told by table_print. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

int table_print(struct table *table, FILE *file, struct error *err);

DEFINE_FREEP(table)
