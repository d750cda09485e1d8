/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of several programs: a row of a table for each. */
#pragma once

#include "lib/protocol/comparison.h"
#include "lib/report/screen.h"

struct program_row {
	const char *name;
	const struct screen *screen;
	/* with the first program; NULL: the row shows none */
	const struct comparison *pt, *et;
};

/* RUN, COMMAND, PT ± σ and its interval, ET where it differs, the ratio to the first program and
 * its verdict, and which samples are kept; each row is one line. Where the terminal is too narrow,
 * a line below says why samples were discarded, then columns are left out and named. Names are
 * shown as terminal_names has them. */
void program_rows_print(FILE *file, const struct program_row *rows, size_t n, const char *unit);

/* The widest names with which each row is one line. */
size_t program_rows_name_columns(
	FILE *file, const struct program_row *rows, size_t n, const char *unit);
