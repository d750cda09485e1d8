/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepared statements by their text: see book_statements.h. */
#include "lib/book/book_statements.h"

struct book_statement {
	struct field_table table; /* zeros: none */
	char *sql;
	bool insert;
	sqlite3_stmt *stmt;
	uint32_t next; /* with the same hash, as a number from 1 on; 0: there is none */
};

/* Of the text and of what else tells statements apart. */
static uint64_t statement_hash(const struct statement_key *key)
{
	uint64_t hash = KEYMAP_HASH_BEGIN ^ key->insert;

	if (key->table)
		hash ^= (uintptr_t)key->table->fields << 1;
	return keymap_hash(hash, key->sql, strlen(key->sql));
}

static bool statement_is(const struct book_statement *s, const struct statement_key *key)
{
	static const struct field_table none;
	const struct field_table *table = key->table ?: &none;

	return s->insert == key->insert && s->table.fields == table->fields &&
	       s->table.n == table->n && s->table.table == table->table &&
	       s->table.keys == table->keys && !strcmp(s->sql, key->sql);
}

sqlite3_stmt *statements_find(const struct book_statements *all, const struct statement_key *key)
{
	const uint32_t *first = keymap_find(&all->by_hash, statement_hash(key));
	uint32_t at = first ? *first : 0;

	while (at > 0 && !statement_is(&all->items[at - 1], key))
		at = all->items[at - 1].next;
	return at > 0 ? all->items[at - 1].stmt : NULL;
}

void statements_add(
	struct book_statements *all, const struct statement_key *key, sqlite3_stmt *stmt)
{
	uint64_t hash = statement_hash(key);
	const uint32_t *next = keymap_find(&all->by_hash, hash);
	struct book_statement *added = array_add(all->items, all->n);

	*added = (struct book_statement){
		.table = key->table ? *key->table : (struct field_table){},
		.sql = xstrdup(key->sql),
		.insert = key->insert,
		.stmt = stmt,
		.next = next ? *next : 0,
	};
	keymap_set(&all->by_hash, hash, (uint32_t)all->n);
}

void statements_free(struct book_statements *all)
{
	for (size_t i = 0; i < all->n; i++) {
		sqlite3_finalize(all->items[i].stmt);
		free(all->items[i].sql);
	}
	free(all->items);
	keymap_free(&all->by_hash);
	*all = (struct book_statements){};
}
