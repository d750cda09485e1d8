/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of sources, made of those in the book: see jitter_table.h. */
#include "lib/jitter/jitter_table.h"

#include <math.h>

/* Adds to the row of a source. While a table is made, its rows are those of all sources by id, and
 * those with a count of 0 are not in it. -EBADMSG, with a sentence: there is no such source. */
static int add_to_row(struct jitter_table *table, const struct sources *sources,
	const struct jitter_source *more, struct error *err)
{
	struct jitter_row *row;

	if (more->source == 0 || more->source > sources->n)
		return error_say(err, -EBADMSG, "the lab book is damaged: it has no source %u",
			more->source);
	row = &table->rows[more->source - 1];
	row->source = &sources->items[more->source - 1];
	row->min_ns = row->count == 0 || more->min_ns < row->min_ns ? more->min_ns : row->min_ns;
	row->max_ns = more->max_ns > row->max_ns ? more->max_ns : row->max_ns;
	row->count = saturate_add(row->count, more->count);
	row->total_ns = saturate_add(row->total_ns, more->total_ns);
	row->squares_ns2 += more->squares_ns2;
	row->period_ns = row->period_ns > more->period_ns ? row->period_ns : more->period_ns;
	row->rounds += (double)more->rounds;
	row->round_squares_ns2 += more->round_squares_ns2;
	row->round_steps_ns2 += more->round_steps_ns2;
	return 0;
}

static int by_total_and_name(const void *x, const void *y)
{
	const struct jitter_row *a = x, *b = y;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return strcmp(a->source->name, b->source->name);
}

/* Leaves the rows that have something, in order, with what follows from their sums. Shares are of
 * all rows but those of the kind left out. */
static void finish_rows(struct jitter_table *table, size_t n_sources, enum source_kind left_out)
{
	for (size_t i = 0; i < n_sources; i++) {
		struct jitter_row *row = &table->rows[i];
		double n = (double)row->count, squares_ns2; /* of the deviations */

		if (row->count == 0)
			continue;
		row->mean_ns = (double)row->total_ns / n;
		squares_ns2 = row->squares_ns2 - n * row->mean_ns * row->mean_ns;
		if (n > 1)
			row->sd_ns = sqrt(fmax(squares_ns2, 0) / (n - 1));
		if (row->source->kind != left_out)
			table->total_ns = saturate_add(table->total_ns, row->total_ns);
		table->rows[table->n++] = *row;
	}
	for (size_t i = 0; i < table->n && table->total_ns > 0; i++)
		if (table->rows[i].source->kind != left_out)
			table->rows[i].share = (double)table->rows[i].total_ns /
					       (double)table->total_ns;
	qsort(table->rows, table->n, sizeof(*table->rows), by_total_and_name);
}

int jitter_table_make(struct jitter_table *ret, const struct jitter *jitter,
	enum jitter_level level, const struct sources *sources, struct error *err)
{
	_cleanup_(jitter_table_clear) struct jitter_table table = {
		.rows = xcalloc(sources->n, sizeof(*table.rows))};
	int r = 0;

	for (size_t i = 0; r == 0 && i < jitter->n_sources; i++)
		if (jitter->sources[i].level == level)
			r = add_to_row(&table, sources, &jitter->sources[i], err);
	if (r < 0)
		return r;
	finish_rows(&table, sources->n, SOURCE_OUTSIDE);
	*ret = TAKE_STRUCT(table);
	return 0;
}

int jitter_peak_make(struct jitter_peak *ret, const struct jitter *jitter, int64_t low_ns,
	int64_t high_ns, const struct sources *sources, struct error *err)
{
	_cleanup_(jitter_table_clear) struct jitter_table table = {
		.rows = xcalloc(sources->n, sizeof(*table.rows))};
	struct jitter_peak peak = {.low_ns = low_ns, .high_ns = high_ns};
	int r = 0;

	for (size_t i = 0; r == 0 && i < jitter->n_buckets; i++) {
		const struct jitter_bucket *b = &jitter->buckets[i];
		const struct jitter_source more = {.source = b->source,
			.count = b->count,
			.total_ns = b->total_ns,
			.min_ns = b->low_ns,
			.max_ns = b->high_ns};

		if (b->high_ns <= low_ns || b->low_ns > high_ns ||
			(b->level != JITTER_TIME && b->level != JITTER_USER))
			continue;
		peak.low_ns = b->low_ns < peak.low_ns ? b->low_ns : peak.low_ns;
		peak.high_ns = b->high_ns > peak.high_ns ? b->high_ns : peak.high_ns;
		if (b->level == JITTER_TIME) {
			r = add_to_row(&table, sources, &more, err);
			continue;
		}
		peak.gaps = saturate_add(peak.gaps, b->count);
		peak.gaps_ns = saturate_add(peak.gaps_ns, b->total_ns);
	}
	if (r < 0)
		return r;
	finish_rows(&table, sources->n, N_SOURCE_KINDS);
	peak.table = TAKE_STRUCT(table);
	*ret = peak;
	return 0;
}

void jitter_table_clear(struct jitter_table *table)
{
	free(table->rows);
	*table = (struct jitter_table){};
}

/* Whether the greatest of all CPUs counts; otherwise it is their sum. */
static bool is_greatest(const struct field *field)
{
	return field->offset == offsetof(struct jitter_cpu, smallest_gap_ns) ||
	       field->offset == offsetof(struct jitter_cpu, threshold_ns) ||
	       field->offset == offsetof(struct jitter_cpu, event_cost_ns);
}

struct jitter_cpu jitter_all_cpus(const struct jitter *jitter)
{
	const struct field *end = jitter_cpu_table.fields + jitter_cpu_table.n;
	struct jitter_cpu all;

	fields_init(&jitter_cpu_table, &all);
	for (size_t i = 0; i < jitter->n_cpus; i++)
		for (const struct field *f = jitter_cpu_table.fields; f < end; f++) {
			int64_t sum = field_get(f, &all), more = field_get(f, &jitter->cpus[i]);

			if (is_greatest(f) || sum < 0) /* below 0: not known */
				sum = more > sum ? more : sum;
			else if (more > 0)
				sum = saturate_add(sum, more);
			field_set(f, &all, sum);
		}
	all.cpu = jitter->n_cpus == 1 ? jitter->cpus[0].cpu : -1;
	return all;
}

double jitter_share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}
