/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a load as an emp-load document: see load_report.h. */
#include "lib/base/json.h"
#include "lib/report/load/load_report.h"
#include "lib/report/results_json.h"

#include <math.h>

enum { VERSION = 1 };

static json_t *rates_per_s(const struct load_rate *rate)
{
	json_t *array = json_array();

	for (size_t i = 0; i < rate->summary.n; i++)
		json_array_append_new(array, json_real((double)rate->nano[i] / 1e9));
	return array;
}

static json_t *rate_json(const struct load_rate *rate)
{
	json_t *object = json_pack("{s:I, s:f, s:f, s:o}", "slaves", (json_int_t)rate->slaves, "mean_per_s",
		rate->summary.mean_ns / 1e9, "sd_per_s", rate->summary.sd_ns / 1e9, "runs_per_s",
		rates_per_s(rate));

	if (rate->script)
		json_object_set_new(object, "script", json_string(rate->script));
	if (rate->summary.n > 1) {
		json_object_set_new(object, "ci95_low_per_s", json_real(rate->interval.low_ns / 1e9));
		json_object_set_new(object, "ci95_high_per_s", json_real(rate->interval.high_ns / 1e9));
	}
	return object;
}

static void set_known(json_t *object, const char *name, int64_t value)
{
	if (value >= 0)
		json_object_set_new(object, name, json_integer(value));
}

static json_t *part_json(const struct load_report *p, const struct sample_program *part)
{
	json_t *object = json_pack("{s:I, s:I, s:s, s:I, s:I}", "sample", (json_int_t)part->sample, "slave",
		(json_int_t)part->program, "script", p->programs[part->program - 1].name, "last_ns",
		(json_int_t)part->et_ns, "pt_ns", (json_int_t)part->pt_ns);

	set_known(object, "repetitions", part->repetitions);
	set_known(object, "finished_ns", part->finished_ns);
	set_known(object, "user_ns", part->user_ns);
	set_known(object, "system_ns", part->system_ns);
	set_known(object, "wait_ns", part->wait_ns);
	set_known(object, "io_wait_ns", part->io_wait_ns);
	set_known(object, "major_faults", part->major_faults);
	set_known(object, "max_rss_bytes", part->max_rss_bytes);
	return object;
}

static json_t *scripts_json(const struct load_report *p)
{
	json_t *array = json_array();

	for (size_t i = 1; i < p->rates.n; i++)
		json_array_append_new(array, rate_json(&p->rates.items[i]));
	return array;
}

static json_t *slaves_json(const struct load_report *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->n_parts; i++)
		json_array_append_new(array, part_json(p, &p->parts[i]));
	return array;
}

static json_t *times_json(const struct load_report *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->n_kept; i++)
		json_array_append_new(array, json_integer(p->kept[i].et_ns));
	return array;
}

json_t *load_report_as_json(const struct load_report *p)
{
	const struct run *run = &p->result.discarding.run;
	double changed = p->rates.order_changed;

	return json_pack(
		"{s:s, s:i, s:I, s:s, s:s, s:s*, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"format", "emp-load", "version", VERSION, "run", (json_int_t)run->id, "load", run->program,
		"coordination", coordination_names[p->load.coordination], "cpus", p->load.cpus, "runs",
		(json_int_t)p->result.n_samples, "kept", (json_int_t)p->n_kept, "release_ns",
		(json_int_t)p->release_ns, "last_start_ns", (json_int_t)p->last_start_ns, "driver_ns",
		(json_int_t)p->driver_ns, "order_changed", isnan(changed) ? json_null() : json_real(changed),
		"rate", rate_json(&p->rates.items[0]), "scripts", scripts_json(p), "et_ns", times_json(p),
		"slaves", slaves_json(p), "page_waits",
		page_wait_report_as_json(&p->page_wait_report, p->load.no_page_waits), "discarding", discarding_as_json(&p->result.discarding));
}
