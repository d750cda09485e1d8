/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: see table.h. A new format is a row of `markups`, or a function that table_write()
 * calls. */
#include "lib/base/table.h"

#include "lib/base/latex.h"

#include <math.h>

/* Longer words may be broken; if that does not suffice, those of more than the second length, and
 * so on, but no shorter ones in a column that is not meant to be wrapped: names of processes. */
static const size_t long_words[] = {24, 16, 12, 8};
enum { LONG_NAME = 16 };

struct kept_cell {
	char *text;
	char *shown;   /* the text as a terminal may show it: mostly the same memory */
	json_t *value; /* NULL: the text */
	enum mark mark;
	bool code;
};

struct table {
	const struct column *columns;
	size_t n_columns;
	struct kept_cell *cells; /* row by row */
	size_t n_cells, n_rows;
};

struct table *table_new(const struct column *columns)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->columns = columns;
	while (columns[table->n_columns].name || columns[table->n_columns].member)
		table->n_columns++;
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_cells; i++) {
		if (table->cells[i].shown != table->cells[i].text)
			free(table->cells[i].shown);
		free(table->cells[i].text);
		json_decref(table->cells[i].value);
	}
	free(table->cells);
	free(table);
}

/* The text for people, and the value for programs (NULL: the text). */
static const char *cell_text(const struct cell *cell, json_t **ret_value)
{
	const char *text = cell->text;
	bool known = true;

	*ret_value = NULL;
	switch (cell->kind) {
	case CELL_NONE:
		break;
	case CELL_TEXT:
		known = text;
		break;
	case CELL_NUMBER:
		text = text_brief("%" PRId64, cell->number);
		*ret_value = json_integer(cell->number);
		break;

	case CELL_TIME:
		known = cell->number >= 0;
		if (known) {
			text = text_duration(cell->number);
			*ret_value = json_integer(cell->number);
		}
		break;
	case CELL_MOMENT:
		known = cell->number > 0;
		if (known) {
			text = text_moment(cell->number);
			*ret_value = json_integer(cell->number);
		}
		break;

	case CELL_REAL:
		known = isfinite(cell->real);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		text = text_brief(text, cell->real);
#pragma GCC diagnostic pop
		*ret_value = known ? json_real(cell->real) : NULL;
		break;
	case CELL_VALUE:
		*ret_value = cell->value ?: json_null();
		return text ?: "";
	}

	if (!known)
		*ret_value = json_null();
	return known ? text : "-";
}

/* Each row has a cell for each column. */
static void check_rows(const struct table *table)
{
	const struct column *first = table->columns;

	if (table->n_cells == table->n_rows * table->n_columns)
		return;
	fprintf(stderr, "the table '%s' has %zu cells in %zu rows of %zu columns\n",
		first->name ?: first->member, table->n_cells, table->n_rows, table->n_columns);
	abort();
}

void table_begin_row(struct table *table)
{
	check_rows(table);
	table->n_rows++;
}

void table_add_row(struct table *table, const struct column *columns, const struct cell *cells)
{
	table_begin_row(table);
	if (columns != table->columns)
		abort();
	table_add_cells(table, cells);
}

void table_add_cells(struct table *table, const struct cell *cells)
{
	for (; cells->kind != CELL_NONE; cells++) {
		struct kept_cell *kept = array_add(table->cells, table->n_cells);
		const char *text = cell_text(cells, &kept->value), *shown = terminal_text(text);

		kept->text = text_utf8(text);
		kept->shown = shown == text ? kept->text : xstrdup(shown);
		kept->mark = cells->mark;
		kept->code = cells->code;
	}
}

/* A column on the screen. */
struct screen_column {
	size_t at; /* among all columns */
	enum column_kind kind;
	size_t width;     /* at first what its widest text needs */
	size_t least;     /* to which it may be narrowed */
	const char *rest; /* of the cell that is being printed */
	size_t indent;    /* of the next line of that cell: that of the first */
};

/* Narrows the widest columns of a kind until `excess` is gone or all have their minimum width.
 * Returns the excess that remains. */
static size_t narrow_columns(
	struct screen_column *columns, size_t n, const enum column_kind *kind, size_t excess)
{
	while (excess > 0) {
		struct screen_column *widest = NULL;

		for (struct screen_column *c = columns; c < columns + n; c++)
			if ((!kind || c->kind == *kind) && c->width > c->least &&
				(!widest || c->width > widest->width))
				widest = c;
		if (!widest)
			break;
		widest->width--;
		excess--;
	}
	return excess;
}

/* Prints the next line of each cell of a row; no line ends with blanks. Returns whether there is
 * more. cells NULL: the headings. */
static bool put_screen_line(FILE *file, struct screen_column *columns, size_t n, size_t gap,
	const struct kept_cell *cells)
{
	size_t spaces = 0;
	bool more = false;

	for (struct screen_column *c = columns; c < columns + n; c++) {
		size_t fits = terminal_text_fit(c->rest, c->width - c->indent), bytes = fits;
		size_t indent = strspn(c->rest, " "), used, pad;
		enum mark mark = cells ? cells[c->at].mark : MARK_NONE;

		/* whole words, or a part of one that is too long */
		while (c->rest[fits] && bytes > 0 && c->rest[bytes] != ' ')
			bytes--;
		if (bytes <= indent)
			bytes = fits ?: strlen(c->rest);

		used = c->indent + terminal_bytes_width(c->rest, bytes);
		pad = used < c->width ? c->width - used : 0;
		spaces += (c == columns ? 0 : gap) + (c->kind == COLUMN_NUMBER ? pad : 0);
		if (bytes > 0) {
			fprintf(file, "%*s%s%.*s%s", (int)(spaces + c->indent), "",
				terminal_mark(file, mark), (int)bytes, c->rest,
				terminal_mark(file, mark ? MARK_END : MARK_NONE));
			spaces = 0;
		}
		if (c->kind != COLUMN_NUMBER)
			spaces += bytes > 0 ? pad : c->width;
		c->indent += indent;
		c->rest += bytes;
		c->rest += strspn(c->rest, " ");
		more |= *c->rest != '\0';
	}
	fputc('\n', file);
	return more;
}

/* How many columns the widest word of a text takes, with the blanks before the first word. A longer
 * word than `long_word` may be broken, and counts as that. */
static size_t widest_word(const char *text, size_t long_word)
{
	size_t widest = 0, indent = strspn(text, " ");

	while (*text) {
		size_t bytes = indent + strcspn(text + indent, " "),
		       columns = terminal_bytes_width(text, bytes);

		columns = columns < long_word ? columns : long_word;
		widest = columns > widest ? columns : widest;
		text += bytes + strspn(text + bytes, " ");
		indent = 0;
	}
	return widest;
}

static void widen(size_t *width, size_t to)
{
	*width = to > *width ? to : *width;
}

/* Sets the width that a column needs. */
static void measure_column(const struct table *table, struct screen_column *c)
{
	c->width = terminal_text_width(table->columns[c->at].name);
	for (size_t i = c->at; i < table->n_cells; i += table->n_columns)
		widen(&c->width, terminal_text_width(table->cells[i].shown));
}

/* Sets the least width of a column: a number stays whole, with its unit, and so does at first the
 * name of a column of text. Returns by how much the column may be narrowed. */
static size_t find_least(const struct table *table, struct screen_column *c, size_t long_word)
{
	bool first = long_word == long_words[0], number = c->kind == COLUMN_NUMBER;
	const char *name = table->columns[c->at].name;

	if (c->kind == COLUMN_TEXT && long_word < LONG_NAME)
		long_word = LONG_NAME;
	c->least = first && !number ? terminal_text_width(name) : widest_word(name, SIZE_MAX);
	for (size_t i = c->at; i < table->n_cells; i += table->n_columns) {
		const char *text = table->cells[i].shown;

		widen(&c->least, number ? terminal_text_width(text) : widest_word(text, long_word));
	}
	return c->width > c->least ? c->width - c->least : 0;
}

/* Leaves out columns in which nothing is known until `excess` is gone. Returns the excess that
 * remains. */
static size_t leave_out_empty(const struct table *table, struct screen_column *columns, size_t *n,
	size_t gap, size_t excess)
{
	for (size_t k = *n; excess > 0 && k-- > 1;) {
		size_t i = columns[k].at, freed = columns[k].width + gap;

		while (i < table->n_cells && !strcmp(table->cells[i].shown, "-"))
			i += table->n_columns;
		if (i < table->n_cells)
			continue;
		memmove(columns + k, columns + k + 1, (--*n - k) * sizeof(*columns));
		excess -= freed < excess ? freed : excess;
	}
	return excess;
}

static void put_columns(
	FILE *file, const struct table *table, struct screen_column *columns, size_t n, size_t gap)
{
	const struct kept_cell *row = NULL, *end = table->cells + table->n_cells;

	do {
		for (struct screen_column *c = columns; c < columns + n; c++) {
			c->rest = row ? row[c->at].shown : table->columns[c->at].name;
			c->indent = 0;
		}
		while (put_screen_line(file, columns, n, gap, row))
			;
		row = row ? row + table->n_columns : table->cells;
	} while (row < end);
}

/* The width of columns with a gap behind each. */
static size_t columns_width(const struct screen_column *columns, size_t n)
{
	size_t width = n;

	for (size_t i = 0; i < n; i++)
		width += columns[i].width;
	return width;
}

/* A table that is too wide continues below: each part has the columns that name a row, and as many
 * others as fit. */
static void put_parts(FILE *file, const struct table *table, struct screen_column *columns,
	size_t n, size_t width)
{
	_cleanup_(freep) struct screen_column *part = xcalloc(n, sizeof(*part));
	size_t keys = 0, to;

	/* up to the first number after a text: RUN, CLOCK, STEP */
	while (keys < n && (columns[keys].kind != COLUMN_NUMBER || keys == 0 ||
				   columns[keys - 1].kind == COLUMN_NUMBER))
		keys++;
	keys = keys < n ? keys : 1;
	memcpy(part, columns, keys * sizeof(*part));
	for (size_t i = 0; i < keys; i++)
		measure_column(table, &part[i]);
	if (columns_width(part, keys) > width / 2)
		memcpy(part, columns, keys * sizeof(*part)); /* narrowed */
	for (size_t from = keys; from < n; from = to) {
		size_t used = columns_width(part, keys) + columns[from].width;

		for (to = from + 1; to < n && used + 1 + columns[to].width <= width; to++)
			used += 1 + columns[to].width;
		memcpy(part + keys, columns + from, (to - from) * sizeof(*part));
		if (from > keys)
			fputc('\n', file);
		put_columns(file, table, part, keys + to - from, 1);
	}
}

static void write_screen(struct table *table, FILE *file)
{
	static const enum column_kind wrap = COLUMN_WRAP, text = COLUMN_TEXT;
	_cleanup_(freep) struct screen_column *columns = xcalloc(
		table->n_columns, sizeof(*columns));
	size_t n = 0, gap, total = 0, width = terminal_width(file);

	if (table->n_cells == 0)
		return;
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].name)
			columns[n++] = (struct screen_column){
				.at = i, .kind = table->columns[i].kind};
	for (struct screen_column *c = columns; c < columns + n; c++) {
		measure_column(table, c);
		total += c->width;
	}
	gap = total + 2 * (n - 1) <= width ? 2 : 1;
	total += gap * (n - 1);
	total = total > width ? total - width : 0;
	for (size_t i = 0; total > 0 && i < ELEMENTS(long_words); i++) {
		size_t more = 0;

		for (struct screen_column *c = columns; c < columns + n; c++)
			more += find_least(table, c, long_words[i]);
		if (i > 0 && more < total) /* broken words alone do not make it fit */
			continue;
		total = narrow_columns(columns, n, &wrap, total);
		total = narrow_columns(columns, n, &text, total);
		total = narrow_columns(columns, n, NULL, total);
		total = leave_out_empty(table, columns, &n, gap, total);
	}

	if (total > 0)
		put_parts(file, table, columns, n, width);
	else
		put_columns(file, table, columns, n, gap);
}

bool table_is_empty(const struct table *table)
{
	return table->n_rows == 0;
}

json_t *table_json(struct table *table)
{
	json_t *rows = json_array();

	check_rows(table);
	for (const struct kept_cell *row = table->cells; row < table->cells + table->n_cells;
		row += table->n_columns) {
		json_t *object = json_object();

		for (size_t i = 0; i < table->n_columns; i++)
			if (table->columns[i].member)
				json_object_set_new(object, table->columns[i].member,
					row[i].value ? json_incref(row[i].value)
						     : json_text(row[i].text));
		json_array_append_new(rows, object);
	}
	return rows;
}

/* Quoted if necessary. A spreadsheet takes some characters for the beginning of a formula: it
 * becomes text by an apostrophe before it. Numbers below zero stay numbers. */
static void csv_text(FILE *file, const char *text)
{
	const char *before = "";
	char *end;

	if (*text && strchr("=+-@\t\r", *text)) {
		strtod(text, &end);
		before = *end || end == text ? "'" : "";
	}
	if (!text[strcspn(text, ",\"\r\n")]) {
		fprintf(file, "%s%s", before, text);
		return;
	}
	fprintf(file, "\"%s", before);
	for (; *text; text++)
		*text == '"' ? fputs("\"\"", file) : fputc(*text, file);
	fputc('"', file);
}

/* A line around the headings of a table in a lightweight markup language. */
struct markup_frame {
	/* left, right: for a column of text, of numbers */
	const char *begin, *left, *right, *between, *end;
};

struct markup {
	struct markup_frame top, divider; /* before and after the headings */
	/* before the first cell, the second, others; after the last */
	const char *row, *second, *next, *end;
	const char *bottom;
	const char *bar; /* for |, which would end the cell */
	void (*code)(FILE *file, const char *text, const char *bar);
};

static void put_markup_text(FILE *file, const char *text, const char *bar)
{
	for (; *text; text++)
		*text == '|' ? fputs(bar, file) : fputc(*text, file);
}

/* Between more backquotes than are in it (CommonMark, code spans). */
static void markdown_code(FILE *file, const char *text, const char *bar)
{
	size_t most = 0;

	for (const char *at = strchr(text, '`'); at; at = strchr(at + strspn(at, "`"), '`'))
		most = strspn(at, "`") > most ? strspn(at, "`") : most;
	for (size_t i = 0; i <= most; i++)
		fputc('`', file);
	fputs(most > 0 ? " " : "", file);
	put_markup_text(file, text, bar);
	fputs(most > 0 ? " " : "", file);
	for (size_t i = 0; i <= most; i++)
		fputc('`', file);
}

/* Whether a character has a meaning there, even in `monospace`: alone, or twice, as a dash and an
 * ellipsis. */
static bool asciidoc_has_meaning(const char *text, const char *at)
{
	if (*at == '-' || *at == '.')
		return at[1] == *at || (at > text && at[-1] == *at);
	if (*at == ':')
		return at[1] == '/';
	return strchr("`{[<>&+*_#^~@", *at);
}

/* Characters that have a meaning in AsciiDoc are written as numbers (&#96;). */
static void asciidoc_code(FILE *file, const char *text, const char *bar)
{
	fputc('`', file);
	for (const char *at = text; *at; at++)
		if (*at == '|')
			fputs(bar, file);
		else if (asciidoc_has_meaning(text, at))
			fprintf(file, "&#%d;", *at);
		else
			fputc(*at, file);
	fputc('`', file);
}

/* Verbatim, or code if it has a = in it. Org replaces no name in these: a cell with a bar is text,
 * in which names stand for what would be markup. */
static void org_code(FILE *file, const char *text, const char *bar)
{
	static const char *const names[] = {['*'] = "ast",
		['/'] = "slash",
		['_'] = "under",
		['='] = "equal",
		['~'] = "tilde",
		['+'] = "plus",
		['^'] = "asciicirc",
		[':'] = "colon"};
	bool is_text = *bar != '|' && strchr(text, '|');
	char quote = strchr(text, '=') && !strchr(text, '~') ? '~' : '=';

	if (!is_text) {
		fprintf(file, "%c%s%c", quote, text, quote);
		return;
	}
	for (; *text; text++) {
		size_t c = (unsigned char)*text;

		if (*text == '|')
			fputs(bar, file);
		else if (c < ELEMENTS(names) && names[c])
			fprintf(file, "\\%s{}", names[c]);
		else
			fputc(*text, file);
	}
}

/* As hyperfine writes them. */
static const struct markup markups[] = {
	[TABLE_MARKDOWN] =
		{
			.divider = {"|", ":---", "---:", "|", "|\n"},
			.row = "| ",
			.second = " | ",
			.next = " | ",
			.end = " |\n",
			.bar = "\\|",
			.code = markdown_code,
		},
	[TABLE_ASCIIDOC] =
		{
			.top = {"[cols=\"", "<", ">", ",", "\"]\n|==="},
			.row = "\n| ",
			.second = " \n| ",
			.next = " \n| ",
			.end = " \n",
			.bottom = "|===\n",
			.bar = "\\|",
			.code = asciidoc_code,
		},
	[TABLE_ORG] =
		{
			.divider = {"|", "--", "--", "+", "|\n"},
			.row = "| ",
			.second = "  |  ",
			.next = " |  ",
			.end = " |\n",
			.bar = "\\vert{}",
			.code = org_code,
		},
};

static void put_markup_frame(
	const struct table *table, const struct markup_frame *frame, FILE *file)
{
	const char *between = frame->begin;

	if (!frame->begin)
		return;
	for (const struct column *c = table->columns; c < table->columns + table->n_columns; c++)
		if (c->name) {
			fprintf(file, "%s%s", between,
				c->kind == COLUMN_NUMBER ? frame->right : frame->left);
			between = frame->between;
		}
	fputs(frame->end, file);
}

/* row NULL: the headings. */
static void put_markup_row(
	const struct table *table, const struct markup *m, const struct kept_cell *row, FILE *file)
{
	const char *between = m->row;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (!table->columns[i].name)
			continue;
		fputs(between, file);
		between = between == m->row ? m->second : m->next;
		if (row && row[i].code)
			m->code(file, row[i].shown, m->bar);
		else
			put_markup_text(file, row ? row[i].shown : table->columns[i].name, m->bar);
	}
	fputs(m->end, file);
}

/* Nine decimals; of a number so small that these would cut it off, nine digits. */
static void put_csv_real(FILE *file, double value)
{
	fprintf(file, value != 0 && fabs(value) < 1e-3 ? "%.9g" : "%.9f", value);
}

static void put_csv_cell(FILE *file, const struct kept_cell *cell)
{
	if (json_is_real(cell->value))
		put_csv_real(file, json_real_value(cell->value));
	else if (json_is_integer(cell->value))
		fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(cell->value));
	else if (json_is_boolean(cell->value))
		fputc(json_is_true(cell->value) ? '1' : '0', file);
	else if (!json_is_null(cell->value))
		csv_text(file, cell->text);
}

static void write_csv(const struct table *table, FILE *file)
{
	const char *between = "";

	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].member) {
			fputs(between, file);
			csv_text(file, table->columns[i].member);
			between = ",";
		}
	for (size_t i = 0; i < table->n_cells; i++) {
		if (i % table->n_columns == 0)
			between = "\n";
		if (!table->columns[i % table->n_columns].member)
			continue;
		fputs(between, file);
		between = ",";
		put_csv_cell(file, &table->cells[i]);
	}
	fputc('\n', file);
}

static void write_markup(const struct table *table, const struct markup *m, FILE *file)
{
	put_markup_frame(table, &m->top, file);
	put_markup_row(table, m, NULL, file);
	put_markup_frame(table, &m->divider, file);
	for (size_t i = 0; i < table->n_cells; i += table->n_columns)
		put_markup_row(table, m, &table->cells[i], file);
	fputs(m->bottom ?: "", file);
}

/* The texts of a column, from its first row to the last. */
static const char **column_texts(const struct table *table, size_t column)
{
	const char **texts = xcalloc(table->n_rows + 1, sizeof(*texts));

	for (size_t i = 0; i < table->n_rows; i++)
		texts[i] = table->cells[i * table->n_columns + column].shown;
	return texts;
}

/* row NULL: the headings, with the units of columns of numbers. */
static void put_latex_row(const struct table *table, const struct latex_numbers *numbers,
	const struct kept_cell *row, FILE *file)
{
	const char *between = "";

	for (size_t i = 0; i < table->n_columns; i++) {
		if (!table->columns[i].name)
			continue;
		fputs(between, file);
		between = " & ";
		if (row && numbers[i].found) {
			latex_put_number(file, &numbers[i], row[i].shown);
			continue;
		}
		if (row) {
			latex_put_quantity(file, row[i].shown);
			continue;
		}
		fputc('{', file);
		latex_put_text(file, table->columns[i].name);
		if (numbers[i].found)
			latex_put_unit(file, &numbers[i]);
		fputc('}', file);
	}
	fputs(" \\\\\n", file);
}

void table_write_latex(struct table *table, const char *caption, FILE *file)
{
	_cleanup_(freep) struct latex_numbers *numbers = xcalloc(
		table->n_columns + 1, sizeof(*numbers));

	check_rows(table);
	if (caption) {
		fputs("% \\usepackage{booktabs, siunitx}\n\\begin{table}\n\\centering\n\\caption{",
			file);
		latex_put_text(file, terminal_text(caption));
		fputs("}\n", file);
	}
	fputs("\\begin{tabular}{", file);
	for (size_t i = 0; i < table->n_columns; i++) {
		_cleanup_(freep) const char **texts = column_texts(table, i);

		if (!table->columns[i].name)
			continue;
		if (table->columns[i].kind == COLUMN_NUMBER)
			numbers[i] = latex_numbers_of(texts, table->n_rows);
		if (numbers[i].found)
			latex_put_format(file, &numbers[i]);
		else
			fputc(table->columns[i].kind == COLUMN_NUMBER ? 'r' : 'l', file);
	}
	fputs("}\n\\toprule\n", file);
	put_latex_row(table, numbers, NULL, file);
	fputs("\\midrule\n", file);
	for (size_t i = 0; i < table->n_cells; i += table->n_columns)
		put_latex_row(table, numbers, &table->cells[i], file);
	fputs("\\bottomrule\n\\end{tabular}\n", file);
	fputs(caption ? "\\end{table}\n" : "", file);
}

void table_write(struct table *table, enum table_format format, FILE *file)
{
	check_rows(table);
	switch (format) {
	case TABLE_SCREEN:
		write_screen(table, file);
		break;
	case TABLE_JSON:
		json_print(table_json(table), file, NULL);
		break;
	case TABLE_CSV:
		write_csv(table, file);
		break;
	case TABLE_MARKDOWN:
	case TABLE_ASCIIDOC:
	case TABLE_ORG:
		write_markup(table, &markups[format], file);
		break;
	case TABLE_LATEX:
		table_write_latex(table, NULL, file);
	}
}

void table_write_code(enum table_format format, FILE *file, const char *text)
{
	fputc('\n', file);
	markups[format].code(file, terminal_text(text), "|"); /* no cell ends here */
	fputc('\n', file);
}
