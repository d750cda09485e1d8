/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a jitter run for the book: see jitter_store.h. */
#include "lib/jitter/jitter_store.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/cleanup.h"

#include <errno.h>

/* What is built, and the ids of sources in the book, by their index. */
struct building {
	struct jitter jitter;
	uint32_t *ids;
	int64_t started_ns;
	int cpu;
};

static void building_clear(struct building *b)
{
	jitter_clear(&b->jitter);
	free(b->ids);
}

static int take_ids(
	struct book *book, const struct jitter_sources *sources, struct building *b, struct error *err)
{
	int r = 0;

	b->ids = xcalloc(sources->n + 1, sizeof(*b->ids));
	for (size_t i = 0; r == 0 && i < sources->n; i++)
		r = book_source(book, sources->items[i].name, NULL, sources->items[i].unit,
			sources->items[i].kind, &b->ids[i], err);
	return r;
}

static int add_combinations(struct building *b, const struct jitter_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++)
		for (size_t k = 0; k < sources->items[i].n_parts; k++) {
			struct combination_part *part = array_add(
				b->jitter.combinations, b->jitter.n_combinations);

			*part = (struct combination_part){
				b->ids[i], (uint32_t)k + 1, b->ids[sources->items[i].parts[k]]};
		}
	return 0;
}

static int add_buckets(
	struct building *b, enum jitter_level level, uint32_t source, const struct histogram *histogram)
{
	for (size_t i = 0; i < histogram->n; i++) {
		const struct histogram_bucket *from = &histogram->buckets[i];
		struct jitter_bucket *to = array_add(b->jitter.buckets, b->jitter.n_buckets);

		*to = (struct jitter_bucket){
			b->cpu, level, source, from->low, from->high, from->count, from->total};
	}
	return 0;
}

static int add_rows(struct building *b, enum jitter_level level, const struct source_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct source_statistics *s = &rows->items[i];
		struct jitter_source *row;

		if (s->count == 0)
			continue;
		row = array_add(b->jitter.sources, b->jitter.n_sources);
		if (!row || add_buckets(b, level, b->ids[i], &s->lengths) < 0)
			return -ENOMEM;
		*row = (struct jitter_source){.cpu = b->cpu,
			.level = level,
			.source = b->ids[i],
			.count = s->count,
			.min_ns = s->min_ns,
			.max_ns = s->max_ns,
			.total_ns = s->total_ns,
			.squares_ns2 = s->squares_ns2,
			.rounds = s->rounds,
			.round_squares_ns2 = s->round_squares_ns2,
			.round_steps_ns2 = s->round_steps_ns2,
			.period_ns = source_period(s)};
	}
	return 0;
}

static int add_matches(struct building *b, const struct merge *m)
{
	for (int i = 0; i < MERGE_CLASSES; i++) {
		const struct match_class *class = &m->classes[i];
		struct jitter_match *to;

		if (class->gaps == 0)
			continue;
		to = array_add(b->jitter.matches, b->jitter.n_matches);
		*to = (struct jitter_match){b->cpu, i ? INT64_C(1) << i : 0, INT64_C(2) << i, class->gaps,
			class->matched, class->chance};
	}
	return 0;
}

static int add_part(
	struct building *b, int64_t start_ns, int64_t begun_ns, const struct trace_interval *v, size_t k)
{
	struct interruption_part *part = array_add(b->jitter.parts, b->jitter.n_parts);
	int64_t offset_ns = v->start_ns - begun_ns;

	*part = (struct interruption_part){.cpu = b->cpu,
		.start_ns = start_ns,
		.n = (uint32_t)k + 1,
		.offset_ns = offset_ns > 0 ? offset_ns : 0,
		.length_ns = v->end_ns - v->start_ns,
		.net_ns = v->net_ns,
		.source = b->ids[v->source]};
	return 0;
}

static int add_longest(struct building *b, const struct merge *m)
{
	for (size_t i = 0; i < m->n_longest; i++) {
		const struct long_interruption *from = &m->longest[i];
		struct interruption *to = array_add(b->jitter.longest, b->jitter.n_longest);
		int64_t start_ns = b->started_ns + from->start_ns;

		*to = (struct interruption){.cpu = b->cpu,
			.start_ns = start_ns,
			.length_ns = from->length_ns,
			.source = from->source >= 0 ? b->ids[from->source] : 0};
		for (size_t k = 0; k < from->n_parts; k++)
			if (add_part(b, start_ns, from->start_ns, &from->parts[k], k) < 0)
				return -ENOMEM;
	}
	return 0;
}

struct jitter_cpu jitter_facts(const struct jitter_watched *watched)
{
	const struct merge *m = watched->merge;
	struct residue_sums here = residue_sums(&m->residue), outside = residue_sums(&m->outside);
	struct jitter_cpu cpu = watched->facts;

	cpu.threshold_ns = m->threshold_ns;
	cpu.gaps = m->gaps;
	cpu.gaps_ns = m->gaps_ns;
	cpu.explained = m->explained;
	cpu.explained_ns = m->explained_ns;
	cpu.chance = m->chance;
	cpu.chance_ns = m->chance_ns;
	cpu.periodic = here.periodic + outside.periodic;
	cpu.periodic_ns = here.periodic_ns + outside.periodic_ns;
	cpu.outside_kernel = m->place_known ? outside.rest : -1;
	cpu.outside_kernel_ns = m->place_known ? outside.rest_ns : -1;
	cpu.unexplained = here.rest;
	cpu.unexplained_ns = here.rest_ns;
	cpu.in_no_gap = m->in_no_gap;
	return cpu;
}

static int add_periods(struct building *b, const struct residue *residue, bool outside)
{
	for (const struct residue_period *from = residue->periods; from < residue->periods + RESIDUE_PERIODS;
		from++) {
		struct jitter_period *to;

		if (!residue_period_is_firm(from))
			continue;
		to = array_add(b->jitter.periods, b->jitter.n_periods);
		*to = (struct jitter_period){b->cpu, (uint32_t)b->jitter.n_periods, from->period_ns,
			from->count, from->total_ns, outside};
	}
	return 0;
}

static int add_cpu(struct building *b, const struct jitter_watched *watched)
{
	const struct merge *m = watched->merge;
	struct jitter_cpu *cpu = array_add(b->jitter.cpus, b->jitter.n_cpus);

	*cpu = jitter_facts(watched);
	b->cpu = cpu->cpu;
	return add_buckets(b, JITTER_USER, 0, &m->user) < 0 ||
			       add_buckets(b, JITTER_MASTER, 0, &m->master) < 0 ||
			       add_rows(b, JITTER_TIME, &m->times) < 0 ||
			       add_rows(b, JITTER_FREQUENCY, &m->frequencies) < 0 ||
			       add_periods(b, &m->residue, false) < 0 ||
			       add_periods(b, &m->outside, true) < 0 || add_matches(b, m) < 0 ||
			       add_longest(b, m) < 0
		       ? -ENOMEM
		       : 0;
}

static int build_and_put(struct book *book, int64_t run, const struct jitter_watched *watched, size_t n,
	const struct jitter_sources *sources, struct building *b, struct error *err)
{
	int r = take_ids(book, sources, b, err);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_cpu(b, &watched[i]);
	if (r == 0)
		r = add_combinations(b, sources);
	if (r == -ENOMEM)
		return error_oom(err);
	return r < 0 ? r : book_put_jitter(book, run, &b->jitter, err);
}

static int try_to_store(struct book *book, int64_t run, int64_t started_ns, const struct jitter_watched *watched,
	size_t n, const struct jitter_sources *sources, struct error *err)
{
	_cleanup_(building_clear) struct building b = {.started_ns = started_ns};
	int r = book_begin(book, err);

	if (r < 0)
		return r;
	r = build_and_put(book, run, watched, n, sources, &b, err);
	if (r < 0) {
		book_rollback(book);
		return r;
	}
	return book_commit(book, err);
}

int jitter_store(struct book *book, int64_t run, int64_t started_ns, const struct jitter_watched *watched,
	size_t n, const struct jitter_sources *sources, struct error *err)
{
	int r;

	do
		r = try_to_store(book, run, started_ns, watched, n, sources, err);
	while (book_again(book, r, err));
	return r;
}
