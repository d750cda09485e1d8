/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the book as an emp-run document. Unknown values are left out, so that a document that was imported is exported
 * as it was, with a uid and times as text. */
#include "lib/record/book/book_internal.h"
#include "lib/record/document/document.h"
#include "lib/record/document/document_fields.h"

#include <errno.h>

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

static json_t *make_sample(const struct sample *sample)
{
	json_t *json = document_new(&sample_table, sample);

	if (document_add_moment(json, "start", sample->start_ns) == 0 &&
		json_object_set_new(json, "executions", json_array()) == 0)
		return json;
	json_decref(json);
	return NULL;
}

/* "kernel" is the name in 0.1.0. */
static int add_kind(json_t *json, enum source_kind kind)
{
	if (kind == SOURCE_PROCESS)
		return 0;
	return set_text(json, "kind", source_kind_names[kind]) |
	       (kind == SOURCE_KERNEL ? json_object_set_new(json, "kernel", json_true()) : 0);
}

static json_t *make_execution(const struct execution *execution, const struct source *source)
{
	json_t *json = document_new(&source_table, source);

	if (document_add_fields(json, &execution_table, execution) == 0 && add_kind(json, source->kind) == 0)
		return json;
	json_decref(json);
	return NULL;
}

struct export
{
	const struct sample *samples;
	size_t n, at;
	const struct sources *sources;
	json_t *array; /* of the samples */
};

static int add_execution(const struct execution *execution, void *data)
{
	struct export *export = data;
	json_t *sample;

	while (export->at < export->n && export->samples[export->at].n < execution->sample)
		export->at++;
	if (export->at == export->n || execution->source > export->sources->n)
		return -EBADMSG;
	sample = json_array_get(export->array, export->at);
	return json_array_append_new(json_object_get(sample, "executions"),
		       make_execution(execution, &export->sources->items[execution->source - 1])) < 0
		       ? -ENOMEM
		       : 0;
}

json_t *document_make_counters(const struct counters *counters)
{
	int64_t values[N_COUNTER_VALUES];

	counters_values(counters, values);
	return document_new(&counters_table, values);
}

/* "sentinels" is the name in 0.1.0. */
static int add_counters_to(json_t *sample, const struct counters *counters)
{
	json_t *json = document_make_counters(counters);

	return json_object_set(sample, "sentinels", json) |
	       json_object_set_new(sample, "disturbance_counters", json);
}

/* To the samples that have them: both are in order. */
static int add_counters(struct book *book, int64_t run, json_t *array, struct error *err)
{
	_cleanup_(freep) struct sample_counters *rows = NULL;
	size_t n, at = 0;
	int r;

	r = book_counters(book, run, &rows, &n, err);
	for (size_t i = 0; r >= 0 && i < json_array_size(array) && at < n; i++) {
		json_t *sample = json_array_get(array, i);

		if (json_integer_value(json_object_get(sample, "n")) != rows[at].sample)
			continue;
		if (add_counters_to(sample, &rows[at++].changes) < 0)
			return not_made(err);
	}
	return r;
}

static int make_samples(struct book *book, int64_t run, json_t *array, struct error *err)
{
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(freep) struct sample *samples = NULL;
	struct export export = {.array = array, .sources = &sources};
	int r;

	r = book_samples(book, run, &samples, &export.n, err);
	if (r >= 0)
		r = book_sources(book, &sources, err);
	if (r < 0)
		return r;
	export.samples = samples;
	for (size_t i = 0; i < export.n; i++)
		if (json_array_append_new(array, make_sample(&samples[i])) < 0)
			return not_made(err);
	r = add_counters(book, run, array, err);
	if (r < 0)
		return r;
	err->text[0] = '\0';
	r = book_each_execution(book, run, add_execution, &export, err);
	if (r < 0 && !err->text[0])
		return not_made(err);
	return r;
}

static int set_environment(struct book *book, int64_t id, json_t *document, struct error *err)
{
	_cleanup_(freep) char *machine = NULL, *text = NULL;
	_cleanup_(json_decrefp) json_t *described = NULL; /* a machine that is more than a name */
	int r;

	if (id == 0)
		return 0;
	r = book_get_machine(book, id, &machine, err);
	if (r >= 0)
		r = book_get_environment(book, id, NULL, &text, err);
	if (r < 0)
		return r;
	described = machine && *machine == '{' ? json_loads(machine, 0, NULL) : NULL;
	if ((described ? json_object_set(document, "machine", described)
		       : set_text(document, "machine", machine)) < 0 ||
		set_json(document, "environment", text) < 0)
		return not_made(err);
	return 0;
}

static int add_notes(struct book *book, int64_t run, json_t *document, struct error *err)
{
	json_t *array = json_array();
	struct note *notes = NULL;
	size_t n = 0;
	int r = book_notes(book, run, &notes, &n, err);

	for (size_t i = 0; r >= 0 && i < n; i++)
		if (json_array_append_new(array, json_pack("{s:s, s:s}", "kind", note_kind_names[notes[i].kind],
							 "text", notes[i].text)) < 0)
			r = not_made(err);
	fields_free(&note_table, notes, n);
	if (r >= 0 && n > 0 && json_object_set(document, "warnings", array) < 0)
		r = not_made(err);
	json_decref(array);
	return r;
}

/* For the reader of the document, a run that is still open ends here. */
static int add_state(json_t *json, enum run_state state)
{
	if (state == RUN_DONE)
		return 0;
	return set_text(json, "state", run_state_names[state == RUN_OPEN ? RUN_INTERRUPTED : state]);
}

static json_t *make_head(const struct run *run)
{
	json_t *json = json_pack("{s:s, s:i}", "format", "emp-run", "version", 1);
	int r = json ? 0 : -1;

	r |= document_add_fields(json, &run_table, run);
	r |= set_text(json, "uid", run->uid);
	r |= document_add_correlation(json, &run->correlation);
	if (run->kind != RUN_IMPORT) {
		r |= set_text(json, "kind", run_kind_names[run->kind]);
		r |= set_text(json, "purpose", run_kind_names[run->kind]); /* the name in 0.1.0 */
	}
	r |= add_state(json, run->state);
	r |= set_json(json, "command", run->command);
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

static int export(struct book *book, int64_t id, json_t **document, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	json_t *samples = NULL;
	int r;

	r = book_get_run(book, id, &run, err);
	if (r < 0)
		return r;
	*document = make_head(&run);
	if (!*document)
		return not_made(err);
	r = set_environment(book, run.environment, *document, err);
	if (r >= 0)
		r = add_notes(book, id, *document, err);
	if (r < 0)
		return r;
	samples = json_array();
	if (json_object_set_new(*document, "samples", samples) < 0)
		return not_made(err);
	return make_samples(book, id, samples, err);
}

int document_export_run(struct book *book, int64_t run, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = BOOK_AT_ONCE(book, export(book, run, &document, err), err);

	if (r < 0)
		return r;
	*ret = TAKE(document);
	return 0;
}
