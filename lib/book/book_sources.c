/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources: see book_sources.h. Their ids are dense, so that each of ten million executions stores a
 * small number; a tree in memory (tsearch(3)) has them. */
#include "lib/book/book_sources.h"

#include "lib/book/book_internal.h"
#include "lib/book/sql.h"

#include <search.h>

static int source_compare(const void *a, const void *b)
{
	const struct source *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	order = order ?: strcmp(one->exe ?: "", other->exe ?: "");
	order = order ?: strcmp(one->unit ?: "", other->unit ?: "");
	return order ?: (int)one->kind - (int)other->kind;
}

static void source_free(void *source)
{
	struct sources one = {source, 1};

	sources_clear(&one);
}

void book_forget_sources(struct book *book)
{
	tdestroy(book->sources, source_free);
	book->sources = NULL;
}

static void remember_source(struct book *book, const struct source *who)
{
	struct source *copy = xmalloc(sizeof(*copy));

	*copy = *who;
	copy->name = xstrdup(who->name);
	copy->exe = text_copy(who->exe);
	copy->unit = text_copy(who->unit);
	xalloc_check(tsearch(copy, &book->sources, source_compare));
}

uint32_t book_known_source(struct book *book, const struct source *who)
{
	const struct source **found;

	if (!book->sources) {
		_cleanup_(sources_clear) struct sources all = {};

		if (book_sources(book, &all, NULL) == 0)
			for (size_t i = 0; i < all.n; i++)
				remember_source(book, &all.items[i]);
	}
	found = tfind(who, &book->sources, source_compare);
	return found ? (uint32_t)(*found)->id : 0;
}

int book_source(struct book *book, const struct source *who, uint32_t *ret, struct error *err)
{
	struct source added = *who;
	int r;

	*ret = book_known_source(book, who);
	if (*ret)
		return 0;
	added.exe = added.exe && *added.exe ? added.exe : NULL; /* "" means unknown, too */
	added.unit = added.unit && *added.unit ? added.unit : NULL;
	/* another process may have added it since */
	r = sql_insert(book, err, &source_table, "ON CONFLICT DO NOTHING", &added, 1, "");
	if (r >= 0)
		r = sql_row(book, err,
			"SELECT id FROM source WHERE name = ? AND ifnull(exe, '') = ifnull(?, '')"
			" AND ifnull(unit, '') = ifnull(?, '') AND kind = ?",
			"tttt:I", added.name, added.exe, added.unit, source_kind_names[added.kind],
			&added.id);
	if (r < 0)
		return r;
	remember_source(book, &added);
	*ret = (uint32_t)added.id;
	return 0;
}

int book_sources(struct book *book, struct sources *ret, struct error *err)
{
	_cleanup_(sources_clear) struct sources all = {};
	int r = sql_all(book, err, &source_table, "ORDER BY id", &all.items, &all.n, "");

	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].id != (int64_t)i + 1)
			return error_say(err, -EBADMSG,
				"the lab book '%s' is damaged: its sources are not numbered 1, 2, "
				"3 and so on; restore an intact copy",
				book->path);
	*ret = TAKE_STRUCT(all);
	return 0;
}
