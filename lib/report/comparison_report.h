/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, as a row of a table, as the last line of the screen, and as JSON: one
 * form for every tool. comparison_picture.h draws it. */
#pragma once

#include "lib/base/table.h"
#include "lib/protocol/comparison.h"

/* What the last line says beside the verdict. */
struct verdict_line {
	const char *reference, *name; /* the two programs that are compared */
	bool names_program; /* there are comparisons of other programs: the line has `name` */
	bool names_clock;   /* PT and ET are compared: the line says which of them it is about */
};

/* The last line on the screen: "Verdict: equal (within 2 %)"; "Verdict on 'b': cannot tell; could
 * have shown 59 %; 12 more samples should tell". Wrapped where a long name leaves no room. */
void comparison_verdict_print(
	FILE *file, const struct verdict_line *line, const struct comparison *comparison);

/* "sort -n is 1.18 times faster than sort in CPU time", then "  (95 % CI 1.15 … 1.21, p = 0.0003)"
 * in the same line if it has at most 80 columns, else in the next: `name` against `reference`. */
void comparison_line(
	FILE *file, const char *reference, const char *name, const struct comparison *comparison);

/* "Not taken in turn: separate runs vary by 0.1 % (sd of 4 runs)", or from the least to the
 * greatest; nothing if none of them was judged by that. */
void comparisons_between_line(FILE *file, const struct comparison *comparisons, size_t n);

/* The option --compare: pt, et or both, into an unsigned; see comparison_clocks. */
extern const char *const comparison_clock_words[]; /* ends with NULL */
int comparison_clocks_option(const char *value, const char *name, void *into, struct error *err);

/* The rows of a table of comparisons. */
extern const struct column comparison_columns[];
void comparison_list_add(struct table *list, const char *reference, const char *name,
	const struct comparison *comparison);

/* Prints the table, and what its columns mean; `several`: p and the intervals were adjusted for the
 * number of comparisons. */
void comparison_list_print(struct table *list, bool several, FILE *file);

/* "1.021 to 1.134"; "from 1.021" if high is INFINITY; NULL if there is none. Valid as a text of
 * text_brief. */
const char *ratio_interval_text(double low, double high, int decimals, const char *to);

/* "faster", "cannot tell". */
const char *comparison_verdict_text(const struct comparison *comparison);

/* "1.18", with as many digits as its interval deserves; NULL: not known. Valid as
 * a text of text_brief. */
const char *comparison_ratio_text(const struct comparison *comparison);

json_t *comparison_as_json(
	const char *reference, const char *name, const struct comparison *comparison);
