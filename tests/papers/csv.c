/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The papers' tables as tests read them: see csv.h. */
#include "tests/papers/csv.h"
#include "tests/unit/check.h"

#include <math.h>

struct csv csv_read(const char *name)
{
	_cleanup_(freep) char *path = text_format(
		"%s/%s", getenv("EMP_PAPERS") ?: "tests/papers/data", name);
	struct csv csv = {};
	char *rest, *line;

	assert_int_equal(path_read_text(AT_FDCWD, NULL, &csv.text, "%s", path), 0);
	rest = csv.text;
	while ((line = strsep(&rest, "\n"))) {
		size_t columns = 0;
		char *cell;

		if (line[0] == '#' || !line[0])
			continue;
		while ((cell = strsep(&line, ","))) {
			/* the names come first */
			size_t n = csv.n_columns * (csv.n_rows + 1) + columns++;

			csv.cells = realloc(csv.cells, (n + 1) * sizeof(*csv.cells));
			assert_non_null(csv.cells);
			csv.cells[n] = cell;
		}
		if (csv.n_columns == 0)
			csv.n_columns = columns;
		else
			csv.n_rows++;
		assert_int_equal(columns, csv.n_columns);
	}
	return csv;
}

void csv_clear(struct csv *csv)
{
	free(csv->cells);
	free(csv->text);
	*csv = (struct csv){};
}

const char *csv_text(const struct csv *csv, size_t row, const char *column)
{
	for (size_t i = 0; i < csv->n_columns; i++)
		if (!strcmp(csv->cells[i], column))
			return csv->cells[(row + 1) * csv->n_columns + i];
	fail_msg("no column '%s'", column);
	return NULL;
}

double csv_number(const struct csv *csv, size_t row, const char *column)
{
	const char *text = csv_text(csv, row, column);

	return *text ? atof(text) : NAN;
}
