/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a jitter run: see jitter.h. */
#include "lib/jitter/jitter.h"

#include "lib/book/sql.h"

static const char *const jitter_level_names[N_JITTER_LEVELS] = {
	[JITTER_USER] = "user",
	[JITTER_MASTER] = "master",
	[JITTER_TIME] = "time",
	[JITTER_FREQUENCY] = "frequency",
};

#define CPU_OF(of) FIELD(of, FIELD_INT, cpu), .max = INT32_MAX
#define SPAN(of, member) FIELD(of, FIELD_INT64, member), .max = JSON_SPAN_MAX
#define COUNT(of, member) FIELD(of, FIELD_INT64, member), .max = INT64_MAX
#define SOURCE(of) FIELD(of, FIELD_UINT32, source), .min = 1, .refers = FIELD_TO_SOURCE
#define LEVEL(of) \
	FIELD(of, FIELD_ENUM, level), .words = jitter_level_names, .n_words = N_JITTER_LEVELS

static const struct field cpu_fields[] = {
	{CPU_OF(jitter_cpu)},
	{COUNT(jitter_cpu, rounds)},
	{SPAN(jitter_cpu, wall_ns)},
	{SPAN(jitter_cpu, sampled_ns)},
	{SPAN(jitter_cpu, smallest_gap_ns)},
	{SPAN(jitter_cpu, threshold_ns)},
	{COUNT(jitter_cpu, gaps)},
	{SPAN(jitter_cpu, gaps_ns)},
	{COUNT(jitter_cpu, explained)},
	{SPAN(jitter_cpu, explained_ns)},
	{COUNT(jitter_cpu, chance)},
	{SPAN(jitter_cpu, chance_ns)},
	{COUNT(jitter_cpu, periodic)},
	{SPAN(jitter_cpu, periodic_ns)},
	{COUNT(jitter_cpu, outside_kernel), UNLESS_NEGATIVE},
	{SPAN(jitter_cpu, outside_kernel_ns), UNLESS_NEGATIVE},
	{COUNT(jitter_cpu, unexplained)},
	{SPAN(jitter_cpu, unexplained_ns)},
	{FIELD(jitter_cpu, FIELD_INT64, steal_ns), UNLESS_NEGATIVE, IS_TIME},
	{COUNT(jitter_cpu, smis), UNLESS_NEGATIVE},
	{COUNT(jitter_cpu, events)},
	{COUNT(jitter_cpu, lost)},
	{COUNT(jitter_cpu, broken)},
	{COUNT(jitter_cpu, in_no_gap)},
	{FIELD(jitter_cpu, FIELD_INT64, event_cost_ns), IS_OPTIONAL, .min = 1, IS_TIME},
};

static const struct field period_fields[] = {
	{CPU_OF(jitter_period)},
	{FIELD(jitter_period, FIELD_UINT32, n), .min = 1},
	{FIELD(jitter_period, FIELD_INT64, period_ns), .min = 1, IS_TIME},
	{COUNT(jitter_period, count)},
	{SPAN(jitter_period, total_ns)},
	{FIELD(jitter_period, FIELD_BOOL, outside_kernel)},
};

static const struct field source_fields[] = {
	{CPU_OF(jitter_source)},
	{LEVEL(jitter_source)},
	{SOURCE(jitter_source)},
	{COUNT(jitter_source, count), .min = 1},
	{SPAN(jitter_source, min_ns)},
	{SPAN(jitter_source, max_ns)},
	{SPAN(jitter_source, total_ns)},
	{FIELD(jitter_source, FIELD_REAL, squares_ns2)},
	{COUNT(jitter_source, rounds)},
	{FIELD(jitter_source, FIELD_REAL, round_squares_ns2)},
	{FIELD(jitter_source, FIELD_REAL, round_steps_ns2)},
	{FIELD(jitter_source, FIELD_INT64, period_ns), IS_OPTIONAL, .min = 1, IS_TIME},
};

static const struct field bucket_fields[] = {
	{CPU_OF(jitter_bucket)},
	{LEVEL(jitter_bucket)},
	{SOURCE(jitter_bucket), IS_OPTIONAL},
	{SPAN(jitter_bucket, low_ns)},
	{SPAN(jitter_bucket, high_ns)},
	{COUNT(jitter_bucket, count), .min = 1},
	{SPAN(jitter_bucket, total_ns)},
};

static const struct field match_fields[] = {
	{CPU_OF(jitter_match)},
	{SPAN(jitter_match, low_ns)},
	{SPAN(jitter_match, high_ns)},
	{COUNT(jitter_match, gaps)},
	{COUNT(jitter_match, matched)},
	{COUNT(jitter_match, chance)},
};

static const struct field interruption_fields[] = {
	{CPU_OF(interruption)},
	{SPAN(interruption, start_ns)},
	{SPAN(interruption, length_ns)},
	{SOURCE(interruption), IS_OPTIONAL},
};

static const struct field part_fields[] = {
	{CPU_OF(interruption_part)},
	{SPAN(interruption_part, start_ns)},
	{FIELD(interruption_part, FIELD_UINT32, n), .min = 1},
	{SPAN(interruption_part, offset_ns)},
	{SPAN(interruption_part, length_ns)},
	{SPAN(interruption_part, net_ns)},
	{SOURCE(interruption_part)},
};

static const struct field combination_fields[] = {
	{FIELD(combination_part, FIELD_UINT32, combination), .min = 1, .refers = FIELD_TO_SOURCE},
	{FIELD(combination_part, FIELD_UINT32, n), .min = 1},
	{SOURCE(combination_part)},
};

const struct field_table jitter_cpu_table = FIELD_TABLE(jitter_cpu, "run, ", cpu_fields);
static const struct field_table jitter_period_table = FIELD_TABLE(
	jitter_period, "run, ", period_fields);
const struct field_table jitter_source_table = FIELD_TABLE(jitter_source, "run, ", source_fields);
const struct field_table jitter_bucket_table = FIELD_TABLE(jitter_bucket, "run, ", bucket_fields);
static const struct field_table jitter_match_table = FIELD_TABLE(
	jitter_match, "run, ", match_fields);
static const struct field_table interruption_table = FIELD_TABLE(
	interruption, "run, ", interruption_fields);
static const struct field_table interruption_part_table = FIELD_TABLE(
	interruption_part, "run, ", part_fields);
static const struct field_table combination_part_table = FIELD_TABLE(
	combination_part, "", combination_fields);

/* Lists of a run are rows of a table each. */

/* A combination of sources that is stored already keeps its parts. */
#define KEEP_COMBINATIONS "ON CONFLICT DO NOTHING"

const struct document_feature jitter_feature = {
	.rows = (const struct run_rows[]){{"jitter_cpus", &jitter_cpu_table},
		{"jitter_periods", &jitter_period_table}, {"jitter_sources", &jitter_source_table},
		{"jitter_buckets", &jitter_bucket_table}, {"jitter_matches", &jitter_match_table},
		{"interruptions", &interruption_table},
		{"interruption_parts", &interruption_part_table},
		/* those that its rows name */
		{"combination_parts", &combination_part_table,
			"WHERE combination IN (SELECT source FROM jitter_source WHERE run = ?1"
			" UNION SELECT source FROM jitter_bucket WHERE run = ?1"
			" UNION SELECT source FROM interruption WHERE run = ?1)"
			" ORDER BY combination, n",
			KEEP_COMBINATIONS},
		{}}};

/* In the order in which they can be stored. */
static const struct jitter_list {
	const struct field_table *table;
	/* with the run as the parameter; NULL: they are of sources, and stay */
	const char *remove;
	const char *select; /* what follows "SELECT … FROM table", likewise */
	const char *insert; /* what follows "INSERT INTO table" */
	size_t items, n;    /* offsets in struct jitter */
} jitter_lists[] = {
#define LIST(of, member, order)                                                                    \
	{                                                                                          \
		&of##_table, "DELETE FROM " #of " WHERE run = ?", "WHERE run = ? ORDER BY " order, \
			"", offsetof(struct jitter, member), offsetof(struct jitter, n_##member)   \
	}
	LIST(jitter_cpu, cpus, "cpu"),
	LIST(jitter_period, periods, "cpu, n"),
	LIST(jitter_source, sources, "level, cpu, source"),
	LIST(jitter_bucket, buckets, "level, cpu, ifnull(source, 0), low_ns"),
	LIST(jitter_match, matches, "cpu, low_ns"),
	LIST(interruption, longest, "length_ns DESC, cpu, start_ns"),
	LIST(interruption_part, parts, "cpu, start_ns, n"),
	{&combination_part_table, NULL,
		"WHERE combination IN (SELECT source FROM jitter_source WHERE run = ?1 UNION"
		" SELECT source FROM interruption WHERE run = ?1) ORDER BY combination, n",
		KEEP_COMBINATIONS, offsetof(struct jitter, combinations),
		offsetof(struct jitter, n_combinations)},
};

void jitter_clear(struct jitter *jitter)
{
	for (size_t i = 0; i < ELEMENTS(jitter_lists); i++)
		free(*(void **)((char *)jitter + jitter_lists[i].items));
	*jitter = (struct jitter){};
}

static int put_jitter_list(struct book *book, int64_t run, const struct jitter_list *list,
	const struct jitter *jitter, struct error *err)
{
	const char *members = (const char *)jitter;
	void *items = *(void *const *)(members + list->items);
	size_t n = *(const size_t *)(members + list->n);

	if (list->remove) {
		int r = sql_row(book, err, list->remove, "i", run);

		if (r < 0)
			return r;
	}
	return sql_insert(
		book, err, list->table, list->insert, items, n, list->remove ? "i" : "", run);
}

static int put_jitter(
	struct book *book, int64_t run, const struct jitter *jitter, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ELEMENTS(jitter_lists); i++)
		r = put_jitter_list(book, run, &jitter_lists[i], jitter, err);
	return r;
}

int book_put_jitter(struct book *book, int64_t run, const struct jitter *jitter, struct error *err)
{
	return BOOK_ATOMIC_RETRIED(book, put_jitter(book, run, jitter, err), err);
}

static int get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ELEMENTS(jitter_lists); i++)
		r = sql_all(book, err, jitter_lists[i].table, jitter_lists[i].select,
			(char *)ret + jitter_lists[i].items,
			(size_t *)((char *)ret + jitter_lists[i].n), "i", run);
	return r;
}

int book_get_jitter(struct book *book, int64_t run, struct jitter *ret, struct error *err)
{
	_cleanup_(jitter_clear) struct jitter jitter = {};
	int r = BOOK_AT_ONCE_RETRIED(book, get_jitter(book, run, &jitter, err), err);

	if (r < 0)
		return r;
	if (jitter.n_cpus == 0)
		return error_say(err, -ENOENT,
			"run %" PRId64 " in the lab book '%s' has no interruptions of a CPU; only "
			"runs of emp-calibrate jitter have them (see 'emp-analyze list')",
			run, book_file(book));
	*ret = TAKE_STRUCT(jitter);
	return 0;
}
