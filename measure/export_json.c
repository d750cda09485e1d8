/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as JSON: see export_json.h. */
#include "measure/export_json.h"

#include "measure/perf_counts.h"
#include "measure/session_compare.h"
#include "measure/shell_start.h"
#include "lib/document/document.h"
#include "lib/jitter/program_trace.h"
#include "lib/record/peak_memory.h"
#include "lib/report/comparison_report.h"
#include "lib/report/results.h"
#include "lib/report/screen.h"

/* A value of each sample, by its offset in struct sample, where it is an int64_t. */
static json_t *sample_values(const struct run_result *run, size_t offset)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_samples; i++) {
		const char *sample = (const char *)&run->samples[i];

		json_array_append_new(array, json_integer(*(const int64_t *)(sample + offset)));
	}
	return array;
}

/* The same; null where it is not known, -1. */
static json_t *known_values(const struct run_result *run, size_t offset)
{
	json_t *array = sample_values(run, offset), *value;
	size_t i;

	json_array_foreach (array, i, value)
		if (json_integer_value(value) < 0)
			json_array_set_new(array, i, json_null());
	return array;
}

/* When each sample started: as text, for people and for programs that read numbers as doubles. */
static json_t *started_text(const struct run_result *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_samples; i++)
		json_array_append_new(array, json_string(text_rfc3339(run->samples[i].start_ns)));
	return array;
}

/* The numbers of the samples whose end was seen late. */
static json_t *late_samples(const struct run_result *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_samples; i++)
		if (sample_is_late(&run->samples[i]))
			json_array_append_new(array, json_integer(run->samples[i].n));
	return array;
}

/* The share of ET that the program was not on a CPU, in all samples that are whole; below 0 where
 * it ran on several. */
static json_t *off_cpu_share(const struct run_result *run)
{
	double sum_et_ns = 0, sum_pt_ns = 0;

	for (size_t i = 0; i < run->n_samples; i++) {
		const struct sample *sample = &run->samples[i];

		if (!sample_is_whole(sample))
			continue;
		sum_et_ns += (double)sample->et_ns;
		sum_pt_ns += (double)sample->pt_ns;
	}
	return json_real_or_null(1 - sum_pt_ns / sum_et_ns);
}

/* The kernel's counters of each sample; null if nothing is known. */
static json_t *counters_json(const struct run_result *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_counters; i++) {
		const struct counters *counters = &run->counters[i];
		bool known = counters_know_any(counters);

		json_array_append_new(
			array, known ? document_new(&counters_table, counters) : json_null());
	}
	return array;
}

/* The profile, the environment, and how the times were taken. */
static void add_conditions(json_t *emp, const struct session *s, const struct task *t)
{
	const struct run *run = &t->result.discarding.run;
	const struct observer *o = &s->base.observer;
	_cleanup_(freep) char *profile = text_utf8(s->options->profile);
	_cleanup_(freep) char *changes = text_utf8(s->environment_changes);

	json_object_set_new(emp, "profile", json_text(profile));
	json_object_set_new(emp, "environment", json_string(s->base.environment_digest));
	json_object_set_new(emp, "profile_environment", json_text(s->profile.environment_digest));
	json_object_set_new(emp, "environment_changes", json_text(changes));
	json_object_set_new(emp, "backend", json_string(o->backend));
	json_object_set_new(emp, "pt_source", json_string(o->pt_source));
	json_object_set_new(emp, "wait_source", json_string(t->run.wait_source));
	json_object_set_new(emp, "pt_partial", json_boolean(!o->cgroup));
	json_object_set_new(emp, "call", json_text(run->owner));
	json_object_set_new(emp, "cpu", json_int_if(run->cpu >= 0, run->cpu));
}

/* The values of each sample. */
static void add_samples(json_t *emp, const struct run_result *run)
{
	const json_t *pt = json_object_get(json_object_get(emp, "pt"), "kept");

	json_object_set_new(emp, "start_ns", sample_values(run, offsetof(struct sample, start_ns)));
	json_object_set_new(emp, "start", started_text(run));
	json_object_set_new(emp, "pt_ns", sample_values(run, offsetof(struct sample, pt_ns)));
	json_object_set_new(emp, "et_ns", sample_values(run, offsetof(struct sample, et_ns)));
	json_object_set_new(emp, "wait_ns", known_values(run, offsetof(struct sample, wait_ns)));
	json_object_set_new(emp, "user_ns", sample_values(run, offsetof(struct sample, user_ns)));
	json_object_set_new(
		emp, "system_ns", sample_values(run, offsetof(struct sample, system_ns)));
	json_object_set_new(
		emp, "neighbour_ppm", known_values(run, offsetof(struct sample, neighbour_ppm)));
	json_object_set_new(emp, "neighbour_error_ppm",
		known_values(run, offsetof(struct sample, neighbour_error_ppm)));
	json_object_set_new(emp, "probe_ns", known_values(run, offsetof(struct sample, probe_ns)));
	json_object_set_new(emp, "ended_late", late_samples(run));
	json_object_set(emp, "pt_interval_ns", json_object_get(pt, "interval_ns"));
}

/* Who else ran, and what may have disturbed the samples. */
static void add_disturbances(json_t *emp, const struct session *s, const struct task *t)
{
	const struct discarding *d = &t->result.discarding;
	json_t *unprofiled = s->options->profile ? others_as_json(&d->others, true) : json_array();
	_cleanup_(notes_clear) struct notes notes = {};

	notes_add_all(&notes, &t->notes);
	notes_add_all(&notes, &s->notes);
	json_object_set_new(emp, "others", others_as_json(&d->others, false));
	json_object_set(emp, "unprofiled", unprofiled);
	json_object_set_new(emp, "not_in_profile", unprofiled);
	json_object_set_new(emp, "disturbance_counters", counters_json(&t->result));
	json_object_set_new(emp, "warnings", notes_as_json(&notes));
	json_object_set_new(emp, "held_back", held_back_as_json(&t->result));
	json_object_set_new(emp, "neighbour", neighbour_as_json(&t->result));
}

/* What the sampling loop added up over the samples. */
static void add_sums(json_t *emp, const struct task *t)
{
	const struct sampling *sums = t->sampling;
	json_int_t n = (json_int_t)t->result.n_samples;

	json_object_set_new(emp, "observer_ns", json_integer(sums->observer_ns / n));
	json_object_set_new(emp, "before_exec_ns", json_integer(sums->before_ns / n));
	json_object_set_new(emp, "left_behind", json_integer(sums->left_behind));
	json_object_set_new(emp, "escaped", json_integer(sums->escaped));
}

/* What --same-output and --check compared, of each sample. */
static void add_outputs(json_t *emp, const struct session *s, const struct program_output *o)
{
	_cleanup_(json_decrefp) json_t *digests = json_array(), *statuses = json_array();

	for (size_t i = 0; i < o->n; i++) {
		json_array_append_new(digests, json_string(o->items[i].digest));
		json_array_append_new(statuses, json_integer(o->items[i].status));
	}
	if (o->n > 0)
		json_object_set(emp, "output_digests", digests);
	if (o->n > 0 && s->options->check)
		json_object_set(emp, "check_exit_codes", statuses);
}

/* EMP's figures: the members of discarding_as_json (run, by_cutoff, by_two_sd, incomplete, pt, et),
 * and more. */
static json_t *emp_json(const struct session *s, const struct task *t)
{
	const struct run_result *run = &t->result;
	const struct peak_memory memory = peak_memory_of(
		run->samples, run->discarding.out, run->n_samples);
	_cleanup_(freep) char *typed = text_utf8(t->command->text);
	json_t *emp = discarding_as_json(&run->discarding);

	add_conditions(emp, s, t);
	add_samples(emp, run);
	json_object_set_new(emp, "peak_memory", peak_memory_as_json(&memory));
	json_object_set_new(emp, "command", json_string(typed ?: ""));
	json_object_set_new(emp, "off_cpu", off_cpu_share(run));
	add_disturbances(emp, s, t);
	add_sums(emp, t);

	if (s->perf.n > 0)
		json_object_set_new(emp, "perf", perf_counts_json(s, t));
	if (s->trace)
		json_object_set_new(emp, "trace",
			program_trace_json(s->trace, t->preemptions, t->n_preemptions));
	if (t->command->by_shell)
		json_object_set_new(emp, "shell", shell_start_json(t));
	if (t->inc.increments > 0)
		json_object_set_new(emp, "inc_units", inc_units_as_json(&t->inc));
	json_object_set_new(emp, "program_digest", json_string(t->run.program_digest));
	json_object_set_new(emp, "output_digest", json_string(t->run.output_digest));
	add_outputs(emp, s, &t->output);
	return emp;
}

/* The peak memory of each sample; NULL where one is not known: hyperfine leaves it out where it
 * cannot read it. */
static json_t *memory_usage(const struct run_result *run)
{
	json_t *array = json_array();

	for (size_t i = 0; i < run->n_samples; i++) {
		const struct sample *sample = &run->samples[i];

		if (sample->max_rss_bytes < 0 || sample->max_rss_at_most) {
			json_decref(array);
			return NULL;
		}
		json_array_append_new(array, json_integer(sample->max_rss_bytes));
	}
	return array;
}

/* The values of the command's parameters, by name; NULL: it has none. */
static json_t *parameters_json(const struct parameters *p, char *const *values)
{
	json_t *object;

	if (!values || !*values)
		return NULL;
	object = json_object();
	for (size_t i = 0; i < p->n; i++) {
		_cleanup_(freep) char *name = text_utf8(p->items[i].name);
		_cleanup_(freep) char *value = text_utf8(values[i]);

		json_object_set_new(object, name, json_string(value));
	}
	return object;
}

static json_t *mean_seconds(const struct run_result *run, size_t offset)
{
	return json_real_or_null(mean_of_kept(run, offset) / 1e9);
}

/* hyperfine's members: the elapsed times of all samples in seconds. NULL: the command's name is not
 * UTF-8. */
static json_t *result_json(const struct session *s, const struct task *t)
{
	const struct run_result *run = &t->result;
	const struct summary *et = &run->discarding.et.raw;
	json_t *result = json_pack("{s:s}", "command", t->name);
	json_t *times = json_array(), *exit_codes = json_array();

	for (size_t i = 0; i < run->n_samples; i++) {
		json_array_append_new(times, json_real((double)run->samples[i].et_ns / 1e9));
		json_array_append_new(exit_codes, json_integer(run->samples[i].exit_status));
	}
	json_object_set_new(result, "mean", json_real(et->mean_ns / 1e9));
	json_object_set_new(result, "stddev", json_real_or_null(summary_sd(et) / 1e9));
	json_object_set_new(result, "median", json_real(et->median_ns / 1e9));
	json_object_set_new(result, "user", mean_seconds(run, offsetof(struct sample, user_ns)));
	json_object_set_new(
		result, "system", mean_seconds(run, offsetof(struct sample, system_ns)));
	json_object_set_new(result, "min", json_real((double)et->min_ns / 1e9));
	json_object_set_new(result, "max", json_real((double)et->max_ns / 1e9));
	json_object_set_new(result, "times", times);
	json_object_set_new(result, "memory_usage_byte", memory_usage(run));
	json_object_set_new(result, "exit_codes", exit_codes);
	json_object_set_new(
		result, "parameters", parameters_json(&s->options->parameters, t->command->values));
	json_object_set_new(result, "emp", emp_json(s, t));
	return result;
}

/* A comparison for each command but the first: of PT; or of ET, if only ET is compared. If both
 * are, the one of ET is the member "et". */
static int comparisons_json(const struct session *s, json_t *array, struct error *err)
{
	int r = session_compare(s, err);

	for (size_t i = 1; r >= 0 && i < session_n_shown(s); i++) {
		const struct comparison *pt = &s->comparisons[i], *et = &s->comparisons[s->n + i];
		const char *a = s->tasks[0].name, *b = s->tasks[i].name;
		json_t *of_pt = comparison_is_made(pt) ? comparison_as_json(a, b, pt) : NULL,
		       *of_et = comparison_is_made(et) ? comparison_as_json(a, b, et) : NULL;

		if (of_pt && of_et)
			json_object_set_new(of_pt, "et", of_et);
		if (of_pt || of_et)
			json_array_append_new(array, of_pt ?: of_et);
	}
	return r < 0 ? r : 0;
}

static int results_json(const struct session *s, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = json_array();

	for (size_t i = 0; i < session_n_shown(s); i++)
		if (s->tasks[i].result.n_samples > 0 &&
			json_array_append_new(results, result_json(s, &s->tasks[i])) < 0)
			return error_say(err, -EINVAL,
				"cannot write the results of '%s': they have text that is not "
				"UTF-8",
				s->tasks[i].name);
	*ret = json_incref(results);
	return 0;
}

/* What sharing the CPU added at most to the times of program i, with whichever of the others it is
 * compared and by which clock; NAN: not known. */
static double greatest_share(const struct session *s, const struct duet_report *report, size_t i)
{
	double greatest = report->costs[i].shared;

	if (isnan(greatest))
		return NAN;
	for (size_t k = 0; k < report->n; k++) {
		double shares[2];

		duet_shares_of_pair(&report->costs[i], &report->costs[k], shares);
		greatest = fmax(greatest, shares[0]);
	}
	/* where the runs alone disagree, it is more */
	for (size_t k = 1; k < session_n_shown(s); k++) {
		const struct comparison *pt = &s->comparisons[k], *et = &s->comparisons[s->n + k];

		if (i == 0)
			greatest = fmax(greatest, fmax(pt->shared_a, et->shared_a));
		if (i == k)
			greatest = fmax(greatest, fmax(pt->shared_b, et->shared_b));
	}
	return greatest;
}

/* For comparisons of the document. */
static void add_refills(const struct session *s, const struct duet_report *report, json_t *results)
{
	for (size_t i = 0; i < json_array_size(results) && i < report->n; i++)
		json_object_set_new(json_object_get(json_array_get(results, i), "emp"), "refill",
			json_real_or_null(greatest_share(s, report, i)));
}

/* *ret stays NULL if the book does not have the duet. */
static int duet_json(const struct session *s, json_t *results, json_t **ret, struct error *err)
{
	_cleanup_(duet_report_clear) struct duet_report report = {};
	int r = session_duet(s, &report, err);

	if (r <= 0)
		return r;
	*ret = duet_report_as_json(&report, s->names);
	add_refills(s, &report, results);
	return 0;
}

int export_json_write(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = NULL, *comparisons = json_array(),
				       *context = NULL, *duet = NULL, *advised = NULL;
	const struct comparison *worst = NULL;
	int r = results_json(s, &results, err);

	if (r == 0)
		r = comparisons_json(s, comparisons, err);
	if (r == 0 && s->base.book)
		r = document_make_context(s->base.book, s->base.environment,
			s->tasks[0].run.started_ns, &context, err);
	if (r == 0 && s->order == ORDER_DUET) {
		r = duet_json(s, results, &duet, err);
	} else if (r == 0 && s->n > 1) {
		const struct duet_advice advice = session_advice(s);

		/* "order" is "duet" if a duet would show more, else null; then the figures behind
		 * that */
		advised = json_pack("{s:s?, s:o, s:o}", "order", advice.better ? "duet" : NULL,
			"times_as_narrow", json_real_or_null(advice.narrower), "p",
			json_real_or_null(advice.p));
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < N_COMPARISON_CLOCKS * s->n; i++)
		worst = comparison_worse(worst, &s->comparisons[i]);
	return json_print(
		json_document("emp-measure",
			JSON_OBJECT({"context?", json_incref(context)},
				{"results", json_incref(results)},
				{"comparisons", json_incref(comparisons)},
				{"verdict?",
					json_string(worst ? comparison_verdict_text(worst) : NULL)},
				{"duet?", json_incref(duet)},
				{"in_turn_because?", json_text(s->in_turn_because)},
				{"advice?", json_incref(advised)})),
		file, err);
}
