/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Importing an emp-run document. The same function goes through the samples twice: first to check them all, then, in one
 * transaction, to store them. */
#include "lib/record/book/book_internal.h"
#include "lib/record/document/document.h"
#include "lib/record/document/document_fields.h"

#include "lib/base/array.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct import {
	struct book *book; /* NULL: only check */
	int64_t run;
	struct note *notes; /* of the run */
	size_t n_notes;
	struct execution *executions; /* of the current sample */
	size_t n_executions, capacity;
	int64_t first_ns, end_ns; /* of the samples so far */
};

static void import_clear(struct import *import)
{
	free(import->executions);
	fields_free(&note_table, import->notes, import->n_notes);
}

static int read_sample(
	const json_t *object, int64_t entry, struct sample *sample, json_t **executions, struct error *err)
{
	struct json_fields f = json_fields_begin(
		object, (struct json_location){"'samples', entry", entry}, err);
	int64_t n = 0, last = sample->n;

	json_fields_int(&f, "n", 1, UINT32_MAX, &n);
	if (f.r < 0)
		return f.r;
	if (n == last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRId64
			" again, and the numbers of samples must not repeat",
			entry, n);
	if (n < last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRId64 " after %" PRId64
			", and samples must be in order",
			entry, n, last);
	f.at = (struct json_location){"sample", n};
	document_read_fields(&f, &sample_table, sample);
	json_fields_array(&f, "executions", executions);
	if (f.r == 0 && sample->start_ns > JSON_MOMENT_MAX - sample->et_ns)
		f.r = error_say(err, -EINVAL,
			"sample %" PRId64 ": 'start_ns' and 'et_ns' together must not be above %" PRId64, n,
			JSON_MOMENT_MAX);
	return f.r;
}

/* 0.1.0 had "kernel" for the only kind it knew. */
static enum source_kind read_kind(struct json_fields *f)
{
	const char *word = NULL;
	bool kernel = false;

	json_fields_text_maybe(f, "kind", &word);
	json_fields_flag_maybe(f, "kernel", &kernel);
	for (int i = 0; word && i < N_SOURCE_KINDS; i++)
		if (!strcmp(word, source_kind_names[i]))
			return i;
	return kernel ? SOURCE_KERNEL : SOURCE_PROCESS;
}

static int read_execution(const json_t *object, uint32_t sample, size_t entry, struct source *who,
	struct execution *execution, struct error *err)
{
	struct json_fields f = json_fields_begin(
		object, (struct json_location){"sample", sample, "execution", (int64_t)entry}, err);

	document_read_fields(&f, &source_table, who);
	document_read_fields(&f, &execution_table, execution);
	who->kind = read_kind(&f);
	return f.r;
}

static int take_executions(
	struct import *import, const json_t *executions, uint32_t sample, struct error *err)
{
	import->n_executions = 0;
	for (size_t i = 0; i < json_array_size(executions); i++) {
		struct execution *execution = array_add_reused(
			import->executions, import->n_executions, import->capacity);
		struct source who;
		int r;

		if (!execution)
			return error_oom(err);
		r = read_execution(json_array_get(executions, i), sample, i + 1, &who, execution, err);
		if (r >= 0 && import->book)
			r = book_source(
				import->book, who.name, who.exe, who.unit, who.kind, &execution->source, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* 0.1.0 had "sentinels". */
static int take_counters(struct import *import, const json_t *object, uint32_t sample, struct error *err)
{
	struct json_fields f = json_fields_begin(object, (struct json_location){"sample", sample}, err);
	int64_t values[N_COUNTER_VALUES];
	struct counters counters;
	json_t *member = NULL;

	json_fields_object_maybe(&f, "sentinels", &member);
	json_fields_object_maybe(&f, "disturbance_counters", &member);
	if (f.r < 0 || !member)
		return f.r;
	f.object = member;
	document_read_fields(&f, &counters_table, values);
	if (f.r < 0 || !import->book)
		return f.r;
	counters = counters_of_values(values);
	return counters.known ? book_add_counters(import->book, import->run, sample, &counters, err) : 0;
}

static int take_samples(struct import *import, const json_t *samples, struct error *err)
{
	struct sample sample = {};

	for (size_t i = 0; i < json_array_size(samples); i++) {
		const json_t *object = json_array_get(samples, i);
		json_t *executions = NULL;
		int r;

		r = read_sample(object, (int64_t)i + 1, &sample, &executions, err);
		if (r < 0)
			return r;
		r = take_executions(import, executions, sample.n, err);
		if (r >= 0 && import->book)
			r = book_add_sample(import->book, import->run, &sample, import->executions,
				import->n_executions, err);
		if (r >= 0)
			r = take_counters(import, object, sample.n, err);
		if (r < 0)
			return r;
		if (i == 0)
			import->first_ns = sample.start_ns;
		import->end_ns = sample.start_ns + sample.et_ns;
	}
	return 0;
}

/* An array of texts, or one text. */
static void read_command(struct json_fields *f, char **ret)
{
	const json_t *command = json_object_get(f->object, "command"), *argument;
	bool right = json_is_array(command) || json_is_string(command);
	size_t i;

	if (f->r < 0 || !command || json_is_null(command))
		return;
	json_array_foreach (command, i, argument)
		right &= json_is_string(argument);
	if (!right) {
		f->r = error_say(f->err, -EINVAL, "the document: 'command' must be an array of texts");
		return;
	}
	*ret = json_dumps(command, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!*ret)
		f->r = error_oom(f->err);
}

static void read_state(struct json_fields *f, enum run_state *ret)
{
	const char *word = "done";

	json_fields_text_maybe(f, "state", &word);
	for (*ret = RUN_DONE; *ret < N_RUN_STATES; ++*ret)
		if (!strcmp(word, run_state_names[*ret]))
			return;
	if (f->r == 0)
		f->r = error_say(f->err, -EINVAL,
			"the document: 'state' is '%s' and must be 'done', 'interrupted' or 'failed'", word);
}

/* An unknown kind becomes "other". */
static void read_notes(struct json_fields *f, struct import *import)
{
	json_t *array = json_object_get(f->object, "warnings"), *object;
	size_t i;

	json_array_foreach (array, i, object) {
		struct json_fields inner = json_fields_begin(
			object, (struct json_location){"'warnings', entry", (int64_t)i + 1}, f->err);
		struct note *note = f->r == 0 ? array_add(import->notes, import->n_notes) : NULL;
		const char *kind = "", *text = NULL;

		json_fields_text(&inner, "text", &text);
		json_fields_text_maybe(&inner, "kind", &kind);
		f->r = f->r ?: inner.r;
		if (f->r < 0 || !note)
			return;
		*note = (struct note){(uint32_t)i + 1, NOTE_OTHER, strdup(text)};
		for (int k = 0; k < N_NOTE_KINDS; k++)
			if (!strcmp(kind, note_kind_names[k]))
				note->kind = k;
	}
}

/* 0.1.0 had "purpose". An unknown kind becomes an import. */
static void read_kind_of_run(struct json_fields *f, enum run_kind *ret)
{
	const char *word = "";

	json_fields_text_maybe(f, "purpose", &word);
	json_fields_text_maybe(f, "kind", &word);
	*ret = RUN_IMPORT;
	for (int i = 0; i < N_RUN_KINDS; i++)
		if (!strcmp(word, run_kind_names[i]))
			*ret = i;
}

static void read_uid(struct json_fields *f, char uid[UID_SIZE])
{
	const char *text = "";

	json_fields_text_maybe(f, "uid", &text);
	if (f->r < 0 || !*text)
		return;
	if (strlen(text) != UID_SIZE - 1 || strspn(text, "0123456789abcdef") != UID_SIZE - 1)
		f->r = error_say(
			f->err, -EINVAL, "the document: 'uid' must be 32 hexadecimal digits, not '%s'", text);
	else
		strcpy(uid, text);
}

static void read_run(struct json_fields *f, struct run *run)
{
	document_read_fields(f, &run_table, run);
	read_uid(f, run->uid);
	document_read_correlation(f, &run->correlation);
	read_kind_of_run(f, &run->kind);
	read_command(f, &run->command);
	read_state(f, &run->state);
}

/* Where a run was made. A name or a digest is enough; a whole document is stored unchanged. */
struct origin {
	char *machine;      /* NULL: not known */
	char *document;     /* of the environment; NULL: not known */
	const char *digest; /* the document's; NULL: not known */
};

static void origin_clear(struct origin *origin)
{
	free(origin->machine);
	free(origin->document);
}

static void read_machine(struct json_fields *f, char **ret)
{
	const json_t *machine = json_object_get(f->object, "machine");
	const char *name = NULL;

	if (!json_is_object(machine))
		json_fields_text_maybe(f, "machine", &name);
	if (f->r < 0 || (!name && !json_is_object(machine)))
		return;
	*ret = name ? strdup(name) : json_dumps(machine, JSON_COMPACT);
	if (!*ret)
		f->r = error_oom(f->err);
}

static void read_origin(struct json_fields *f, struct origin *origin)
{
	json_t *environment = json_object_get(f->object, "environment");

	read_machine(f, &origin->machine);
	if (f->r < 0 || !environment || json_is_null(environment))
		return;
	if (json_is_string(environment))
		json_fields_text(f, "environment", &origin->digest);
	else
		json_fields_object(f, "environment", &environment);
	if (f->r == 0 && json_is_object(environment)) {
		struct json_fields inner = json_fields_begin(
			environment, (struct json_location){"'environment'"}, f->err);

		json_fields_text_maybe(&inner, "digest", &origin->digest);
		f->r = inner.r;
	}
	if (f->r < 0)
		return;
	origin->document = json_dumps(environment, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!origin->document)
		f->r = error_oom(f->err);
}

static int store(struct import *import, struct run *run, const struct origin *origin, const json_t *samples,
	struct error *err)
{
	int r = 0;

	if (origin->machine || origin->document)
		r = book_put_environment(import->book, origin->digest, origin->machine, origin->document,
			&run->environment, err);
	/* older versions did not keep it: then it is what is known of the environment here */
	if (r >= 0 && run->environment && run->correlation.samples == 0)
		r = book_get_correlation(import->book, run->environment, &run->correlation, err);
	if (r >= 0)
		r = book_add_run(import->book, run, err);
	if (r >= 0)
		r = book_put_notes(import->book, run->id, import->notes, import->n_notes, err);
	if (r < 0)
		return r;
	import->run = run->id;
	return take_samples(import, samples, err);
}

/* Results of a benchmark have no executions of other processes. */
static int check_format(const json_t *document, struct error *err)
{
	const char *format = json_string_value(json_object_get(document, "format"));

	if (format ? strcmp(format, "emp-measure") != 0
		   : !json_is_array(json_object_get(document, "results")) &&
				!json_is_array(json_object_get(document, "benchmarks")))
		return 0;
	return error_say(err, -EINVAL,
		"these are results, not a run: compare them with 'emp-analyze compare FILE', or write the run that they name with 'emp-analyze export RUN'");
}

static int read_document(struct import *import, const json_t *document, struct run *run,
	struct origin *origin, json_t **ret_samples, struct error *err)
{
	struct json_fields f;
	int r = check_format(document, err);

	if (r < 0)
		return r;
	f = json_fields_begin(document, (struct json_location){}, err);
	json_fields_header(&f, "emp-run", 1);
	read_run(&f, run);
	read_origin(&f, origin);
	read_notes(&f, import);
	json_fields_array(&f, "samples", ret_samples);
	return f.r < 0 ? f.r : take_samples(import, *ret_samples, err);
}

int document_import_run(struct book *book, const json_t *document, int64_t *ret_run, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(origin_clear) struct origin origin = {};
	_cleanup_(import_clear) struct import import = {};
	json_t *samples = NULL;
	int r;

	r = read_document(&import, document, &run, &origin, &samples, err);
	if (r < 0)
		return r;
	run.started_ns = import.first_ns;
	run.ended_ns = import.end_ns;
	import.book = book;
	r = BOOK_ATOMIC(book, store(&import, &run, &origin, samples, err), err);
	if (r < 0)
		return r;
	*ret_run = run.id;
	return 0;
}
