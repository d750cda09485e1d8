/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as a line, as a row of a table, and as JSON. */
#pragma once

#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/protocol/comparison.h"

/* "sort -n is 1.18 ± 0.03 times faster than sort  (p = 0.0003)", of at most 80 columns: `name` against
 * `reference`, with half the 95 % interval of the ratio and Welch's p. */
void comparison_line(
	FILE *file, const char *reference, const char *name, const struct comparison *comparison);

int comparison_table_new(struct table **ret, struct error *err);
void comparison_row(struct table *table, const char *name, const struct comparison *comparison);
int comparison_table_print(struct table *table, struct error *err); /* and what its columns are */

/* NULL: no memory. */
json_t *comparison_as_json(const char *reference, const char *name, const struct comparison *comparison);
