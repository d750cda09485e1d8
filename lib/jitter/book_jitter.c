/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jitter runs in the lab book: see book_jitter.h. Lists of a run are rows of a table each. */
#include "lib/jitter/book_jitter.h"

#include "lib/book/query.h"

#include <errno.h>
#include <inttypes.h>

static const struct list {
	const struct field_table *table;
	const char *remove, *select; /* with the run as the parameter */
	size_t items, n;             /* offsets in struct jitter */
} lists[] = {
#define LIST(of, member, order)                                                                    \
	{                                                                                          \
		&of##_table, "DELETE FROM " #of " WHERE run = ?", "WHERE run = ? ORDER BY " order, \
			offsetof(struct jitter, member), offsetof(struct jitter, n_##member)       \
	}
	LIST(interruption_part, parts, "cpu, start_ns, n"), /* first, as its rows refer to interruptions */
	LIST(interruption, longest, "length_ns DESC, cpu, start_ns"),
	LIST(jitter_match, matches, "cpu, low_ns"),
	LIST(jitter_bucket, buckets, "level, cpu, ifnull(source, 0), low_ns"),
	LIST(jitter_source, sources, "level, cpu, source"),
	LIST(jitter_period, periods, "cpu, n"),
	LIST(jitter_cpu, cpus, "cpu"),
};

/* Those that its rows name. */
#define COMBINATIONS                                                                  \
	"WHERE combination IN (SELECT source FROM jitter_source WHERE run = ?1 UNION" \
	" SELECT source FROM interruption WHERE run = ?1) ORDER BY combination, n"

static size_t *count_of(const struct list *list, const struct jitter *jitter)
{
	return (size_t *)((char *)jitter + list->n);
}

static const char *items_of(const struct list *list, const struct jitter *jitter)
{
	return *(const char *const *)((const char *)jitter + list->items);
}

static int remove_rows(struct book *book, int64_t run, const char *sql, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_begin(&q, book, sql, err);
	query_int(&q, run);
	return query_run(&q, err);
}

static int put_combinations(struct book *book, const struct jitter *jitter, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r = query_insert(&q, book, &combination_part_table, "ON CONFLICT DO NOTHING", err);

	for (size_t i = 0; r >= 0 && i < jitter->n_combinations; i++) {
		query_bind_fields(&q, &combination_part_table, &jitter->combinations[i]);
		r = query_run(&q, err);
	}
	return r;
}

static int put(struct book *book, int64_t run, const struct jitter *jitter, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ELEMENTS(lists); i++)
		r = remove_rows(book, run, lists[i].remove, err);
	for (size_t i = ELEMENTS(lists); r >= 0 && i-- > 0;)
		r = query_add_rows(book, run, lists[i].table, items_of(&lists[i], jitter),
			*count_of(&lists[i], jitter), err);
	return r < 0 ? r : put_combinations(book, jitter, err);
}

int book_put_jitter(struct book *book, int64_t run, const struct jitter *jitter, struct error *err)
{
	return BOOK_ATOMIC(book, put(book, run, jitter, err), err);
}

static int get(struct book *book, int64_t run, struct jitter *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ELEMENTS(lists); i++)
		r = query_all(book, lists[i].table, lists[i].select, run, (char *)ret + lists[i].items,
			count_of(&lists[i], ret), err);
	return r < 0 ? r
		     : query_all(book, &combination_part_table, COMBINATIONS, run, &ret->combinations,
			       &ret->n_combinations, err);
}

int book_get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err)
{
	_cleanup_(jitter_clear) struct jitter jitter = {};
	int r = BOOK_AT_ONCE(book, get(book, run, &jitter, err), err);

	if (r < 0)
		return r;
	if (jitter.n_cpus == 0)
		return error_say(err, -ENOENT,
			"run %" PRId64
			" in the lab book '%s' has no interruptions of a CPU; only runs of emp-calibrate jitter have them (see 'emp-analyze list')",
			run, book->path);
	*ret = TAKE_STRUCT(jitter);
	return 0;
}
