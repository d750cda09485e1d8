/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dictionary of daemons: who ran, under a dense id, so that ten million executions each hold a
 * small number. A hash table in memory answers for those that this process met before. */
#include "lib/record/book/query.h"

#include <errno.h>
#include <string.h>

void daemon_cache_clear(struct daemon_cache *cache)
{
	struct daemons all = {cache->slots, cache->size};

	daemons_clear(&all);
	*cache = (struct daemon_cache){};
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

static uint64_t hash_of(const struct daemon *daemon)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + daemon->kernel;

	hash = hash_text(hash, daemon->name);
	hash = hash_text(hash, daemon->exe);
	hash = hash_text(hash, daemon->unit);
	return hash ^ hash >> 32;
}

static bool same(const struct daemon *a, const struct daemon *b)
{
	return a->kernel == b->kernel && !strcmp(a->name, b->name) && !strcmp(a->exe ?: "", b->exe ?: "") &&
	       !strcmp(a->unit ?: "", b->unit ?: "");
}

/* The slot that holds `who`, or the empty one where it belongs. */
static struct daemon *slot_of(const struct daemon_cache *cache, const struct daemon *who)
{
	size_t i = hash_of(who) & (cache->size - 1);

	while (cache->slots[i].id && !same(&cache->slots[i], who))
		i = (i + 1) & (cache->size - 1);
	return &cache->slots[i];
}

/* Room for one more at a load below two thirds. */
static int grow(struct daemon_cache *cache)
{
	struct daemon_cache bigger = {.size = cache->size ? 2 * cache->size : 256, .used = cache->used};

	if (cache->size && 3 * (cache->used + 1) < 2 * cache->size)
		return 0;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < cache->size; i++)
		if (cache->slots[i].id)
			*slot_of(&bigger, &cache->slots[i]) = cache->slots[i];
	free(cache->slots);
	*cache = bigger;
	return 0;
}

/* Forgetting to remember is no failure: the file knows. */
static void remember(struct daemon_cache *cache, const struct daemon *who)
{
	struct daemon copy = {.id = who->id, .kernel = who->kernel, .name = strdup(who->name)};

	copy.exe = who->exe ? strdup(who->exe) : NULL;
	copy.unit = who->unit ? strdup(who->unit) : NULL;
	if (!copy.name || !copy.exe != !who->exe || !copy.unit != !who->unit || grow(cache) < 0) {
		free(copy.name);
		free(copy.exe);
		free(copy.unit);
		return;
	}
	*slot_of(cache, who) = copy;
	cache->used++;
}

static void bind_who(struct query *q, const struct daemon *who)
{
	query_text(q, who->name);
	query_text(q, who->exe && *who->exe ? who->exe : NULL);
	query_text(q, who->unit && *who->unit ? who->unit : NULL);
	query_int(q, who->kernel);
}

/* 1: found, its id is set. */
static int find(struct book *book, struct daemon *who, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = query_begin(&q, book,
		"SELECT id FROM daemon WHERE name = ? AND ifnull(exe, '') = ifnull(?, '')"
		" AND ifnull(unit, '') = ifnull(?, '') AND kernel = ?",
		err);
	if (r < 0)
		return r;
	bind_who(&q, who);
	r = query_step(&q, err);
	if (r > 0)
		who->id = query_column(&q, 0);
	return r;
}

static int find_or_add(struct book *book, struct daemon *who, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	r = find(book, who, err);
	if (r != 0)
		return r;
	/* between the two another program may have added it */
	r = query_begin(&q, book,
		"INSERT INTO daemon(name, exe, unit, kernel) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
		err);
	if (r < 0)
		return r;
	bind_who(&q, who);
	r = query_run(&q, err);
	return r < 0 ? r : find(book, who, err);
}

int book_daemon(struct book *book, const char *name, const char *exe, const char *unit, bool kernel,
	uint32_t *ret, struct error *err)
{
	struct daemon who = {
		.name = (char *)name, .exe = (char *)exe, .unit = (char *)unit, .kernel = kernel};
	int r;

	if (book->daemons.used) {
		who.id = slot_of(&book->daemons, &who)->id;
		if (who.id) {
			*ret = (uint32_t)who.id;
			return 0;
		}
	}
	r = find_or_add(book, &who, err);
	if (r < 0)
		return r;
	remember(&book->daemons, &who);
	*ret = (uint32_t)who.id;
	return 0;
}

static int add_row(struct query *q, struct daemons *all, size_t capacity, struct error *err)
{
	struct daemon *daemon = &all->items[all->n];

	if (all->n == capacity || query_column(q, 0) != (int64_t)all->n + 1)
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: its daemons are not numbered 1, 2, 3 and so on; go back to a copy of it that is whole",
			q->book->path);
	all->n++;
	daemon->id = query_column(q, 0);
	daemon->name = query_column_text(q, 1);
	daemon->exe = query_column_text(q, 2);
	daemon->unit = query_column_text(q, 3);
	daemon->kernel = query_column(q, 4);
	return query_done(q, err);
}

int book_daemons(struct book *book, struct daemons *ret, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	_cleanup_(daemons_clearp) struct daemons all = {};
	size_t capacity = 0;
	int r;

	/* one statement, and so one view of the table: the count is of the rows that follow */
	r = query_begin(&q, book,
		"SELECT id, name, exe, unit, kernel, (SELECT count(*) FROM daemon) FROM daemon ORDER BY id",
		err);
	if (r < 0)
		return r;
	for (;;) {
		r = query_step(&q, err);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (!all.items) {
			capacity = query_column(&q, 5);
			all.items = calloc(capacity, sizeof(*all.items));
			if (!all.items)
				return error_os(err, -ENOMEM, "cannot list the daemons");
		}
		r = add_row(&q, &all, capacity, err);
		if (r < 0)
			return r;
	}
	*ret = all;
	all = (struct daemons){};
	return 0;
}
