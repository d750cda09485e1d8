/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: one list of columns, rows that are filled from left to right, and a method for each format in which they are
 * shown.
 *
 *	static const struct column columns[] = {
 *		{"RUN", COLUMN_NUMBER, "run"}, {"ELAPSED TIME", COLUMN_NUMBER, "et_ns"}, {}};
 *
 *	table_row(table);
 *	table_cell_int(table, run->id);
 *	table_cell_duration(table, run->et_ns);
 *	…
 *	table_write(table, TABLE_SCREEN, stdout);
 *
 * A cell has a text for people (screen, Markdown, AsciiDoc, Org) and a value for programs (JSON, CSV). On the screen
 * columns are as wide as their content, and text is wrapped between words if a row would be wider than the terminal. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct table;

enum column_kind {
	COLUMN_TEXT,   /* wrapped only if wrapping COLUMN_WRAP does not suffice */
	COLUMN_NUMBER, /* aligned right, never wrapped */
	COLUMN_WRAP,   /* wrapped first */
};

struct column {
	const char *name; /* heading for people; NULL: for programs only */
	enum column_kind kind;
	const char *member; /* in JSON, and heading in CSV; NULL: for people only */
};

/* `columns` ends with {} and must outlive the table. */
struct table *table_new(const struct column *columns);
void table_free(struct table *table);

/* Begins a row, then fills its cells from left to right; missing cells are empty. What is not known is "-" for people
 * and null, in CSV nothing, for programs. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_cell_text(struct table *table, const char *text); /* NULL: not known */
void table_cell_code(struct table *table, const char *text); /* a command: no character has a meaning in it */
void table_cell_int(struct table *table, int64_t value);
void table_cell_duration(struct table *table, int64_t ns);                   /* below 0: not known */
void table_cell_moment(struct table *table, int64_t realtime_ns);            /* 0: not known */
void table_cell_real(struct table *table, const char *format, double value); /* NAN: not known */
/* Any other value, which is taken over; NULL: null. text NULL: for programs only. */
void table_cell_value(struct table *table, json_t *value, const char *text);

/* The colour of the last cell, on a terminal. */
void table_mark(struct table *table, enum mark mark);

enum table_format { TABLE_SCREEN, TABLE_JSON, TABLE_CSV, TABLE_MARKDOWN, TABLE_ASCIIDOC, TABLE_ORG };

/* A screen without rows is empty. CSV is RFC 4180; its real numbers have nine decimals. A failure to write stays in
 * ferror(file). */
void table_write(struct table *table, enum table_format format, FILE *file);
void table_print(struct table *table, FILE *file); /* on the screen */

/* The rows as an array of objects, for a member of a document; the caller owns it. */
json_t *table_json(struct table *table);

/* Under a table in Markdown, AsciiDoc or Org: a paragraph of code. */
void table_write_code(enum table_format format, FILE *file, const char *text);

DEFINE_FREEP(table)
