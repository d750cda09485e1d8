/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as a JSON document: see export.h. */
#include "measure/export.h"

#include "measure/comparisons.h"
#include "measure/perf.h"
#include "measure/trace.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/document/document.h"
#include "lib/report/comparison_report.h"
#include "lib/duet/duet_report.h"
#include "lib/report/results.h"
#include "lib/record/peak_memory.h"

#include <math.h>

enum { VERSION = 1 };

static json_t *clock_json(const struct result *r, size_t offset)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->run.n_samples; i++)
		json_array_append_new(
			array, json_integer(*(const int64_t *)((const char *)&r->run.samples[i] + offset)));
	return array;
}

/* The starts as text, for people and for programs that read numbers as doubles. */
static json_t *starts_json(const struct result *r)
{
	json_t *array = json_array();
	char start[TEXT_TIME_SIZE];

	for (size_t i = 0; i < r->run.n_samples; i++)
		json_array_append_new(array, json_string(text_rfc3339(start, r->run.samples[i].start_ns)));
	return array;
}

/* Share of ET that the program was not on a CPU, in all samples; below 0 where it ran on several. */
static double off_cpu(const struct result *result)
{
	const struct run_result *run = &result->run;
	double et = 0, pt = 0;

	for (size_t i = 0; i < run->n_samples; i++) {
		et += (double)run->samples[i].et_ns;
		pt += (double)run->samples[i].pt_ns;
	}
	return et > 0 ? 1 - pt / et : 0;
}

static json_t *warnings_json(const struct session *s, const struct result *r)
{
	_cleanup_(notes_clear) struct notes all = {};

	notes_add_all(&all, &r->notes);
	notes_add_all(&all, &s->notes);
	return notes_as_json(&all);
}

/* The members of discarding_as_json (run, by_cutoff, by_two_sd, incomplete, pt, et), and more. */
static json_t *emp_json(const struct session *s, const struct task *t)
{
	const struct result *r = &t->result;
	const struct peak_memory memory = peak_memory_of(
		r->run.samples, r->run.discarding.out, r->run.n_samples);
	_cleanup_(freep) char *typed = text_utf8(r->command->text);
	json_t *emp = discarding_as_json(&r->run.discarding);
	const struct observer *o = &s->base.observer;

	json_object_set_new(
		emp, "profile", s->options->profile ? json_string(s->options->profile) : json_null());
	json_object_set_new(emp, "environment", json_string(s->base.environment_digest));
	json_object_set_new(emp, "profile_environment",
		s->profile.environment_digest ? json_string(s->profile.environment_digest) : json_null());
	json_object_set_new(emp, "environment_changes",
		s->environment_changes ? json_string(s->environment_changes) : json_null());
	json_object_set_new(emp, "backend", json_string(observer_backend_name(o)));
	json_object_set_new(emp, "pt_source", json_string(observer_pt_source(o)));
	json_object_set_new(emp, "wait_source", json_string(observer_wait_source(o)));
	json_object_set_new(emp, "pt_partial", json_boolean(!o->cgroup));
	json_object_set_new(emp, "start_ns", clock_json(r, offsetof(struct sample, start_ns)));
	json_object_set_new(emp, "start", starts_json(r));
	json_object_set_new(emp, "pt_ns", clock_json(r, offsetof(struct sample, pt_ns)));
	json_object_set_new(emp, "et_ns", clock_json(r, offsetof(struct sample, et_ns)));
	json_object_set_new(emp, "user_ns", clock_json(r, offsetof(struct sample, user_ns)));
	json_object_set_new(emp, "system_ns", clock_json(r, offsetof(struct sample, system_ns)));
	json_object_set(emp, "pt_interval_ns",
		json_object_get(json_object_get(json_object_get(emp, "pt"), "kept"), "interval_ns"));
	json_object_set_new(emp, "peak_memory", peak_memory_as_json(&memory));
	json_object_set_new(emp, "command", json_string(typed ?: ""));
	json_object_set_new(emp, "off_cpu", json_real(off_cpu(r)));
	json_object_set_new(emp, "others", others_as_json(&r->run.discarding.others, false));
	json_object_set_new(emp, "unprofiled",
		s->options->profile ? others_as_json(&r->run.discarding.others, true) : json_array());
	json_object_set(emp, "not_in_profile", json_object_get(emp, "unprofiled"));

	/* One object per sample, null if nothing is known. */
	json_t *array = json_array();

	for (size_t i = 0; i < r->run.n_counters; i++)
		json_array_append_new(array, r->run.counters[i].changes.known
						     ? document_make_counters(&r->run.counters[i].changes)
						     : json_null());
	json_object_set_new(emp, "disturbance_counters", array);
	json_object_set_new(emp, "warnings", warnings_json(s, r));
	json_object_set_new(emp, "observer_ns", json_integer(r->observer_ns));
	json_object_set_new(emp, "before_exec_ns", json_integer(r->before_ns));
	json_object_set_new(emp, "left_behind", json_integer(r->left_behind));
	json_object_set_new(emp, "escaped", json_integer(r->escaped));
	if (s->perf)
		json_object_set_new(emp, "perf", perf_json(s, t));
	if (s->trace)
		json_object_set_new(emp, "trace", trace_json(s, t));
	if (r->inc.increments > 0)
		json_object_set_new(emp, "inc_units", inc_units_as_json(&r->inc));
	return emp;
}

/* hyperfine's members: the elapsed times of all samples in seconds. */
static json_t *result_json(const struct session *s, const struct task *t)
{
	const struct result *r = &t->result;
	const struct summary *et = &r->run.discarding.et.raw;
	json_t *times = json_array(), *exit_codes = json_array(), *memory = json_array(), *result;
	struct result_means means = result_means(r);

	for (size_t i = 0; i < r->run.n_samples; i++) {
		json_array_append_new(times, json_real((double)r->run.samples[i].et_ns / 1e9));
		json_array_append_new(exit_codes, json_integer(r->run.samples[i].exit_status));
		json_array_append_new(memory, json_integer(r->run.samples[i].max_rss_bytes));
	}
	result = json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "command", r->name,
		"mean", et->mean_ns / 1e9, "stddev", et->sd_ns / 1e9, "median", et->median_ns / 1e9, "user",
		means.user_ns / 1e9, "system", means.system_ns / 1e9, "min", (double)et->min_ns / 1e9, "max",
		(double)et->max_ns / 1e9, "times", times, "memory_usage_byte", memory, "exit_codes",
		exit_codes);
	if (r->command->values && *r->command->values) {
		json_t *object = json_object();

		for (size_t i = 0; i < s->options->parameters.n; i++) {
			_cleanup_(freep) char *name = text_utf8(s->options->parameters.items[i].name);
			_cleanup_(freep) char *value = text_utf8(r->command->values[i]);

			if (name && value)
				json_object_set_new(object, name, json_string(value));
		}
		json_object_set_new(result, "parameters", object);
	}
	if (json_object_set_new(result, "emp", emp_json(s, t)) == 0)
		return result;
	json_decref(result);
	return NULL;
}

/* One for each command: of PT, with that of ET as a member where that is compared as well, or of ET. */
static int comparisons_json(const struct session *s, json_t *array, struct error *err)
{
	_cleanup_(comparisons_clear) struct comparisons comparisons = {};
	int r = comparisons_make(s, &comparisons, err);

	for (size_t i = 1; r == 0 && i < session_n_shown(s); i++) {
		const struct comparison *pt = comparisons_of(&comparisons, COMPARISON_PT, i),
					*et = comparisons_of(&comparisons, COMPARISON_ET, i);
		const char *a = s->tasks[0].name, *b = s->tasks[i].name;
		json_t *of_pt = pt->a.n > 0 ? comparison_as_json(a, b, pt) : NULL,
		       *of_et = et->a.n > 0 ? comparison_as_json(a, b, et) : NULL;

		if (of_pt && of_et)
			json_object_set_new(of_pt, "et", of_et);
		if (of_pt || of_et)
			json_array_append_new(array, of_pt ?: of_et);
	}
	return r;
}

static int export_json(const struct session *s, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = json_array(), *comparisons = json_array(), *context = NULL;
	int r;

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.run.n_samples > 0 &&
			json_array_append_new(results, result_json(s, &s->tasks[i])) < 0)
			return error_oom(err);
	r = comparisons_json(s, comparisons, err);
	if (r < 0)
		return r;
	if (s->base.book)
		r = document_make_context(
			s->base.book, s->base.environment, s->tasks[0].run.started_ns, &context, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:s, s:i, s:O*, s:O, s:O}", "format", "emp-measure", "version", VERSION, "context",
		context, "results", results, "comparisons", comparisons);
	if (*ret && s->options->order == ORDER_DUET) {
		_cleanup_(duet_report_clear) struct duet_report report = {};
		_cleanup_(freep) const char **names = session_names(s);
		json_t *duet, *in_turn;

		r = session_duet(s, &report, err);
		if (r <= 0)
			return r;
		in_turn = json_array();
		for (size_t i = 0; session_judged(s) != s && i < s->in_turn->n; i++)
			json_array_append_new(in_turn, json_integer(s->in_turn->tasks[i].run.id));
		duet = duet_report_as_json(&report, names);
		json_object_set_new(
			duet, "doubt", s->doubt ? json_string(duet_doubt_names[s->doubt]) : json_null());
		json_object_set_new(duet, "verdict_from",
			json_string(s->doubt == DUET_SOUND   ? "duet"
				    : session_judged(s) != s ? "in turn"
							     : "alone"));
		json_object_set_new(duet, "runs_in_turn", in_turn);
		return json_object_set_new(*ret, "duet", duet) < 0 ? error_oom(err) : 0;
	}
	if (*ret && s->n > 1) {
		struct duet_advice advice = advice_of(s);
		json_t *object;

		/* "duet" where a duet would show more, else null; and what that was decided by. */
		object = json_pack("{s:s?, s:o, s:o}", "order", advice.better ? "duet" : NULL,
			"times_as_narrow", json_real_or_null(advice.narrower), "p",
			json_real_or_null(advice.p));
		return json_object_set_new(*ret, "advice", object) < 0 ? error_oom(err) : 0;
	}
	return *ret ? 0 : error_oom(err);
}

int export_write_json(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = export_json(s, &document, err);

	return r < 0 ? r : json_print(document, file, err);
}
