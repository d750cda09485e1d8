/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run as JSON: see jitter_json.h. */
#include "lib/report/jitter_json.h"

#include "lib/base/text.h"

#include <math.h>

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static json_t *shares(int64_t count, int64_t ns, const struct jitter_cpu *cpu)
{
	return json_pack("{s:I, s:I, s:f, s:f}", "count", (json_int_t)count, "total_ns", (json_int_t)ns,
		"count_share", ratio(count, cpu->gaps), "time_share", ratio(ns, cpu->gaps_ns));
}

static json_t *cpus_json(const struct jitter *jitter)
{
	json_t *array = json_array();

	for (size_t i = 0; i < jitter->n_cpus; i++)
		json_array_append_new(array, json_integer(jitter->cpus[i].cpu));
	return array;
}

/* -1: not known. */
static json_t *known(int64_t value)
{
	return value >= 0 ? json_integer(value) : json_null();
}

/* time_share is of the sampled time, and neither what has a period nor what is too short for this kernel is in it. */
static json_t *residue_json(const struct jitter_run *run)
{
	json_t *periods = json_array();

	for (const struct jitter_cpu *c = run->jitter.cpus; c < run->jitter.cpus + run->jitter.n_cpus; c++)
		if (c->period_ns > 0)
			json_array_append_new(
				periods, json_pack("{s:i, s:I, s:I, s:I}", "cpu", c->cpu, "period_ns",
						 (json_int_t)c->period_ns, "count", (json_int_t)c->periodic,
						 "total_ns", (json_int_t)c->periodic_ns));
	return json_pack("{s:I, s:I, s:f, s:o, s:{s:I, s:I, s:I, s:f}, s:o, s:o}", "count",
		(json_int_t)run->all.unexplained, "total_ns", (json_int_t)run->all.unexplained_ns,
		"time_share", ratio(run->all.unexplained_ns, run->all.sampled_ns), "periods", periods,
		"too_short", "below_ns", (json_int_t)run->all.shortest_ns, "count",
		(json_int_t)run->all.too_short, "total_ns", (json_int_t)run->all.too_short_ns, "time_share",
		ratio(run->all.too_short_ns, run->all.sampled_ns), "steal_ns", known(run->all.steal_ns),
		"smis", known(run->all.smis));
}

static json_t *row_json(const struct jitter_run *run, const struct jitter_row *row)
{
	const struct remedy remedy = jitter_run_remedy(run, row->source);

	return json_pack("{s:s, s:s, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:{s:s, s:s}}", "name",
		row->source->name, "kind", source_kind_names[row->source->kind], "unit", row->source->unit,
		"count", (json_int_t)row->count, "min_ns", (json_int_t)row->min_ns, "max_ns",
		(json_int_t)row->max_ns, "mean_ns", (json_int_t)llround(row->mean_ns), "sd_ns",
		(json_int_t)llround(row->sd_ns), "total_ns", (json_int_t)row->total_ns, "share", row->share,
		"period_ns", row->period_ns > 0 ? json_integer(row->period_ns) : json_null(), "remedy",
		"kind", remedy_kind_names[remedy.kind], "how", remedy.how);
}

json_t *jitter_table_as_json(const struct jitter_run *run, const struct jitter_table *table)
{
	json_t *array = json_array();

	for (size_t i = 0; i < table->n; i++)
		json_array_append_new(array, row_json(run, &table->rows[i]));
	return array;
}

static json_t *parts_json(const struct jitter_run *run, int64_t combination)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->jitter.n_combinations; i++) {
		const struct combination_part *part = &run->jitter.combinations[i];

		if (part->combination == combination && part->source <= run->sources.n)
			json_array_append_new(array, json_string(run->sources.items[part->source - 1].name));
	}
	return array;
}

/* Those of the time domain, with the same members as sources, and their parts. */
static json_t *combinations_json(const struct jitter_run *run)
{
	json_t *array = json_array();

	for (const struct jitter_row *row = run->time.rows; row < run->time.rows + run->time.n; row++) {
		json_t *object = row->source->kind == SOURCE_COMBINATION ? row_json(run, row) : NULL;

		if (!object)
			continue;
		json_object_del(object, "remedy");
		json_object_set_new(object, "parts", parts_json(run, row->source->id));
		json_array_append_new(array, object);
	}
	return array;
}

json_t *jitter_as_json(const struct jitter_run *run)
{
	const struct jitter_cpu *all = &run->all;
	int64_t duration_ns = 0;

	for (size_t i = 0; i < run->jitter.n_cpus; i++)
		duration_ns = run->jitter.cpus[i].wall_ns > duration_ns ? run->jitter.cpus[i].wall_ns
									: duration_ns;
	return json_pack(
		"{s:I, s:s, s:o, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I}, s:o, s:o, s:o, s:o, s:o}",
		"run", (json_int_t)run->run.id, "state", run_state_names[run->run.state], "cpus",
		cpus_json(&run->jitter), "duration_ns", (json_int_t)duration_ns, "sampled_share",
		ratio(all->sampled_ns, all->wall_ns), "threshold_ns", (json_int_t)all->threshold_ns, "events",
		(json_int_t)all->events, "events_lost", (json_int_t)all->lost, "chain_breaks",
		(json_int_t)all->broken, "event_cost_ns", (json_int_t)all->event_cost_ns, "gaps", "count",
		(json_int_t)all->gaps, "total_ns", (json_int_t)all->gaps_ns, "explained",
		shares(all->explained, all->explained_ns, all), "by_chance",
		shares(all->chance, all->chance_ns, all), "residue", residue_json(run), "sources",
		jitter_table_as_json(run, &run->frequency), "combinations", combinations_json(run));
}
