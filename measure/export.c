/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session's results as JSON, CSV and Markdown: see show.h. */
#include "measure/show.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/report/results_json.h"
#include "lib/record/document/document.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static json_t *clock_json(const struct result *r, size_t offset)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->run.n_samples; i++)
		json_array_append_new(
			array, json_integer(*(const int64_t *)((const char *)&r->run.samples[i] + offset)));
	return array;
}

/* One object a sample, null where nothing is known of it. */
static json_t *counters_json(const struct result *r)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->run.n_counters; i++)
		json_array_append_new(array, r->run.counters[i].moved.known
						     ? document_make_counters(&r->run.counters[i].moved)
						     : json_null());
	return array;
}

static json_t *interval_json(const struct summary *s)
{
	double half = summary_interval(s, 0.95);

	return isnan(half) ? json_null() : json_pack("[f, f]", s->mean_ns - half, s->mean_ns + half);
}

/* What discarding_as_json has (run, by_cutoff, by_two_sd, incomplete, pt, et), and more. */
static json_t *emp_json(const struct session *s, const struct result *r)
{
	json_t *emp = discarding_as_json(&r->run.discarding);
	const struct observer *o = &s->observer;

	json_object_set_new(
		emp, "profile", s->options->profile ? json_string(s->options->profile) : json_null());
	json_object_set_new(emp, "environment", json_string(s->environment_digest));
	json_object_set_new(emp, "profile_environment",
		s->profile.environment_digest ? json_string(s->profile.environment_digest) : json_null());
	json_object_set_new(emp, "environment_changes",
		s->environment_changes ? json_string(s->environment_changes) : json_null());
	json_object_set_new(emp, "backend", json_string(observer_backend_name(o)));
	json_object_set_new(emp, "pt_source", json_string(observer_pt_source(o)));
	json_object_set_new(emp, "pt_partial", json_boolean(!o->cgroup));
	json_object_set_new(emp, "pt_ns", clock_json(r, offsetof(struct sample, pt_ns)));
	json_object_set_new(emp, "et_ns", clock_json(r, offsetof(struct sample, et_ns)));
	json_object_set_new(emp, "user_ns", clock_json(r, offsetof(struct sample, user_ns)));
	json_object_set_new(emp, "system_ns", clock_json(r, offsetof(struct sample, system_ns)));
	json_object_set_new(emp, "pt_interval_ns", interval_json(&r->run.discarding.pt.clean));
	json_object_set_new(emp, "off_cpu", json_real(result_off_cpu(r)));
	json_object_set_new(emp, "others", others_as_json(&r->run.discarding.others, false));
	json_object_set_new(emp, "unprofiled",
		s->options->profile ? others_as_json(&r->run.discarding.others, true) : json_array());
	json_object_set(emp, "not_in_profile", json_object_get(emp, "unprofiled"));
	json_object_set_new(emp, "disturbance_counters", counters_json(r));
	json_object_set(emp, "sentinels", json_object_get(emp, "disturbance_counters"));
	json_object_set_new(emp, "observer_ns", json_integer(r->observer_ns));
	json_object_set_new(emp, "left_behind", json_integer(r->left_behind));
	return emp;
}

static json_t *parameters_json(const struct session *s, const struct result *r)
{
	json_t *object = json_object();

	for (size_t i = 0; i < s->options->parameters.n; i++) {
		_cleanup_(freep) char *name = text_utf8(s->options->parameters.items[i].name);
		_cleanup_(freep) char *value = text_utf8(r->command->values[i]);

		if (name && value)
			json_object_set_new(object, name, json_string(value));
	}
	return object;
}

static json_t *result_json(const struct session *s, const struct result *r)
{
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
	if (s->options->parameters.n > 0)
		json_object_set_new(result, "parameters", parameters_json(s, r));
	json_object_set_new(result, "emp", emp_json(s, r));
	return result;
}

/* Every other command beside the first, where samples of both are left. */
static int comparisons_json(const struct session *s, json_t *array, struct error *err)
{
	for (size_t i = 1; i < s->n; i++) {
		struct comparison c;
		int r;

		if (!comparable(&s->tasks[0].result, &s->tasks[i].result))
			continue;
		r = compare_results(&s->tasks[0].result, &s->tasks[i].result, &c, err);
		if (r < 0)
			return r;
		json_array_append_new(array, comparison_as_json(s->tasks[0].name, s->tasks[i].name, &c));
	}
	return 0;
}

int export_json(const struct session *s, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *results = json_array(), *comparisons = json_array();
	int r;

	for (size_t i = 0; i < s->n; i++)
		if (s->tasks[i].result.run.n_samples > 0 &&
			json_array_append_new(results, result_json(s, &s->tasks[i].result)) < 0)
			return error_os(err, -ENOMEM, "cannot make a JSON document");
	r = comparisons_json(s, comparisons, err);
	if (r < 0)
		return r;
	*ret = json_pack("{s:O, s:O}", "results", results, "comparisons", comparisons);
	return *ret ? 0 : error_os(err, -ENOMEM, "cannot make a JSON document");
}

static int write_json(const struct session *s, FILE *file, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = export_json(s, &document, err);

	return r < 0 ? r : json_print(document, file, err);
}

/* RFC 4180: quoted where it must be. */
static void csv_text(FILE *file, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++)
		*text == '"' ? fputs("\"\"", file) : fputc(*text, file);
	fputc('"', file);
}

/* hyperfine's columns, in seconds, then ours. */
static int write_csv(const struct session *s, FILE *file, struct error *err)
{
	const struct parameters *p = &s->options->parameters;

	fprintf(file, "command,mean,stddev,median,user,system,min,max");
	for (size_t i = 0; i < p->n; i++) {
		fprintf(file, ",parameter_");
		csv_text(file, p->items[i].name);
	}
	fprintf(file, ",pt_mean,pt_stddev,pt_samples,discarded\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct result *r = &s->tasks[i].result;
		const struct summary *et = &r->run.discarding.et.raw, *pt = &r->run.discarding.pt.clean;
		struct result_means means = result_means(r);

		if (r->run.n_samples == 0)
			continue;
		csv_text(file, r->name);
		fprintf(file, ",%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f", et->mean_ns / 1e9, et->sd_ns / 1e9,
			et->median_ns / 1e9, means.user_ns / 1e9, means.system_ns / 1e9,
			(double)et->min_ns / 1e9, (double)et->max_ns / 1e9);
		for (size_t k = 0; k < p->n; k++) {
			fputc(',', file);
			csv_text(file, r->command->values[k]);
		}
		fprintf(file, ",%.9f,%.9f,%zu,%zu\n", pt->mean_ns / 1e9, pt->sd_ns / 1e9, pt->n,
			r->run.n_samples - pt->n);
	}
	return 0;
}

/* A command between backquotes; a bar would end the cell. */
static void markdown_text(FILE *file, const char *text)
{
	fputc('`', file);
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', file);
		fputc(*text == '\n' ? ' ' : *text, file);
	}
	fputc('`', file);
}

static int write_markdown(const struct session *s, FILE *file, struct error *err)
{
	double first = s->tasks[0].result.run.discarding.pt.clean.mean_ns;
	const char *unit = s->options->unit ?: first >= 1e9 ? "s" : first >= 1e6 ? "ms" : "us";
	double size = !strcmp(unit, "s") ? 1e9 : !strcmp(unit, "ms") ? 1e6 : 1e3;

	fprintf(file, "| Command | PT [%s] | Min [%s] | Max [%s] | ET [%s] | Discarded | Relative |\n", unit,
		unit, unit, unit);
	fprintf(file, "|:---|---:|---:|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct result *r = &s->tasks[i].result;
		const struct summary *pt = &r->run.discarding.pt.clean, *et = &r->run.discarding.et.clean;

		if (r->run.n_samples == 0)
			continue;
		fprintf(file, "| ");
		markdown_text(file, r->name);
		fprintf(file, " | %.3f ± %.3f | %.3f | %.3f | %.3f ± %.3f | %zu of %zu | %.3f |\n",
			pt->mean_ns / size, pt->sd_ns / size, (double)pt->min_ns / size,
			(double)pt->max_ns / size, et->mean_ns / size, et->sd_ns / size,
			r->run.n_samples - pt->n, r->run.n_samples, first > 0 ? pt->mean_ns / first : NAN);
	}
	return 0;
}

typedef int writer(const struct session *, FILE *, struct error *);

/* "-" as with hyperfine. */
static bool is_stdout(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

/* Standard output, a pipe, a device: cannot be replaced, nor written to more than once. */
static bool is_stream(const char *path)
{
	struct stat st;

	return is_stdout(path) || !strncmp(path, "/dev/fd/", 8) ||
	       (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static int write_stream(const struct session *s, const char *path, writer *write_it, struct error *err)
{
	FILE *file;
	int r;

	if (is_stdout(path))
		return write_it(s, stdout, err);
	file = fopen(path, "we");
	if (!file)
		return error_os(err, -errno, "cannot write '%s'", path);
	r = write_it(s, file, err);
	if (fclose(file) != 0 && r == 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	return r;
}

/* Beside the file, then renamed into its place: whole or not at all. */
static int replace_file(const struct session *s, const char *path, writer *write_it, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.new-%d", path, getpid());
	FILE *file = fresh ? fopen(fresh, "we") : NULL;
	int r;

	if (!file)
		return error_os(err, -errno, "cannot write '%s'", path);
	r = write_it(s, file, err);
	if (fclose(file) != 0 && r == 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	if (r == 0 && rename(fresh, path) < 0)
		r = error_os(err, -errno, "cannot write '%s'", path);
	if (r < 0)
		unlink(fresh);
	return r;
}

/* Whether replace_file will be able to: better known before hours of samples than after. */
static int try_file(const char *path, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.new-%d", path, getpid());
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_say(err, -EISDIR, "cannot write '%s': it is a directory", path);
	fd = fresh ? open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return error_os(err, -errno, "cannot write '%s'", path);
	close(fd);
	unlink(fresh);
	return 0;
}

int export_try(const struct measure_options *o, struct error *err)
{
	const char *const paths[] = {o->export_json, o->export_csv, o->export_markdown};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ELEMENTS(paths); i++)
		if (paths[i] && !is_stream(paths[i]))
			r = try_file(paths[i], err);
	return r;
}

/* The streams, or else the files. The first failure is the one that is told; the others are written all the
 * same. */
static int export_those(const struct session *s, bool streams, struct error *err)
{
	const struct {
		const char *path;
		writer *write_it;
	} files[] = {
		{s->options->export_json, write_json},
		{s->options->export_csv, write_csv},
		{s->options->export_markdown, write_markdown},
	};
	int outcome = 0;

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		struct error second = {}, *told = outcome ? &second : err;
		int r;

		if (!files[i].path || is_stream(files[i].path) != streams)
			continue;
		r = (streams ? write_stream : replace_file)(s, files[i].path, files[i].write_it, told);
		outcome = outcome ?: r;
	}
	return outcome;
}

int export_files(const struct session *s, struct error *err)
{
	return export_those(s, false, err);
}

int export_streams(const struct session *s, struct error *err)
{
	return export_those(s, true, err);
}
