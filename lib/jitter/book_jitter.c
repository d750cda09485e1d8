/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jitter runs in the lab book: see book_jitter.h. Lists of a run are rows of a table each. */
#include "lib/jitter/book_jitter.h"

#include "lib/book/sql.h"

#include <errno.h>
#include <inttypes.h>

/* A combination of sources that is stored already keeps its parts. */
#define KEEP_COMBINATIONS "ON CONFLICT DO NOTHING"

const struct document_feature jitter_feature = {
	.rows = (const struct run_rows[]){{"jitter_cpus", &jitter_cpu_table},
		{"jitter_periods", &jitter_period_table}, {"jitter_sources", &jitter_source_table},
		{"jitter_buckets", &jitter_bucket_table}, {"jitter_matches", &jitter_match_table},
		{"interruptions", &interruption_table}, {"interruption_parts", &interruption_part_table},
		/* those that its rows name */
		{"combination_parts", &combination_part_table,
			"WHERE combination IN (SELECT source FROM jitter_source WHERE run = ?1 UNION"
			" SELECT source FROM jitter_bucket WHERE run = ?1 UNION SELECT source FROM interruption WHERE run = ?1)"
			" ORDER BY combination, n",
			KEEP_COMBINATIONS},
		{}}};

static const struct jitter_list {
	const struct field_table *table;
	const char *remove, *select; /* with the run as the parameter */
	size_t items, n;             /* offsets in struct jitter */
} jitter_lists[] = {
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

static int put_jitter(struct book *book, int64_t run, const struct jitter *jitter, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ELEMENTS(jitter_lists); i++)
		r = sql_row(book, err, jitter_lists[i].remove, "i", run);
	for (size_t i = ELEMENTS(jitter_lists); r >= 0 && i-- > 0;) {
		const struct jitter_list *list = &jitter_lists[i];

		r = sql_insert(book, err, list->table, "",
			*(void *const *)((const char *)jitter + list->items),
			*(const size_t *)((const char *)jitter + list->n), "i", run);
	}
	return r < 0 ? r
		     : sql_insert(book, err, &combination_part_table, KEEP_COMBINATIONS, jitter->combinations,
			       jitter->n_combinations, "");
}

int book_put_jitter(struct book *book, int64_t run, const struct jitter *jitter, struct error *err)
{
	return BOOK_ATOMIC(book, put_jitter(book, run, jitter, err), err);
}

static int get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ELEMENTS(jitter_lists); i++)
		r = sql_all(book, err, jitter_lists[i].table, jitter_lists[i].select,
			(char *)ret + jitter_lists[i].items, (size_t *)((char *)ret + jitter_lists[i].n), "i",
			run);
	return r < 0 ? r
		     : sql_all(book, err, &combination_part_table,
			       "WHERE combination IN (SELECT source FROM jitter_source WHERE run = ?1 UNION"
			       " SELECT source FROM interruption WHERE run = ?1) ORDER BY combination, n",
			       &ret->combinations, &ret->n_combinations, "i", run);
}

int book_get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err)
{
	_cleanup_(jitter_clear) struct jitter jitter = {};
	int r = BOOK_AT_ONCE(book, get_jitter(book, run, &jitter, err), err);

	if (r < 0)
		return r;
	if (jitter.n_cpus == 0)
		return error_say(err, -ENOENT,
			"run %" PRId64
			" in the lab book '%s' has no interruptions of a CPU; only runs of emp-calibrate jitter have them (see 'emp-analyze list')",
			run, book_file(book));
	*ret = TAKE_STRUCT(jitter);
	return 0;
}
