/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, as a row of a table, and as JSON. */
#pragma once

#include "lib/protocol/comparison.h"
#include "lib/base/table.h"

/* "sort -n is 1.18 times faster than sort in CPU time", then "  (95 % CI 1.15 … 1.21, p = 0.0003)" in the same line if it has at
 * most 80 columns, else in the next: `name` against `reference`. */
void comparison_line(
	FILE *file, const char *reference, const char *name, const struct comparison *comparison);

/* "Not taken in turn: separate runs vary by 0.1 % (sd of 4)", of at most 80 columns, or from the least to the greatest;
 * nothing if none of them was judged by that. */
void comparisons_between_line(FILE *file, const struct comparison *comparisons, size_t n);

/* The option --compare: pt, et or both, into an unsigned; see comparison_clocks. */
int comparison_clocks_option(const char *value, const char *name, void *into, struct error *err);

struct table *comparison_list_new(void);
void comparison_list_add(
	struct table *list, const char *reference, const char *name, const struct comparison *comparison);
/* Also prints what the columns mean; `several`: p and the intervals were adjusted for the number of comparisons. */
void comparison_list_print(struct table *list, bool several, FILE *file);

/* "faster", "no difference shown". */
const char *comparison_verdict_text(const struct comparison *comparison);

json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *comparison);
