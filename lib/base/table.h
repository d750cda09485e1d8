/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of text: columns as wide as their content, numbers aligned right, and text wrapped between words if a
 * row would be wider than the terminal (80 columns elsewhere). lib/base/listing.h prints the same rows as
 * JSON. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/base/terminal.h"

#include <stdint.h>
#include <stdio.h>

struct table;

enum column_kind {
	COLUMN_TEXT,   /* wrapped only if wrapping COLUMN_WRAP does not suffice */
	COLUMN_NUMBER, /* aligned right, never wrapped */
	COLUMN_WRAP,   /* wrapped first */
};

struct column {
	const char *name;
	enum column_kind kind;
};

/* `columns` ends with {} and must outlive the table. */
int table_new(struct table **ret, const struct column *columns, struct error *err);
void table_free(struct table *table);

/* Begins a row, then fills its cells from left to right; missing cells are empty. table_print returns a failure
 * of these. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_cell_text(struct table *table, const char *text);
void table_cell_duration(struct table *table, int64_t ns); /* "-" below 0 */

/* The colour of the last cell, on a terminal. */
void table_mark(struct table *table, enum mark mark);

int table_print(struct table *table, FILE *file, struct error *err);

DEFINE_FREEP(table)
