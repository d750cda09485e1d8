/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table I of a jitter run: see jitter_table.h. */
#include "lib/jitter/jitter_table.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/saturate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Rows by the id of their source; those with a count of 0 are not in the table. */
struct tally {
	struct jitter_row *rows;
	double *squares;
	const struct sources *sources;
};

static void tally_clear(struct tally *t)
{
	free(t->rows);
	free(t->squares);
}

static int tally_begin(struct tally *t, const struct sources *sources, struct error *err)
{
	t->sources = sources;
	t->rows = xcalloc(sources->n + 1, sizeof(*t->rows));
	t->squares = xcalloc(sources->n + 1, sizeof(*t->squares));
	return t->rows && t->squares ? 0 : error_oom(err);
}

/* The row of a source: NULL with a sentence if there is no such source. */
static struct jitter_row *row_of(struct tally *t, uint32_t source, struct error *err)
{
	if (source == 0 || source > t->sources->n) {
		error_say(err, -EBADMSG, "the lab book is damaged: it has no source %u", source);
		return NULL;
	}
	t->rows[source - 1].source = &t->sources->items[source - 1];
	return &t->rows[source - 1];
}

static void add(struct jitter_row *row, int64_t count, int64_t total_ns, int64_t min_ns, int64_t max_ns)
{
	row->min_ns = row->count == 0 || min_ns < row->min_ns ? min_ns : row->min_ns;
	row->max_ns = max_ns > row->max_ns ? max_ns : row->max_ns;
	row->count = saturate_add(row->count, count);
	row->total_ns = saturate_add(row->total_ns, total_ns);
}

static int by_total(const void *x, const void *y)
{
	const struct jitter_row *a = x, *b = y;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return strcmp(a->source->name, b->source->name);
}

/* The rows that have something, in order, with what follows from their sums. Shares are of all rows but those of the kind left out. */
static struct jitter_table tally_table(struct tally *t, enum source_kind left_out)
{
	struct jitter_table table = {};

	for (size_t i = 0; i < t->sources->n; i++) {
		struct jitter_row *row = &t->rows[i];
		double n = (double)row->count;

		if (row->count == 0)
			continue;
		row->mean_ns = (double)row->total_ns / n;
		row->sd_ns = n > 1 ? sqrt(fmax(t->squares[i] - n * row->mean_ns * row->mean_ns, 0) / (n - 1))
				   : 0;
		if (row->source->kind != left_out)
			table.total_ns = saturate_add(table.total_ns, row->total_ns);
		t->rows[table.n++] = *row;
	}
	table.rows = TAKE(t->rows);
	for (size_t i = 0; i < table.n && table.total_ns > 0; i++)
		if (table.rows[i].source->kind != left_out)
			table.rows[i].share = (double)table.rows[i].total_ns / (double)table.total_ns;
	qsort(table.rows, table.n, sizeof(*table.rows), by_total);
	return table;
}

int jitter_table_make(struct jitter_table *ret, const struct jitter *jitter, enum jitter_level level,
	const struct sources *sources, struct error *err)
{
	_cleanup_(tally_clear) struct tally t = {};
	int r = tally_begin(&t, sources, err);

	for (size_t i = 0; r == 0 && i < jitter->n_sources; i++) {
		const struct jitter_source *s = &jitter->sources[i];
		struct jitter_row *row;

		if (s->level != level)
			continue;
		row = row_of(&t, s->source, err);
		if (!row)
			return -EBADMSG;
		add(row, s->count, s->total_ns, s->min_ns, s->max_ns);
		row->period_ns = row->period_ns > s->period_ns ? row->period_ns : s->period_ns;
		row->rounds += (double)s->rounds;
		row->round_squares_ns2 += s->round_squares_ns2;
		row->round_steps_ns2 += s->round_steps_ns2;
		t.squares[s->source - 1] += s->squares_ns2;
	}
	if (r == 0)
		*ret = tally_table(&t, SOURCE_OUTSIDE);
	return r;
}

static bool overlaps(const struct jitter_bucket *b, int64_t low_ns, int64_t high_ns)
{
	return b->high_ns > low_ns && b->low_ns <= high_ns;
}

int jitter_peak_make(struct jitter_peak *ret, const struct jitter *jitter, int64_t low_ns, int64_t high_ns,
	const struct sources *sources, struct error *err)
{
	_cleanup_(tally_clear) struct tally t = {};
	struct jitter_peak peak = {low_ns, high_ns, {}, 0, 0};
	int r = tally_begin(&t, sources, err);

	for (size_t i = 0; r == 0 && i < jitter->n_buckets; i++) {
		const struct jitter_bucket *b = &jitter->buckets[i];
		struct jitter_row *row;

		if (!overlaps(b, low_ns, high_ns) || (b->level != JITTER_TIME && b->level != JITTER_USER))
			continue;
		peak.low_ns = b->low_ns < peak.low_ns ? b->low_ns : peak.low_ns;
		peak.high_ns = b->high_ns > peak.high_ns ? b->high_ns : peak.high_ns;
		if (b->level == JITTER_USER) {
			peak.gaps = saturate_add(peak.gaps, b->count);
			peak.gaps_ns = saturate_add(peak.gaps_ns, b->total_ns);
			continue;
		}
		row = row_of(&t, b->source, err);
		if (!row)
			return -EBADMSG;
		add(row, b->count, b->total_ns, b->low_ns, b->high_ns);
	}
	if (r < 0)
		return r;
	peak.table = tally_table(&t, N_SOURCE_KINDS);
	*ret = peak;
	return 0;
}

void jitter_table_clear(struct jitter_table *table)
{
	free(table->rows);
	*table = (struct jitter_table){};
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* -1: not known. */
static int64_t sum_known(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : saturate_add(a, b);
}

struct jitter_cpu jitter_all_cpus(const struct jitter *jitter)
{
	struct jitter_cpu all = {.cpu = jitter->n_cpus == 1 ? jitter->cpus[0].cpu : -1,
		.outside_kernel = -1,
		.outside_kernel_ns = -1,
		.steal_ns = -1,
		.smis = -1};

	for (const struct jitter_cpu *c = jitter->cpus; c < jitter->cpus + jitter->n_cpus; c++) {
#define SUM(member) all.member = saturate_add(all.member, c->member)
		SUM(rounds), SUM(wall_ns), SUM(sampled_ns), SUM(gaps), SUM(gaps_ns);
		SUM(explained), SUM(explained_ns), SUM(chance), SUM(chance_ns), SUM(periodic),
			SUM(periodic_ns);
		SUM(unexplained), SUM(unexplained_ns), SUM(events), SUM(lost), SUM(broken), SUM(in_no_gap);
#undef SUM
		all.smallest_gap_ns = greater(all.smallest_gap_ns, c->smallest_gap_ns);
		all.threshold_ns = greater(all.threshold_ns, c->threshold_ns);
		all.outside_kernel = sum_known(all.outside_kernel, c->outside_kernel);
		all.outside_kernel_ns = sum_known(all.outside_kernel_ns, c->outside_kernel_ns);
		all.steal_ns = sum_known(all.steal_ns, c->steal_ns);
		all.smis = sum_known(all.smis, c->smis);
		all.event_cost_ns = greater(all.event_cost_ns, c->event_cost_ns);
	}
	return all;
}
