/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run of the book as an emp-run document. What is not known is left out, so that a document that was
 * imported comes out as it went in. */
#include "lib/record/book/book_internal.h"
#include "lib/record/document/document.h"
#include "lib/record/document/document_counters.h"

#include <errno.h>
#include <string.h>

static int not_made(struct error *err)
{
	return error_say(err, -EBADMSG,
		"cannot make the document of this run: there is no memory for it, or the lab book holds text that is not what emp wrote");
}

/* Adds what is known. json_object_set_new takes NULL for a failure, as it should. */
static int set_known(json_t *object, const char *name, int64_t value, int64_t unknown)
{
	return value == unknown ? 0 : json_object_set_new(object, name, json_integer(value));
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
	json_t *json = json_pack("{s:I, s:I, s:I, s:I}", "n", (json_int_t)sample->n, "start_ns",
		(json_int_t)sample->start_ns, "et_ns", (json_int_t)sample->et_ns, "pt_ns",
		(json_int_t)sample->pt_ns);
	int r = json ? 0 : -1;

	r |= set_known(json, "user_ns", sample->user_ns, -1);
	r |= set_known(json, "system_ns", sample->system_ns, -1);
	r |= set_known(json, "max_rss_bytes", sample->max_rss_bytes, -1);
	r |= set_known(json, "observer_ns", sample->observer_ns, -1);
	r |= set_known(json, "exit_status", sample->exit_status, -1);
	r |= set_known(json, "lost", sample->lost, 0);
	r |= set_known(json, "left_behind", sample->left_behind, 0);
	if (sample->incomplete)
		r |= json_object_set_new(json, "incomplete", json_true());
	r |= json_object_set_new(json, "executions", json_array());
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *make_execution(const struct execution *execution, const struct daemon *daemon)
{
	json_t *json = json_pack("{s:s, s:I}", "name", daemon->name, "pt_ns", (json_int_t)execution->pt_ns);
	int r = json ? 0 : -1;

	r |= set_known(json, "tick_ns", execution->tick_ns, -1);
	r |= set_known(json, "pid", execution->pid, 0);
	r |= set_text(json, "exe", daemon->exe);
	r |= set_text(json, "unit", daemon->unit);
	if (daemon->kernel)
		r |= json_object_set_new(json, "kernel", json_true());
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

struct export
{
	const struct sample *samples;
	size_t n, at;
	const struct daemons *daemons;
	json_t *array; /* of the samples */
};

static int add_execution(const struct execution *execution, void *data)
{
	struct export *export = data;
	json_t *sample;

	while (export->at < export->n && export->samples[export->at].n < execution->sample)
		export->at++;
	if (export->at == export->n || execution->daemon > export->daemons->n)
		return -EBADMSG;
	sample = json_array_get(export->array, export->at);
	return json_array_append_new(json_object_get(sample, "executions"),
		       make_execution(execution, &export->daemons->items[execution->daemon - 1])) < 0
		       ? -ENOMEM
		       : 0;
}

/* Into the samples that have them: both are in order. */
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
		if (json_object_set_new(sample, "sentinels", document_make_counters(&rows[at++].moved)) < 0)
			return not_made(err);
	}
	return r;
}

static int make_samples(struct book *book, int64_t run, json_t *array, struct error *err)
{
	_cleanup_(daemons_clearp) struct daemons daemons = {};
	_cleanup_(freep) struct sample *samples = NULL;
	struct export export = {.array = array, .daemons = &daemons};
	int r;

	r = book_samples(book, run, &samples, &export.n, err);
	if (r >= 0)
		r = book_daemons(book, &daemons, err);
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

/* An open run is, to whoever gets the document, one that was cut off here. */
static const char *state_to_say(const struct run *run)
{
	if (!strcmp(run->state, "done"))
		return NULL;
	return strcmp(run->state, "open") ? run->state : "interrupted";
}

static json_t *make_head(const struct run *run)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:o, s:I}", "format", "emp-run", "version", 1, "program",
		run->program, "task_length_s", member_from_ns(run->task_length_ns), "resolution_ns",
		(json_int_t)run->resolution_ns);
	int r = json ? 0 : -1;

	if (strcmp(run->purpose, "import"))
		r |= set_text(json, "purpose", run->purpose);
	r |= set_text(json, "state", state_to_say(run));
	r |= set_json(json, "command", run->command);
	r |= set_text(json, "backend", run->backend);
	r |= set_text(json, "pt_source", run->pt_source);
	r |= set_text(json, "profile", run->profile);
	r |= set_text(json, "notes", run->notes);
	r |= set_known(json, "cpu", run->cpu, -1);
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

static int export(struct book *book, int64_t id, json_t **document, struct error *err)
{
	_cleanup_(run_clearp) struct run run = {};
	json_t *samples = NULL;
	int r;

	r = book_get_run(book, id, &run, err);
	if (r < 0)
		return r;
	*document = make_head(&run);
	if (!*document)
		return not_made(err);
	r = set_environment(book, run.environment, *document, err);
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
	bool own;
	int r;

	r = book_view(book, &own, err);
	if (r < 0)
		return r;
	r = book_leave(book, own, export(book, run, &document, err), err);
	if (r < 0)
		return r;
	*ret = TAKE(document);
	return 0;
}
