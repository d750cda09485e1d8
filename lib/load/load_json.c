/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load as an emp-load document: see load_report.h. */
#include "lib/base/json.h"
#include "lib/load/load_report.h"
#include "lib/report/results.h"

#include <math.h>

enum { VERSION = 1 };

/* One run of the load. */
struct one_run {
	const struct sample *sample;
	const struct load_sample *start;    /* NULL: not known */
	const struct sample_program *parts; /* its slaves */
	size_t n_parts;
};

static json_t *rate_json(const struct load_rate *rate)
{
	const struct summary *s = &rate->summary;

	return json_pack("{s:o, s:o, s:o}", "mean", json_real_or_null(s->n > 0 ? s->mean_ns / 1e9 : NAN),
		"sd", json_real_or_null(s->n > 1 ? s->sd_ns / 1e9 : NAN), "interval",
		json_interval(rate->interval.low_ns / 1e9, rate->interval.high_ns / 1e9));
}

static json_t *scripts_json(const struct load_report *p)
{
	json_t *array = json_array();

	for (size_t i = 1; i < p->rates.n; i++)
		json_array_append_new(array,
			json_pack("{s:s, s:o, s:I}", "script", p->rates.items[i].script, "rate_per_s",
				rate_json(&p->rates.items[i]), "share", (json_int_t)p->rates.items[i].share));
	return array;
}

static void set_known(json_t *object, const char *name, int64_t value)
{
	if (value >= 0)
		json_object_set_new(object, name, json_integer(value));
}

static json_t *slave_json(const struct load_report *p, const struct sample_program *part)
{
	json_t *object = json_pack("{s:I, s:s}", "slave", (json_int_t)part->program, "script",
		p->programs[part->program - 1].name);

	set_known(object, "repetitions", part->repetitions);
	set_known(object, "pt_ns", part->pt_ns);
	set_known(object, "et_ns", part->et_ns);
	set_known(object, "finished_ns", part->finished_ns);
	set_known(object, "user_ns", part->user_ns);
	set_known(object, "system_ns", part->system_ns);
	set_known(object, "wait_ns", part->wait_ns);
	set_known(object, "io_wait_ns", part->io_wait_ns);
	set_known(object, "major_faults", part->major_faults);
	set_known(object, "max_rss_bytes", part->max_rss_bytes);
	return object;
}

static json_t *slaves_json(const struct load_report *p, const struct one_run *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_parts; i++)
		json_array_append_new(array, slave_json(p, &run->parts[i]));
	return array;
}

/* The numbers of the slaves, the first to finish first. */
static json_t *finish_order_json(const struct one_run *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_parts; i++) {
		size_t before = 0;

		for (size_t k = 0; k < i; k++)
			before += run->parts[k].finished_ns <= run->parts[i].finished_ns;
		json_array_insert_new(array, before, json_integer(run->parts[i].program));
	}
	return array;
}

static void set_starts(json_t *object, const struct one_run *run)
{
	int64_t first_ns = INT64_MAX, last_ns = 0;

	for (size_t i = 0; i < run->n_parts; i++) {
		int64_t start_ns = run->parts[i].start_ns;

		first_ns = start_ns < first_ns ? start_ns : first_ns;
		last_ns = start_ns > last_ns ? start_ns : last_ns;
	}
	if (run->n_parts > 0) {
		set_known(object, "start_spread_ns", last_ns - first_ns);
		set_known(object, "last_start_ns", last_ns - run->sample->start_ns);
	}
	if (run->start) {
		set_known(object, "release_ns", run->start->release_ns);
		set_known(object, "driver_ns", run->start->driver_ns);
		set_known(object, "idle_ns", run->start->idle_ns);
		set_known(object, "cpus", run->start->cpus);
		json_object_set_new(
			object, "idle_share", json_real_or_null(load_idle_share(run->start, run->sample)));
	}
}

/* all: the rates of all runs; k: of them, this one. */
static json_t *script_rates_json(const struct load_rates *all, size_t k)
{
	json_t *array = json_array();

	for (size_t i = 1; i < all->n; i++)
		json_array_append_new(array, json_pack("{s:s, s:f}", "script", all->items[i].script,
						     "rate_per_s", (double)all->items[i].nano[k] / 1e9));
	return array;
}

static json_t *run_json(
	const struct load_report *p, const struct one_run *run, const struct load_rates *all, size_t k)
{
	json_t *object = json_pack("{s:I, s:b, s:f, s:I}", "run", (json_int_t)run->sample->n, "kept",
		!p->result.discarding.out[k], "rate_per_s", (double)all->sum.nano[k] / 1e9, "time_to_last_ns",
		(json_int_t)run->sample->et_ns);

	set_starts(object, run);
	if (load_rates_in_shares(all))
		json_object_set_new(object, "shares_per_s", json_real((double)all->items[0].nano[k] / 1e9));
	json_object_set_new(object, "finish_order", finish_order_json(run));
	json_object_set_new(object, "scripts", script_rates_json(all, k));
	json_object_set_new(object, "slaves", slaves_json(p, run));
	return object;
}

/* The rows of the sample: those of the book are in the order of samples. */
static struct one_run find_run(
	const struct load_report *p, const struct sample *sample, size_t *part, size_t *start)
{
	struct one_run run = {.sample = sample};

	while (*start < p->n_starts && p->starts[*start].sample < sample->n)
		(*start)++;
	if (*start < p->n_starts && p->starts[*start].sample == sample->n)
		run.start = &p->starts[*start];
	while (*part < p->n_parts && p->parts[*part].sample < sample->n)
		(*part)++;
	run.parts = &p->parts[*part];
	while (*part < p->n_parts && p->parts[*part].sample == sample->n)
		(*part)++, run.n_parts++;
	return run;
}

static json_t *runs_json(const struct load_report *p)
{
	_cleanup_(load_rates_clear) struct load_rates all = {};
	const struct run_result *result = &p->result;
	size_t part = 0, start = 0;
	struct error ignored;
	json_t *array;

	if (load_report_rates(p, result->samples, result->n_samples, NULL, &all, &ignored) < 0)
		return NULL;
	array = json_array();
	for (size_t k = 0; k < result->n_samples; k++) {
		struct one_run run = find_run(p, &result->samples[k], &part, &start);

		json_array_append_new(array, run_json(p, &run, &all, k));
	}
	return array;
}

/* Of the runs together. The number of the run in the book is a member of the load. */
static json_t *load_discarding_json(const struct load_report *p)
{
	json_t *object = discarding_as_json(&p->result.discarding);

	json_object_del(object, "run");
	return object;
}

json_t *load_report_as_json(const struct load_report *p)
{
	const struct run *run = &p->result.discarding.run;

	return json_pack("{s:s, s:i, s:O*, s:I, s:s, s:s, s:s*, s:o, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:o}", "format",
		"emp-load", "version", VERSION, "context", p->context, "run", (json_int_t)run->id, "load", run->program,
		"coordination", coordination_names[p->load.coordination], "cpus", p->load.cpus, "runs",
		runs_json(p), "rate_per_s", rate_json(&p->rates.sum), "shares_per_s",
		load_rates_in_shares(&p->rates) ? rate_json(&p->rates.items[0]) : NULL, "scripts",
		scripts_json(p), "order_changed", json_real_or_null(p->rates.order_changed), "idle_share",
		json_real_or_null(p->idle), "page_waits",
		page_wait_report_as_json(&p->page_wait_report, p->load.no_page_waits), "discarding",
		load_discarding_json(p), "warnings", notes_as_json(&p->notes));
}
