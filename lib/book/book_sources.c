/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources in the lab book. Their ids are dense, so that each of ten million executions stores a small number. A hash
 * table in memory caches them. */
#include "lib/book/query.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

void source_cache_clear(struct source_cache *cache)
{
	struct sources all = {cache->slots, cache->size};

	sources_clear(&all);
	*cache = (struct source_cache){};
}

/* FNV-1a, with the NUL so that "a", "b" and "ab", "" differ. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (const char *c = text ?: "";; c++) {
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
		if (!*c)
			return hash;
	}
}

static uint64_t hash_of(const struct source *source)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + source->kind;

	hash = hash_text(hash, source->name);
	hash = hash_text(hash, source->exe);
	hash = hash_text(hash, source->unit);
	return hash ^ hash >> 32;
}

static bool same(const struct source *a, const struct source *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name) && !strcmp(a->exe ?: "", b->exe ?: "") &&
	       !strcmp(a->unit ?: "", b->unit ?: "");
}

/* The slot that holds `who`, or the empty one where it belongs. */
static struct source *slot_of(const struct source_cache *cache, const struct source *who)
{
	size_t i = hash_of(who) & (cache->size - 1);

	while (cache->slots[i].id && !same(&cache->slots[i], who))
		i = (i + 1) & (cache->size - 1);
	return &cache->slots[i];
}

/* Capacity for one more at a load below two thirds. */
static int grow(struct source_cache *cache)
{
	struct source_cache bigger = {.size = cache->size ? 2 * cache->size : 256, .used = cache->used};

	if (cache->size && 3 * (cache->used + 1) < 2 * cache->size)
		return 0;
	bigger.slots = xcalloc(bigger.size, sizeof(*bigger.slots));
	for (size_t i = 0; i < cache->size; i++)
		if (cache->slots[i].id)
			*slot_of(&bigger, &cache->slots[i]) = cache->slots[i];
	free(cache->slots);
	*cache = bigger;
	return 0;
}

/* Without memory nothing is cached, which is no failure: the file has it. */
static void remember(struct source_cache *cache, const struct source *who)
{
	struct source copy = {.id = who->id, .kind = who->kind, .name = xstrdup(who->name)};

	copy.exe = text_copy(who->exe);
	copy.unit = text_copy(who->unit);
	if (!copy.name || !copy.exe != !who->exe || !copy.unit != !who->unit || grow(cache) < 0) {
		free(copy.name);
		free(copy.exe);
		free(copy.unit);
		return;
	}
	*slot_of(cache, who) = copy;
	cache->used++;
}

/* 1: found, its id is set. */
static int find(struct book *book, struct source *who, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_begin(&q, book,
		"SELECT id FROM source WHERE name = ? AND ifnull(exe, '') = ifnull(?, '')"
		" AND ifnull(unit, '') = ifnull(?, '') AND kind = ?",
		err);
	query_bind_fields(&q, &source_table, who);
	r = query_step(&q, err);
	if (r > 0)
		who->id = query_column(&q, 0);
	return r;
}

static int find_or_add(struct book *book, struct source *who, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = find(book, who, err);
	if (r != 0)
		return r;
	/* another process may have added it since */
	query_insert(&q, book, &source_table, "ON CONFLICT DO NOTHING", err);
	query_bind_fields(&q, &source_table, who);
	r = query_run(&q, err);
	return r < 0 ? r : find(book, who, err);
}

/* "" means unknown, too. */
static char *text_or_null(const char *text)
{
	return text && *text ? (char *)text : NULL;
}

static struct source source_of(const char *name, const char *exe, const char *unit, enum source_kind kind)
{
	return (struct source){
		.name = (char *)name, .exe = text_or_null(exe), .unit = text_or_null(unit), .kind = kind};
}

/* What fails is not cached, and is asked for one by one. */
static void cache_all(struct book *book)
{
	_cleanup_(sources_clear) struct sources all = {};
	struct error ignored;

	if (book_sources(book, &all, &ignored) == 0)
		for (size_t i = 0; i < all.n; i++)
			remember(&book->sources, &all.items[i]);
}

uint32_t book_known_source(
	struct book *book, const char *name, const char *exe, const char *unit, enum source_kind kind)
{
	struct source who = source_of(name, exe, unit, kind);

	if (!book->sources.used)
		cache_all(book);
	return book->sources.used ? (uint32_t)slot_of(&book->sources, &who)->id : 0;
}

int book_source(struct book *book, const char *name, const char *exe, const char *unit, enum source_kind kind,
	uint32_t *ret, struct error *err)
{
	struct source who = source_of(name, exe, unit, kind);
	int r;

	*ret = book_known_source(book, name, exe, unit, kind);
	if (*ret)
		return 0;
	r = find_or_add(book, &who, err);
	if (r < 0)
		return r;
	remember(&book->sources, &who);
	*ret = (uint32_t)who.id;
	return 0;
}

int book_sources(struct book *book, struct sources *ret, struct error *err)
{
	_cleanup_(sources_clear) struct sources all = {};
	int r = query_all(book, &source_table, "ORDER BY id", 0, &all.items, &all.n, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].id != (int64_t)i + 1)
			return error_say(err, -EBADMSG,
				"the lab book '%s' is damaged: its sources are not numbered 1, 2, 3 and so on; restore an intact copy",
				book->path);
	*ret = TAKE_STRUCT(all);
	return 0;
}
