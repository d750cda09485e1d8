/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's result as JSON: hyperfine's results[] (seconds; wall time in mean and times, of all samples,
 * so that its users' scripts work), and in each an "emp" object with what hyperfine does not know. */
#include "measure/measure.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

static double seconds(double ns)
{
	return ns / 1e9;
}

static json_t *summary_json(const struct summary *s)
{
	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f}", "n", (json_int_t)s->n, "min_ns",
		(json_int_t)s->min_ns, "max_ns", (json_int_t)s->max_ns, "mean_ns", s->mean_ns, "sd_ns",
		s->sd_ns, "relative_error", s->relative_error);
}

static json_t *numbers_json(const uint32_t *numbers, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_integer(numbers[i]));
	return array;
}

static json_t *over_json(const struct discarding *d)
{
	json_t *array = json_array();

	for (size_t i = 0; i < d->n_over; i++) {
		const struct over_cutoff *o = &d->over[i];

		json_array_append_new(
			array, json_pack("{s:I, s:s, s:s*, s:I, s:I}", "sample", (json_int_t)o->sample,
				       "daemon", o->daemon, "unit", o->unit, "pt_ns", (json_int_t)o->pt_ns,
				       "cutoff_ns", (json_int_t)o->cutoff_ns));
	}
	return array;
}

static json_t *emp_json(const struct measured *m)
{
	const struct discarding *d = &m->result;
	json_t *emp = json_pack("{s:I, s:s*, s:s, s:s, s:s, s:b}", "run", (json_int_t)d->run.id, "profile",
		d->run.profile, "environment", m->environment_digest, "backend", d->run.backend, "pt_source",
		d->run.pt_source, "pt_partial", m->cgroup_why != NULL);
	json_t *pt = json_array(), *et = json_array(),
	       *incomplete = numbers_json(d->incomplete, d->n_incomplete);

	for (size_t i = 0; i < m->n_samples; i++) {
		json_array_append_new(pt, json_integer(m->samples[i].pt_ns));
		json_array_append_new(et, json_integer(m->samples[i].et_ns));
	}
	json_object_set_new(emp, "pt", summary_json(&d->pt.clean));
	json_object_set_new(emp, "et", summary_json(&d->et.clean));
	json_object_set_new(emp, "pt_raw", summary_json(&d->pt.raw));
	json_object_set_new(emp, "et_raw", summary_json(&d->et.raw));
	json_object_set_new(emp, "pt_ns", pt);
	json_object_set_new(emp, "et_ns", et);
	json_object_set_new(emp, "by_cutoff", over_json(d));
	json_object_set_new(emp, "by_two_sd", numbers_json(d->pt.by_two_sd, d->pt.n_by_two_sd));
	json_object_set_new(emp, "incomplete", incomplete);
	json_object_set_new(emp, "observer_ns", json_integer(m->observer_ns));
	json_object_set_new(emp, "left_behind", json_integer(m->left_behind));
	if (m->backend_why)
		json_object_set_new(emp, "backend_why", json_string(m->backend_why));
	return emp;
}

static json_t *result_json(const struct measured *m)
{
	const struct summary *et = &m->result.et.raw;
	json_t *times = json_array(), *exit_codes = json_array(), *memory = json_array();
	double user_ns = 0, system_ns = 0;

	for (size_t i = 0; i < m->n_samples; i++) {
		const struct sample *s = &m->samples[i];

		json_array_append_new(times, json_real(seconds((double)s->et_ns)));
		json_array_append_new(exit_codes, json_integer(s->exit_status));
		json_array_append_new(memory, json_integer(s->max_rss_bytes));
		user_ns += (double)s->user_ns / (double)m->n_samples;
		system_ns += (double)s->system_ns / (double)m->n_samples;
	}
	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "command",
		m->command, "mean", seconds(et->mean_ns), "stddev", seconds(et->sd_ns), "median",
		seconds(et->median_ns), "user", seconds(user_ns), "system", seconds(system_ns), "min",
		seconds((double)et->min_ns), "max", seconds((double)et->max_ns), "times", times,
		"memory_usage_byte", memory, "exit_codes", exit_codes, "emp", emp_json(m));
}

int export_document(const struct measured *measured, size_t n, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = json_array();
	json_t *document;

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(results, result_json(&measured[i])) < 0)
			return error_say(err, -EINVAL,
				"the result of '%s' cannot be written as JSON: it is not UTF-8",
				measured[i].command);
	document = json_pack("{s:O}", "results", results);
	if (!document)
		return error_os(err, -ENOMEM, "cannot make a JSON document");
	*ret = document;
	return 0;
}

int export_file(const json_t *document, const char *path, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.new", path);
	_cleanup_(fclosep) FILE *file = fresh ? fopen(fresh, "we") : NULL;
	int r;

	if (!file)
		return error_os(err, -errno, "cannot write '%s'", path);
	r = json_print(document, file, err);
	if (r == 0 && fflush(file) != 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	if (r == 0 && rename(fresh, path) < 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	if (r < 0)
		unlink(fresh);
	return r;
}
