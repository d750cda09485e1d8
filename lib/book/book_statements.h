/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The statements that a connection has prepared, found again by their text. There is no limit to
 * their number, and the text may be anywhere in memory. For sql.c. */
#pragma once

#include "lib/base/keymap.h"
#include "lib/record/fields.h"

#include <sqlite3.h>

/* What a statement is made of. */
struct statement_key {
	/* its fields are selected or inserted, and `sql` is what follows them; NULL: `sql` is the
	 * whole statement */
	const struct field_table *table;
	const char *sql;
	bool insert;
};

/* Zeroed: there are none. */
struct book_statements {
	struct book_statement *items;
	size_t n;
	struct keymap by_hash; /* the last statement with that hash, as its number from 1 on */
};

/* NULL: it is not prepared yet. */
sqlite3_stmt *statements_find(const struct book_statements *all, const struct statement_key *key);
/* Keeps a statement, which statements_free() finalizes. The text is copied. */
void statements_add(
	struct book_statements *all, const struct statement_key *key, sqlite3_stmt *stmt);
void statements_free(struct book_statements *all);
