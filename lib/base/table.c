/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of text: see table.h. */
#include "lib/base/table.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* A longer word may be broken. */
enum { LONG_WORD = 24 };

struct cell {
	char *text;
	enum mark mark;
};

struct table {
	const struct column *columns;
	size_t n_columns;
	struct cell *cells; /* row by row */
	size_t n_cells;
	bool failed; /* no memory */
};

int table_new(struct table **ret, const struct column *columns, struct error *err)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->columns = columns;
	while (columns[table->n_columns].name)
		table->n_columns++;
	*ret = table;
	return 0;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table);
}

void table_row(struct table *table)
{
	while (!table->failed && table->n_cells % table->n_columns)
		table_cell_text(table, "");
}

void table_cell_text(struct table *table, const char *text)
{
	char *copy = text ? xstrdup(terminal_text(text)) : NULL;
	struct cell *cell = copy ? array_add(table->cells, table->n_cells) : NULL;

	if (!cell) {
		free(copy);
		table->failed = true;
		return;
	}
	cell->text = copy;
}

void table_cell(struct table *table, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	if (r < 0)
		text = NULL;
	table_cell_text(table, text);
}

void table_cell_duration(struct table *table, int64_t ns)
{
	char text[TEXT_TIME_SIZE];

	table_cell_text(table, ns < 0 ? "-" : text_duration(text, ns));
}

void table_mark(struct table *table, enum mark mark)
{
	if (table->n_cells > 0)
		table->cells[table->n_cells - 1].mark = mark;
}

/* The widest word of `text`, as far as it is kept whole. */
static size_t word_width(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t bytes = strcspn(text, " "), width = terminal_bytes_width(text, bytes);

		widest = width > widest ? width : widest;
		text += bytes + strspn(text + bytes, " ");
	}
	return widest < LONG_WORD ? widest : LONG_WORD;
}

/* The preferred and the minimum width of a column. */
static void measure(const struct table *table, size_t column, size_t *ret_width, size_t *ret_least)
{
	*ret_width = *ret_least = terminal_text_width(table->columns[column].name);
	for (size_t i = column; i < table->n_cells; i += table->n_columns) {
		size_t width = terminal_text_width(table->cells[i].text);
		size_t least = word_width(table->cells[i].text);

		*ret_width = width > *ret_width ? width : *ret_width;
		*ret_least = least > *ret_least ? least : *ret_least;
	}
}

struct layout {
	size_t *widths, *least; /* of each column */
	size_t gap;             /* spaces between two */
};

static void layout_clear(struct layout *layout)
{
	free(layout->widths);
	free(layout->least);
}

/* Narrows the widest columns of that kind until `excess` is gone or all have their minimum width. Returns the
 * excess that remains. */
static size_t narrow(const struct table *table, enum column_kind kind, struct layout *layout, size_t excess)
{
	while (excess > 0) {
		size_t widest = SIZE_MAX;

		for (size_t c = 0; c < table->n_columns; c++)
			if (table->columns[c].kind == kind && layout->widths[c] > layout->least[c] &&
				(widest == SIZE_MAX || layout->widths[c] > layout->widths[widest]))
				widest = c;
		if (widest == SIZE_MAX)
			break;
		layout->widths[widest]--;
		excess--;
	}
	return excess;
}

static int fit(const struct table *table, struct layout *layout, size_t width)
{
	size_t total = 0, excess;

	layout->widths = xcalloc(table->n_columns, sizeof(size_t));
	layout->least = xcalloc(table->n_columns, sizeof(size_t));
	for (size_t c = 0; c < table->n_columns; c++) {
		measure(table, c, &layout->widths[c], &layout->least[c]);
		total += layout->widths[c];
	}
	layout->gap = total + 2 * (table->n_columns - 1) <= width ? 2 : 1;
	total += layout->gap * (table->n_columns - 1);
	excess = narrow(table, COLUMN_WRAP, layout, total > width ? total - width : 0);
	narrow(table, COLUMN_TEXT, layout, excess);
	return 0;
}

/* How many bytes of `text` go into one line of a cell: whole words, or a part of one that is too long. */
static size_t line_bytes(const char *text, size_t width)
{
	size_t fits = terminal_text_fit(text, width), space = fits;

	if (!text[fits] || text[fits] == ' ')
		return fits;
	while (space > 0 && text[space] != ' ')
		space--;
	return space ?: fits ?: strlen(text);
}

/* The output, and the spaces to print before the next text: no line ends with blanks. */
struct out {
	FILE *file;
	size_t spaces;
};

static void put(struct out *out, const char *text, size_t bytes, enum mark mark)
{
	if (bytes == 0)
		return;
	fprintf(out->file, "%*s%s%.*s%s", (int)out->spaces, "", terminal_mark(out->file, mark), (int)bytes,
		text, terminal_mark(out->file, mark ? MARK_END : MARK_NONE));
	out->spaces = 0;
}

/* One line of a cell: `*text` moves on to the next. */
static void put_line(struct out *out, enum column_kind kind, const char **text, size_t width, enum mark mark)
{
	size_t bytes = line_bytes(*text, width);
	size_t used = terminal_bytes_width(*text, bytes), pad = used < width ? width - used : 0;

	out->spaces += kind == COLUMN_NUMBER ? pad : 0;
	put(out, *text, bytes, mark);
	out->spaces += kind == COLUMN_NUMBER ? 0 : pad;
	*text += bytes;
	*text += strspn(*text, " ");
}

/* `texts` has a row's cells; each line printed advances them. cells NULL: the header. */
static void put_row(const struct table *table, const char **texts, const struct cell *cells,
	const struct layout *layout, FILE *file)
{
	bool more = true;

	while (more) {
		struct out out = {.file = file};

		more = false;
		for (size_t c = 0; c < table->n_columns; c++) {
			out.spaces += c ? layout->gap : 0;
			put_line(&out, table->columns[c].kind, &texts[c], layout->widths[c],
				cells ? cells[c].mark : MARK_NONE);
			more |= *texts[c] != '\0';
		}
		fputc('\n', file);
	}
}

int table_print(struct table *table, FILE *file, struct error *err)
{
	_cleanup_(layout_clear) struct layout layout = {};
	_cleanup_(freep) const char **texts = xcalloc(table->n_columns, sizeof(*texts));

	table_row(table);
	if (table->failed || !texts || fit(table, &layout, terminal_width(file)) < 0)
		return error_oom(err);
	if (table->n_cells == 0)
		return 0;
	for (size_t c = 0; c < table->n_columns; c++)
		texts[c] = table->columns[c].name;
	put_row(table, texts, NULL, &layout, file);
	for (size_t i = 0; i < table->n_cells; i += table->n_columns) {
		for (size_t c = 0; c < table->n_columns; c++)
			texts[c] = table->cells[i + c].text;
		put_row(table, texts, &table->cells[i], &layout, file);
	}
	return 0;
}
