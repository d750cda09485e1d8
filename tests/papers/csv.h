/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The papers' tables as tests read them: comma-separated, one line of column names, comments behind
 * '#'. */
#pragma once

#include <stddef.h>

struct csv {
	char *text;
	size_t n_columns, n_rows;
	char **cells; /* the names, then row by row */
};

/* A table of tests/papers/data; a failure ends the test. */
struct csv csv_read(const char *name);
void csv_clear(struct csv *csv);

const char *csv_text(const struct csv *csv, size_t row, const char *column);
/* NAN for an empty cell */
double csv_number(const struct csv *csv, size_t row, const char *column);
