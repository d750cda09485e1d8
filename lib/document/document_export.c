/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the book as an emp-run document, written while it is read: a run may be larger than memory. Unknown values are left out, so
 * that a document that was imported is exported as it was, with a uid and times as text. */
#include "lib/book/book_calibrations.h"
#include "lib/base/xalloc.h"
#include "lib/duet/book_duet.h"
#include "lib/book/book_rows.h"
#include "lib/book/query.h"
#include "lib/document/document.h"
#include "lib/clocks/document_clocks.h"
#include "lib/document/document_context.h"
#include "lib/document/document_fields.h"

#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

struct run_export {
	struct book *book;
	const struct document_parts *parts;
	FILE *file;
	struct sources sources;
	char **source_texts; /* the members of each as JSON; NULL: not needed yet */
	bool *used;          /* by rows other than executions */
	const struct run_rows *rows; /* being written */
	size_t n_rows;               /* of them so far */
	int64_t run;
	struct query samples, counters; /* one after the other */
	int64_t counters_of;            /* the sample of the current row of counters; 0: none */
	int64_t values[N_COUNTER_VALUES];
	uint32_t sample;     /* being written; 0: none */
	size_t n_executions; /* of it so far */
	struct error *err;
};

static void run_export_clear(struct run_export *x)
{
	for (size_t i = 0; x->source_texts && i < x->sources.n; i++)
		free(x->source_texts[i]);
	free(x->source_texts);
	free(x->used);
	sources_clear(&x->sources);
}

static int not_made(struct error *err)
{
	return error_say(err, -EBADMSG,
		"cannot make the document of this run: there is no memory for it, or the lab book holds text that is not what emp wrote");
}

static int set_text(json_t *object, const char *name, const char *text)
{
	return text ? json_object_set_new(object, name, json_string(text)) : 0;
}

static int set_json(json_t *object, const char *name, const char *text)
{
	return text ? json_object_set_new(object, name, json_loads(text, JSON_DECODE_ANY, NULL)) : 0;
}

json_t *document_make_counters(const struct counters *counters)
{
	int64_t values[N_COUNTER_VALUES];

	counters_values(counters, values);
	return document_new(&counters_table, values);
}

/* The members of the source as text, made once. */
static const char *source_text(struct run_export *x, uint32_t source)
{
	char **text = &x->source_texts[source - 1];
	size_t size;
	FILE *file;
	int r;

	if (*text)
		return *text;
	file = xopen_memstream(text, &size);
	if (!file)
		return NULL;
	r = document_write_fields(file, "", &source_table, &x->sources.items[source - 1]);
	text_stream_close(file, text);
	return r == 0 ? *text : NULL;
}

/* The counters of the sample, if it has any: both are in order. */
static int write_counters(struct run_export *x)
{
	int r = 0;

	while (r >= 0 && x->counters_of > 0 && x->counters_of < x->sample) {
		r = query_row(&x->counters, &counters_table, x->values, x->err);
		x->counters_of = r > 0 ? x->values[N_COUNTERS] : 0;
	}
	if (r < 0 || x->counters_of != x->sample)
		return r;
	fputs(", \"disturbance_counters\": ", x->file);
	if (document_write_fields(x->file, "{", &counters_table, x->values) < 0)
		return not_made(x->err);
	fputc('}', x->file);
	return 0;
}

static void end_sample(struct run_export *x)
{
	if (x->sample)
		fputs(x->n_executions ? "\n  ]}" : "]}", x->file);
}

/* 1: there was one more. */
static int write_sample(struct run_export *x)
{
	char start[TEXT_TIME_SIZE];
	struct sample sample;
	int r;

	end_sample(x);
	r = query_row(&x->samples, &sample_table, &sample, x->err);
	if (r <= 0)
		return r;
	fputs(x->sample ? ",\n  {" : "\n  {", x->file);
	x->sample = sample.n;
	x->n_executions = 0;
	document_write_fields(x->file, "", &sample_table, &sample);
	fprintf(x->file, ", \"start\": \"%s\"", text_rfc3339(start, sample.start_ns));
	r = write_counters(x);
	fputs(", \"executions\": [", x->file);
	return r < 0 ? r : 1;
}

static int write_execution(const struct execution *execution, void *data)
{
	struct run_export *x = data;
	const char *source;
	int r = 1;

	while (r > 0 && x->sample < execution->sample)
		r = write_sample(x);
	if (r < 0)
		return r;
	source = source_text(x, execution->source);
	if (x->sample != execution->sample || !source)
		return not_made(x->err);
	fputs(x->n_executions++ ? ",\n   {" : "\n   {", x->file);
	fputs(source, x->file);
	document_write_fields(x->file, ", ", &execution_table, execution);
	fputc('}', x->file);
	return ferror(x->file) ? -EIO : 0;
}

static int write_samples(struct run_export *x)
{
	int r;

	fputs(",\n \"samples\": [", x->file);
	query_select(&x->samples, x->book, &sample_table, "WHERE run = ? ORDER BY n", x->err);
	query_int(&x->samples, x->run);
	query_select(&x->counters, x->book, &counters_table, "WHERE run = ? ORDER BY sample", x->err);
	query_int(&x->counters, x->run);
	r = query_row(&x->counters, &counters_table, x->values, x->err);
	x->counters_of = r > 0 ? x->values[N_COUNTERS] : 0;
	x->sample = 0;
	if (r >= 0)
		r = book_each_execution(x->book, x->run, write_execution, x, x->err);
	if (r >= 0)
		while ((r = write_sample(x)) > 0)
			;
	query_end(&x->samples);
	query_end(&x->counters);
	fputs("\n ]", x->file);
	return r;
}

static int write_row(const void *row, void *data)
{
	struct run_export *x = data;

	fputs(x->rows->single ? ",\n \"" : x->n_rows ? ",\n  " : ",\n \"", x->file);
	if (x->n_rows++ == 0)
		fprintf(x->file, "%s\": %s", x->rows->member, x->rows->single ? "" : "[\n  ");
	if (document_write_fields(x->file, "{", x->rows->table, row) < 0)
		return not_made(x->err);
	fputc('}', x->file);
	return ferror(x->file) ? -EIO : 0;
}

static int write_all_rows(struct run_export *x)
{
	int r = 0;

	for (x->rows = book_run_rows; r == 0 && x->rows->member; x->rows++) {
		x->n_rows = 0;
		r = book_each_row(x->book, x->run, x->rows, write_row, x, x->err);
		if (x->n_rows > 0 && !x->rows->single)
			fputs("\n ]", x->file);
	}
	return r;
}

static int mark_sources(const void *row, void *data)
{
	struct run_export *x = data;
	const struct field_table *table = x->rows->table;

	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		int64_t id = field->source ? field_get(field, row) : 0;

		if (id > (int64_t)x->sources.n)
			return not_made(x->err);
		if (id > 0)
			x->used[id - 1] = true;
	}
	return 0;
}

/* Those that rows refer to by their ids. */
static int add_sources(struct run_export *x, json_t *head)
{
	json_t *array = json_array();
	int r = 0;

	memset(x->used, 0, x->sources.n);
	for (x->rows = book_run_rows; r == 0 && x->rows->member; x->rows++)
		r = book_each_row(x->book, x->run, x->rows, mark_sources, x, x->err);
	for (size_t i = 0; r == 0 && i < x->sources.n; i++) {
		json_t *source = x->used[i] ? document_new(&source_table, &x->sources.items[i]) : NULL;

		if (x->used[i] && (json_object_set_new(source, "id", json_integer((json_int_t)i + 1)) < 0 ||
					  json_array_append_new(array, source) < 0))
			r = not_made(x->err);
	}
	if (json_array_size(array) > 0)
		return json_object_set_new(head, "sources", array) < 0 ? not_made(x->err) : r;
	json_decref(array);
	return r;
}

static int add_measurements(struct book *book, int64_t environment, json_t *document, struct error *err)
{
	struct measurement *rows = NULL;
	json_t *array;
	size_t n;
	int r = book_measurements(book, environment, &rows, &n, err);

	if (r < 0 || n == 0)
		return r;
	array = json_array();
	for (size_t i = 0; r == 0 && i < n; i++)
		if (json_array_append_new(array, document_new(&measurement_table, &rows[i])) < 0)
			r = not_made(err);
	fields_free(&measurement_table, rows, n);
	if (json_object_set_new(document, "measurements", array) < 0)
		return not_made(err);
	return r;
}

static int add_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t *document, struct error *err)
{
	json_t *context = NULL;
	int r = document_make_context(book, environment, when_ns, &context, err);

	return r < 0 ? r : json_object_set_new(document, "context", context) < 0 ? error_oom(err) : 0;
}

/* Its machine, its fingerprint, and what was measured of it. */
static int add_environment(struct book *book, int64_t id, json_t *document, struct error *err)
{
	_cleanup_(freep) char *machine = NULL, *text = NULL, *digest = NULL;
	_cleanup_(json_decrefp) json_t *described = NULL; /* a machine that is more than a name */
	int r;

	if (id == 0)
		return 0;
	r = book_get_machine(book, id, &machine, err);
	if (r >= 0)
		r = book_get_environment(book, id, &digest, &text, err);
	if (r < 0)
		return r;
	described = machine && *machine == '{' ? json_loads(machine, 0, NULL) : NULL;
	if ((described ? json_object_set(document, "machine", described)
		       : set_text(document, "machine", machine)) < 0 ||
		set_json(document, "environment", text) < 0 ||
		(digest && !(text && strstr(text, digest)) &&
			set_text(document, "environment_digest", digest) < 0))
		return not_made(err);
	return add_measurements(book, id, document, err);
}

/* Those in which the run was resumed, by their ids. */
static int add_environments(struct run_export *x, json_t *head)
{
	json_t *array = json_array();
	struct resume_point *points;
	size_t n;
	int r = book_resume_points(x->book, x->run, &points, &n, x->err);

	if (r >= 0) {
		for (size_t i = 0; r >= 0 && i < n; i++) {
			json_t *environment = json_object();

			r = add_environment(x->book, points[i].environment, environment, x->err);
			json_object_set_new(environment, "id", json_integer(points[i].environment));
			if (points[i].environment == 0)
				json_decref(environment);
			else if (json_array_append_new(array, environment) < 0)
				r = not_made(x->err);
		}
		resume_points_free(points, n);
	}
	if (r >= 0 && json_array_size(array) > 0)
		return json_object_set_new(head, "environments", array) < 0 ? not_made(x->err) : 0;
	json_decref(array);
	return r;
}

/* A profile that was removed since is only a name. */
static int add_profile(struct run_export *x, const struct run *run, json_t *head)
{
	_cleanup_(profile_clear) struct profile profile = {};
	json_t *document = NULL;
	int r = run->profile_id ? book_get_run_profile(x->book, run->profile_id, &profile, x->err)
				: book_get_profile(x->book, run->profile, &profile, x->err);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = document_make_profile(&profile, &document, x->err);
	if (r < 0)
		return r;
	if (profile.retired_ns > 0)
		json_object_set_new(head, "profile_retired_ns", json_integer(profile.retired_ns));
	return json_object_set_new(head, "profile_document", document) < 0 ? not_made(x->err) : 0;
}

/* For the reader of the document, a run that is still open ends here. */
static int add_state(json_t *json, enum run_state state)
{
	if (state == RUN_DONE)
		return 0;
	return set_text(json, "state", run_state_names[state == RUN_OPEN ? RUN_INTERRUPTED : state]);
}

static int add_time(json_t *json, const char *ns, const char *text, int64_t time_ns)
{
	if (time_ns == 0)
		return 0;
	return json_object_set_new(json, ns, json_integer(time_ns)) | document_add_moment(json, text, time_ns);
}

static json_t *make_head(const struct run *run)
{
	json_t *json = json_pack("{s:s, s:i, s:I}", "format", "emp-run", "version", 1, "run", (json_int_t)run->id);
	int r = json ? 0 : -1;

	r |= document_add_fields(json, &run_table, run);
	r |= set_text(json, "uid", run->uid);
	if (run->kind != RUN_IMPORT)
		r |= set_text(json, "kind", run_kind_names[run->kind]);
	r |= add_state(json, run->state);
	r |= add_time(json, "started_ns", "started", run->started_ns);
	r |= add_time(json, "ended_ns", "ended", run->ended_ns);
	r |= set_json(json, "command", run->command);
	r |= document_add_correlation(json, &run->correlation);
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

static int write_head(struct run_export *x, const json_t *head)
{
	const char *separator = "{", *name;
	json_t *value;

	json_object_foreach ((json_t *)head, name, value) {
		fprintf(x->file, "%s\n \"%s\": ", separator, name);
		if (json_write(x->file, value) < 0)
			return not_made(x->err);
		separator = ",";
	}
	return 0;
}

static int write_run(struct run_export *x, bool in_duet);

/* The other runs of a duet, whose figures it needs. */
static int write_duet_runs(struct run_export *x)
{
	_cleanup_(freep) int64_t *runs = NULL;
	struct duet_row duet;
	size_t n = 0;
	int64_t own = x->run;
	const char *separator = ",\n \"duet_runs\": [\n";
	int r = book_get_duet(x->book, own, &duet, x->err);

	if (r > 0)
		r = book_duet_runs(x->book, duet.reference, &runs, &n, x->err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		if (runs[i] == own)
			continue;
		fputs(separator, x->file);
		x->run = runs[i];
		r = write_run(x, true);
		separator = ",\n";
	}
	if (n > 1)
		fputs("\n ]", x->file);
	return r;
}

static int write_run(struct run_export *x, bool in_duet)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(json_decrefp) json_t *head = NULL;
	int r = book_get_run(x->book, x->run, &run, x->err);

	if (r < 0)
		return r;
	head = make_head(&run);
	if (!head)
		return not_made(x->err);
	if (!x->parts->no_environment)
		r = add_context(x->book, run.environment, run.started_ns, head, x->err);
	if (r >= 0 && !x->parts->no_environment)
		r = add_environment(x->book, run.environment, head, x->err);
	if (r >= 0 && !x->parts->no_environment)
		r = add_environments(x, head);
	if (r >= 0 && run.profile && !x->parts->no_profile)
		r = add_profile(x, &run, head);
	if (r >= 0)
		r = add_sources(x, head);
	if (r >= 0)
		r = write_head(x, head);
	if (r >= 0)
		r = write_all_rows(x);
	if (r >= 0)
		r = write_samples(x);
	if (r >= 0 && !in_duet)
		r = write_duet_runs(x);
	fputs("}", x->file);
	return r;
}

static int write_document(struct run_export *x)
{
	int r = book_sources(x->book, &x->sources, x->err);

	if (r < 0)
		return r;
	x->source_texts = xcalloc(x->sources.n + 1, sizeof(*x->source_texts));
	x->used = xcalloc(x->sources.n + 1, sizeof(*x->used));
	r = x->source_texts && x->used ? write_run(x, false) : error_oom(x->err);
	if (fputc('\n', x->file) < 0 || fflush(x->file) < 0 || ferror(x->file))
		return error_os(x->err, -(errno ?: EIO), "cannot write a JSON document");
	return r;
}

int document_export_run(
	struct book *book, int64_t run, const struct document_parts *parts, FILE *file, struct error *err)
{
	_cleanup_(run_export_clear) struct run_export x = {
		.book = book, .run = run, .parts = parts, .file = file, .err = err};
	int r = BOOK_AT_ONCE(book, write_document(&x), err);

	return r < 0 ? r : 0;
}

int document_make_clocks(struct book *book, const struct clocks *clocks, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = clocks_as_json(clocks);
	int r = document ? add_context(book, clocks->environment, clocks->made_ns, document, err) : error_oom(err);

	if (r >= 0)
		r = add_environment(book, clocks->environment, document, err);
	if (r >= 0)
		*ret = TAKE(document);
	return r < 0 ? r : 0;
}
