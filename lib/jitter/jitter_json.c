/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run as JSON: see jitter_json.h. */
#include "lib/jitter/jitter_json.h"

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

static json_t *periods_json(const struct jitter *jitter)
{
	json_t *array = json_array();

	for (const struct jitter_period *p = jitter->periods; p < jitter->periods + jitter->n_periods; p++)
		json_array_append_new(
			array, json_pack("{s:i, s:I, s:I, s:I, s:b}", "cpu", p->cpu, "period_ns",
				       (json_int_t)p->period_ns, "count", (json_int_t)p->count, "total_ns",
				       (json_int_t)p->total_ns, "outside_kernel", p->outside_kernel));
	return array;
}

/* null: it is not known which gaps these are. */
static json_t *outside_json(const struct jitter_run *run)
{
	const struct jitter_cpu *all = &run->all;

	if (all->outside_kernel < 0)
		return json_null();
	return json_pack("{s:s, s:I, s:I, s:f}", "name", jitter_run_outside(run), "count",
		(json_int_t)all->outside_kernel, "total_ns", (json_int_t)all->outside_kernel_ns, "time_share",
		ratio(all->outside_kernel_ns, all->sampled_ns));
}

/* time_share is of the sampled time, and neither what has a period nor what is outside the kernel is in it. */
static json_t *residue_json(const struct jitter_run *run)
{
	const struct jitter_cpu *all = &run->all;

	return json_pack("{s:I, s:I, s:f, s:o, s:o, s:o, s:o}", "count", (json_int_t)all->unexplained,
		"total_ns", (json_int_t)all->unexplained_ns, "time_share",
		ratio(all->unexplained_ns, all->sampled_ns), "periods", periods_json(&run->jitter),
		"outside_kernel", outside_json(run), "steal_ns", known(all->steal_ns), "smis",
		known(all->smis));
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

/* What events name. */
static json_t *sources_json(const struct jitter_run *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->frequency.n; i++)
		if (run->frequency.rows[i].source->kind != SOURCE_OUTSIDE)
			json_array_append_new(array, row_json(run, &run->frequency.rows[i]));
	return array;
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
		"{s:O*, s:I, s:s, s:o, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I}, s:o, s:o, s:o, s:o, s:o}",
		"context", run->context, "run", (json_int_t)run->run.id, "state", run_state_word(run->run.state), "cpus",
		cpus_json(&run->jitter), "duration_ns", (json_int_t)duration_ns, "sampled_share",
		ratio(all->sampled_ns, all->wall_ns), "threshold_ns", (json_int_t)all->threshold_ns, "events",
		(json_int_t)all->events, "events_lost", (json_int_t)all->lost, "chain_breaks",
		(json_int_t)all->broken, "event_cost_ns", (json_int_t)all->event_cost_ns, "gaps", "count",
		(json_int_t)all->gaps, "total_ns", (json_int_t)all->gaps_ns, "explained",
		shares(all->explained, all->explained_ns, all), "by_chance",
		shares(all->chance, all->chance_ns, all), "residue", residue_json(run), "sources",
		sources_json(run), "combinations", combinations_json(run));
}
