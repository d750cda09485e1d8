/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: one list of columns, rows that are filled from left to right, and a method for each
 * format in which they are shown.
 *
 * static const struct column columns[] = {
 * 	{"RUN", COLUMN_NUMBER, "run"}, {"ELAPSED TIME", COLUMN_NUMBER, "et_ns"}, {}};
 *
 * 	table_row(table, columns, NUMBER(run->id), TIME(run->et_ns));
 * 	table_write(table, TABLE_SCREEN, stdout);
 *
 * A cell has a text for people (screen, Markdown, AsciiDoc, Org, LaTeX) and a value for programs (JSON,
 * CSV). On the screen columns are as wide as their content, and text is wrapped between words if a
 * row would be wider than the terminal; where that does not suffice, the table continues below. */
#pragma once

#include "lib/base/json.h"
#include "lib/base/terminal.h"

struct table;

enum column_kind {
	COLUMN_TEXT,   /* wrapped only if wrapping COLUMN_WRAP does not suffice */
	COLUMN_NUMBER, /* aligned right, and never wrapped */
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

/* A cell, written as one of the macros below. What is not known is "-" for people and null, in CSV
 * nothing, for programs. */
enum cell_kind { CELL_NONE, CELL_TEXT, CELL_NUMBER, CELL_TIME, CELL_MOMENT, CELL_REAL, CELL_VALUE };
struct cell {
	enum cell_kind kind;
	const char *text; /* of CELL_REAL: the format */
	union {
		int64_t number;
		double real;
		json_t *value;
	};
	enum mark mark; /* its colour on a terminal */
	bool code;      /* a command: all characters are literal */
};

/* Not known are: NULL as a text, a time below 0, 0 as a moment, NAN. TEXT and VALUE take other
 * members after these, such as .mark = MARK_BAD. */
#define TEXT(text_, ...) ((struct cell){CELL_TEXT, .text = (text_), ##__VA_ARGS__})
#define CODE(text_) TEXT(text_, .code = true)
#define NUMBER(number_) ((struct cell){CELL_NUMBER, .number = (int64_t)(number_)})
#define TIME(ns) ((struct cell){CELL_TIME, .number = (ns)})
#define MOMENT(realtime_ns) ((struct cell){CELL_MOMENT, .number = (realtime_ns)})
#define REAL(format, real_) ((struct cell){CELL_REAL, .text = (format), .real = (real_)})
/* Any other value, which is taken over; NULL: null. text NULL: for programs only. */
#define VALUE(json, text_, ...) \
	((struct cell){CELL_VALUE, .value = (json), .text = (text_), ##__VA_ARGS__})

/* Adds a row, with a cell for each of the columns: the array that was given to table_new(). A row
 * with a cell too few or too many does not compile. */
#define table_row(table, columns, ...)                                                 \
	({                                                                             \
		_Static_assert(sizeof((const struct cell[]){__VA_ARGS__}) ==           \
				       (ELEMENTS(columns) - 1) * sizeof(struct cell),  \
			"a row must have a cell for each column");                     \
		table_add_row(table, columns, (const struct cell[]){__VA_ARGS__, {}}); \
	})
void table_add_row(struct table *table, const struct column *columns, const struct cell *cells);

/* Adds a row to a table whose columns are chosen at run time: table_begin_row(), and then its
 * cells, with one table_add() or several. A row with a cell too few or too many aborts the program
 * when the next row begins or the table is written. */
void table_begin_row(struct table *table);
#define table_add(table, ...) table_add_cells(table, (const struct cell[]){__VA_ARGS__, {}})
void table_add_cells(struct table *table, const struct cell *cells);

enum table_format {
	TABLE_SCREEN,
	TABLE_JSON,
	TABLE_CSV,
	TABLE_MARKDOWN,
	TABLE_ASCIIDOC,
	TABLE_ORG,
	TABLE_LATEX,
};

/* A screen without rows is empty. CSV is RFC 4180; its real numbers have nine decimals. A failure
 * to write stays in ferror(file). */
void table_write(struct table *table, enum table_format format, FILE *file);
static inline void table_print(struct table *table, FILE *file)
{
	table_write(table, TABLE_SCREEN, file);
}

bool table_is_empty(const struct table *table);

/* The rows as an array of objects, for a member of a document; the caller owns it. */
json_t *table_json(struct table *table);

/* TABLE_LATEX: a float with this caption, ruled by booktabs; columns whose cells are numbers with
 * units are those of siunitx. NULL: the tabular alone. */
void table_write_latex(struct table *table, const char *caption, FILE *file);

/* Under a table in Markdown, AsciiDoc or Org: a paragraph of code. */
void table_write_code(enum table_format format, FILE *file, const char *text);

DEFINE_FREEP(table)
