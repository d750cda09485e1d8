/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exporting runs: see document_export.h. Unknown values are left out, so that a document that was
 * imported is exported as it was, with a uid and times as text. */
#include "lib/document/document_export.h"

#include "lib/book/book_profiles.h"
#include "lib/book/book_runs.h"
#include "lib/book/book_samples.h"
#include "lib/book/book_sources.h"
#include "lib/book/sql.h"
#include "lib/document/document_environment.h"
#include "lib/document/document_features.h"
#include "lib/document/document_fields.h"
#include "lib/document/document_profile.h"
#include "lib/record/profile.h"

struct run_export {
	struct book *book;
	const struct document_parts *parts;
	FILE *file;
	struct sources sources;
	char **source_texts; /* the members of each as JSON; NULL: not needed yet */
	/* Ids in the book that the run refers to. The document has their places in this array, from
	 * 1, so that it is the same from any book. */
	struct export_numbers {
		int64_t *ids;
		size_t n;
	} used_sources, used_environments;
	int64_t run;
	struct sql_query samples, counters; /* one after the other, both in order of samples */
	struct counters row;                /* the current one of counters, if */
	bool has_row;
	uint32_t sample;     /* being written; 0: none */
	size_t n_executions; /* of it so far */
	struct error *err;
};

int document_not_made(struct error *err)
{
	return error_say(err, -EBADMSG,
		"cannot make the document of this run: the lab book holds text that is not what "
		"emp wrote");
}

/* Writes the next sample. 1: there was one; 0: no more. */
static int write_sample(struct run_export *x)
{
	struct sample sample;
	int r;

	if (x->sample) /* the end of the one before */
		fputs(x->n_executions ? "\n  ]}" : "]}", x->file);
	r = sql_read(&x->samples, &sample_table, &sample, x->err);
	if (r <= 0)
		return r;
	fputs(x->sample ? ",\n  {" : "\n  {", x->file);
	x->sample = sample.n;
	x->n_executions = 0;
	document_write_fields(x->file, "", &sample_table, &sample);
	fprintf(x->file, ", \"start\": \"%s\"", text_rfc3339(sample.start_ns));
	while (x->has_row && x->row.sample < sample.n) {
		r = sql_read(&x->counters, &counters_table, &x->row, x->err);
		if (r < 0)
			return r;
		x->has_row = r > 0;
	}
	if (x->has_row && x->row.sample == sample.n) {
		fputs(", \"disturbance_counters\": ", x->file);
		document_write_fields(x->file, "{", &counters_table, &x->row);
		fputc('}', x->file);
	}
	fputs(", \"executions\": [", x->file);
	return 1;
}

static int write_execution(void *data, const struct execution *execution, struct error *err)
{
	struct run_export *x = data;
	int r = 1;

	while (r > 0 && x->sample < execution->sample)
		r = write_sample(x);
	if (r < 0)
		return r;
	if (x->sample != execution->sample)
		return document_not_made(err);
	fputs(x->n_executions++ ? ",\n   {" : "\n   {", x->file);

	/* The members of the source as text, made once. */
	char **text = &x->source_texts[execution->source - 1];

	if (!*text) {
		size_t size;
		FILE *file = xopen_memstream(text, &size);

		document_write_fields(
			file, "", &source_table, &x->sources.items[execution->source - 1]);
		text_stream_close(file, text);
	}
	fputs(*text, x->file);
	document_write_fields(x->file, ", ", &execution_table, execution);
	fputc('}', x->file);
	return ferror(x->file) ? -EIO : 0;
}

/* The number that the document gives to the id. */
static int64_t export_number(struct export_numbers *numbers, int64_t id)
{
	size_t i = 0;

	while (i < numbers->n && numbers->ids[i] != id)
		i++;
	if (i == numbers->n)
		*array_add(numbers->ids, numbers->n) = id;
	return (int64_t)i + 1;
}

/* Replaces the ids of sources and environments in a row by the numbers that the document gives
 * them. */
static int number_references(struct run_export *x, const struct field_table *table, void *row)
{
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		int64_t id = field->refers ? field_get(field, row) : 0;

		if (id > 0 && field->refers == FIELD_TO_SOURCE) {
			if (id > (int64_t)x->sources.n)
				return document_not_made(x->err);
			field_set(field, row, export_number(&x->used_sources, id));
		} else if (id > 0 && field->refers == FIELD_TO_ENVIRONMENT) {
			field_set(field, row, export_number(&x->used_environments, id));
		}
	}
	return 0;
}

/* Writes a member with the rows of a table, or with its only row; nothing if there are none. Not
 * `write`: only collects what the rows refer to. */
static int export_rows(struct run_export *x, const struct run_rows *rows, bool write)
{
	_cleanup_(sql_end) struct sql_query q = {};
	_cleanup_(freep) void *row = xcalloc(1, rows->table->size);
	size_t n = 0;
	int r;

	sql_select(&q, x->book, x->err, rows->table, rows->select ?: "WHERE run = ?", "i", x->run);
	while ((r = sql_read(&q, rows->table, row, x->err)) > 0) {
		r = number_references(x, rows->table, row);
		if (write) {
			if (n++ == 0)
				fprintf(x->file, ",\n \"%s\": %s", rows->member,
					rows->single ? "" : "[\n  ");
			else
				fputs(",\n  ", x->file);
			document_write_fields(x->file, "{", rows->table, row);
			fputc('}', x->file);
		}
		fields_clear(rows->table, row);
		if (r < 0)
			return r;
	}
	if (n > 0 && !rows->single)
		fputs("\n ]", x->file);
	return r;
}

static int by_id(const void *a, const void *b)
{
	int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

	return (first > second) - (first < second);
}

/* Writes the rows of all tables, and the sources that they refer to. */
static int write_tables(struct run_export *x)
{
	const struct run_rows *rows;
	int r = 0;

	for (size_t i = 0; r >= 0 && (rows = document_run_rows(i)); i++)
		r = export_rows(x, rows, false);
	/* in this order another book gets them, and then it has the rows in the same order */
	if (x->used_sources.n > 0)
		qsort(x->used_sources.ids, x->used_sources.n, sizeof(*x->used_sources.ids), by_id);
	for (size_t i = 0; r >= 0 && (rows = document_run_rows(i)); i++)
		r = export_rows(x, rows, true);
	for (size_t i = 0; r >= 0 && i < x->used_sources.n; i++) {
		fputs(i ? ",\n  {" : ",\n \"sources\": [\n  {", x->file);
		document_write_fields(
			x->file, "", &source_table, &x->sources.items[x->used_sources.ids[i] - 1]);
		fprintf(x->file, ", \"id\": %zu}", i + 1);
	}
	if (x->used_sources.n > 0)
		fputs("\n ]", x->file);
	return r;
}

/* Adds the environments that the run refers to, for example those in which it was resumed. */
static int add_environments(struct run_export *x, json_t *head)
{
	_cleanup_(json_decrefp) json_t *array = json_array();
	struct resume_point *points;
	size_t n;
	int r = book_rows(x->book, x->run, &resume_point_table, &points, &n, x->err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		if (points[i].environment)
			export_number(&x->used_environments, points[i].environment);
	fields_free(&resume_point_table, points, n);
	for (size_t i = 0; r >= 0 && i < x->used_environments.n; i++) {
		json_t *environment = json_object();

		r = document_add_environment(
			x->book, x->used_environments.ids[i], environment, x->err);
		json_object_set_new(environment, "id", json_integer((json_int_t)i + 1));
		json_array_append_new(array, environment);
	}
	if (json_array_size(array) > 0)
		json_object_set(head, "environments", array);
	return r;
}

/* A profile that was removed since is only a name. */
static int add_profile(struct run_export *x, const struct run *run, json_t *head)
{
	_cleanup_(profile_clear) struct profile profile = {};
	json_t *document = NULL;
	int r = book_get_profile(x->book, run->profile_id, run->profile, &profile, x->err);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = document_make_profile(&profile, &document, x->err);
	if (r < 0)
		return r;
	if (profile.retired_ns > 0)
		json_object_set_new(head, "profile_retired_ns", json_integer(profile.retired_ns));
	json_object_set_new(head, "profile_document", document);
	return 0;
}

/* Makes all of the document but samples, rows and other runs. */
static int make_head(struct run_export *x, const struct run *run, json_t **ret)
{
	_cleanup_(json_decrefp) json_t *head = json_document(
		"emp-run", json_pack("{s:I}", "run", (json_int_t)run->id));
	json_t *command = run->command ? json_loads(run->command, JSON_DECODE_ANY, NULL) : NULL;
	int r = 0;

	json_object_update_new(head, document_new(&run_table, run));
	json_object_set_new(head, "uid", json_string(run->uid));
	if (run->kind != RUN_IMPORT)
		json_object_set_new(head, "kind", json_string(run_kind_names[run->kind]));
	/* for the reader of the document, a run that is still open ends here */
	if (run->state != RUN_DONE)
		json_object_set_new(head, "state",
			json_string(run_state_names[run->state == RUN_OPEN ? RUN_INTERRUPTED
									   : run->state]));
	for (int i = 0; i < 2; i++) {
		int64_t time_ns = i ? run->ended_ns : run->started_ns;

		if (time_ns == 0)
			continue;
		json_object_set_new(head, i ? "ended_ns" : "started_ns", json_integer(time_ns));
		document_add_moment(head, i ? "ended" : "started", time_ns);
	}
	if (run->command && !command)
		return document_not_made(x->err);
	if (command)
		json_object_set_new(head, "command", command);
	document_add_correlation(head, &run->correlation);
	if (!x->parts->no_environment)
		r = document_add_origin(x->book, run->environment, run->started_ns, head, x->err);
	if (r >= 0 && !x->parts->no_environment)
		r = add_environments(x, head);
	if (r >= 0 && run->profile && !x->parts->no_profile)
		r = add_profile(x, run, head);
	if (r >= 0)
		*ret = TAKE(head);
	return r;
}

/* Writes the run alone. */
static int write_run(struct run_export *x)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(json_decrefp) json_t *head = NULL;
	const char *separator = "{", *name;
	json_t *value;
	int r = book_get_run(x->book, x->run, &run, x->err);

	x->used_sources.n = x->used_environments.n = 0;
	if (r >= 0)
		r = make_head(x, &run, &head);
	if (r < 0)
		return r;
	json_object_foreach (head, name, value) {
		fprintf(x->file, "%s\n \"%s\": ", separator, name);
		json_write(x->file, value);
		separator = ",";
	}
	r = write_tables(x);
	if (r < 0)
		return r;

	fputs(",\n \"samples\": [", x->file);
	sql_select(&x->samples, x->book, x->err, &sample_table, "WHERE run = ? ORDER BY n", "i",
		x->run);
	sql_select(&x->counters, x->book, x->err, &counters_table, "WHERE run = ? ORDER BY sample",
		"i", x->run);
	x->row.sample = 0; /* before the first */
	x->has_row = true;
	x->sample = 0;
	r = book_each_execution(x->book, x->run, write_execution, x, x->err);
	if (r >= 0)
		while ((r = write_sample(x)) > 0)
			;
	sql_end(&x->samples);
	sql_end(&x->counters);
	fputs("\n ]", x->file);
	return r;
}

static int write_companions(struct run_export *x, const struct document_feature *feature)
{
	_cleanup_(freep) int64_t *runs = NULL;
	int64_t own = x->run;
	size_t n = 0;
	int r = sql_all(x->book, x->err, feature->companions.table, feature->companions.select,
		&runs, &n, "i", own);

	for (size_t i = 0, written = 0; r >= 0 && i < n; i++) {
		if (runs[i] == own)
			continue;
		if (written++ == 0)
			fprintf(x->file, ",\n \"%s\": [\n", feature->companions.member);
		else
			fputs(",\n", x->file);
		x->run = runs[i];
		r = write_run(x);
		fputs("}", x->file);
	}
	if (n > 1)
		fputs("\n ]", x->file);
	x->run = own;
	return r;
}

static void run_export_clear(struct run_export *x)
{
	for (size_t i = 0; x->source_texts && i < x->sources.n; i++)
		free(x->source_texts[i]);
	free(x->source_texts);
	free(x->used_sources.ids);
	free(x->used_environments.ids);
	sources_clear(&x->sources);
}

/* Writes the run, and those without which it cannot be understood. */
static int write_document(struct run_export *x)
{
	int r = book_sources(x->book, &x->sources, x->err), written;

	if (r < 0)
		return r;
	x->source_texts = xcalloc(x->sources.n, sizeof(*x->source_texts));
	r = write_run(x);
	for (const struct document_feature *const *feature = document_features; r >= 0 && *feature;
		feature++)
		if ((*feature)->companions.member)
			r = write_companions(x, *feature);

	fputs(r < 0 ? "\n" : "}\n", x->file);
	written = stream_flush(x->file);
	if (written < 0)
		return error_os(x->err, written, "cannot write to standard output");
	return r;
}

int document_export_run(struct book *book, int64_t run, const struct document_parts *parts,
	FILE *file, struct error *err)
{
	_cleanup_(run_export_clear) struct run_export x = {
		.book = book, .run = run, .parts = parts, .file = file, .err = err};
	bool own;
	int r = book_enter(book, false, &own, err);

	if (r < 0)
		return r;
	r = write_document(&x);
	if (own)
		r = book_end(book, r, err);
	return r < 0 ? r : 0;
}
