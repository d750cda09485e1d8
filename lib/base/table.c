/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows and columns for people: see table.h. The only file that includes libsmartcols. */
#include "lib/base/table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdarg.h>

struct table {
	struct libscols_table *cols;
	struct libscols_line *line;
	size_t cell;
	int failed;
};

int table_new(struct table **ret, const struct column *columns, struct error *err)
{
	_cleanup_(table_freep) struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return error_os(err, -ENOMEM, "cannot make a table");
	table->cols = scols_new_table();
	if (!table->cols)
		return error_os(err, -ENOMEM, "cannot make a table");
	for (const struct column *c = columns; c->name; c++) {
		int flags = c->kind == COLUMN_NUMBER ? SCOLS_FL_RIGHT
			    : c->kind == COLUMN_WRAP ? SCOLS_FL_WRAP
						     : 0;

		if (!scols_table_new_column(table->cols, c->name, 0.1, flags))
			return error_os(err, -ENOMEM, "cannot make a table");
	}
	*ret = TAKE(table);
	return 0;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->cols);
	free(table);
}

void table_row(struct table *table)
{
	table->line = scols_table_new_line(table->cols, NULL);
	table->cell = 0;
	if (!table->line)
		table->failed = -ENOMEM;
}

void table_cell(struct table *table, const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	int r;

	if (table->failed)
		return;
	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	if (r < 0 || scols_line_refer_data(table->line, table->cell++, text) < 0)
		table->failed = -ENOMEM;
}

int table_print(struct table *table, FILE *file, struct error *err)
{
	int r = table->failed;

	if (r == 0) {
		scols_table_set_stream(table->cols, file);
		r = scols_print_table(table->cols);
	}
	return r < 0 ? error_os(err, r, "cannot print a table") : 0;
}
