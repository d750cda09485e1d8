/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mistakes that the compiler must refuse: does_not_compile.sh compiles this file without a macro,
 * which must work, and once with each of them, which must not. */
#include "lib/base/table.h"

static const struct column two_columns[] = {{"NAME"}, {"TOOK", COLUMN_NUMBER}, {}};

void add_rows(struct table *table);
void add_rows(struct table *table)
{
	table_row(table, two_columns, TEXT("sort"), TIME(1));
#ifdef A_CELL_TOO_FEW
	table_row(table, two_columns, TEXT("sort"));
#endif
#ifdef A_CELL_TOO_MANY
	table_row(table, two_columns, TEXT("sort"), TIME(1), TIME(2));
#endif
#ifdef A_POINTER_FOR_THE_COLUMNS
	const struct column *columns = two_columns;

	table_row(table, columns, TEXT("sort"), TIME(1));
#endif
}
