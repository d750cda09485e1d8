/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An emp-run document on its way into the book. The samples are gone through twice by the same
 * function: once to check them all, then, in one transaction, to store them. */
#include "lib/record/book/book_internal.h"
#include "lib/record/document/document.h"
#include "lib/record/document/document_counters.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct import {
	struct book *book; /* NULL: only check */
	int64_t run;
	struct execution *executions; /* of the sample at hand */
	size_t capacity;
	int64_t first_ns, end_ns; /* of the samples met so far */
};

static void import_clear(struct import *import)
{
	free(import->executions);
}

/* What a document says of who ran; the texts belong to it. */
struct who {
	const char *name, *exe, *unit;
	bool kernel;
};

static int read_number(const json_t *object, int64_t entry, uint32_t last, uint32_t *ret, struct error *err)
{
	const struct place at = {.what = "'samples', entry", .number = entry};
	int64_t n;
	int r;

	r = member_is_object(object, &at, err);
	if (r >= 0)
		r = member_int(object, &at, "n", 1, UINT32_MAX, &n, err);
	if (r < 0)
		return r;
	if (n == last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRId64
			" again, and the numbers of samples must not repeat",
			entry, n);
	if (n < last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRId64 " after %" PRIu32
			", and samples must be in order",
			entry, n, last);
	*ret = (uint32_t)n;
	return 0;
}

static int read_times(const json_t *object, const struct place *at, struct sample *sample, struct error *err)
{
	int r;

	r = member_int(object, at, "start_ns", 0, MEMBER_MOMENT_MAX, &sample->start_ns, err);
	if (r >= 0)
		r = member_int(object, at, "et_ns", 0, MEMBER_TIME_MAX, &sample->et_ns, err);
	if (r >= 0)
		r = member_int(object, at, "pt_ns", 0, MEMBER_TIME_MAX, &sample->pt_ns, err);
	if (r >= 0)
		r = member_int_maybe(object, at, "user_ns", 0, MEMBER_TIME_MAX, &sample->user_ns, err);
	if (r >= 0)
		r = member_int_maybe(object, at, "system_ns", 0, MEMBER_TIME_MAX, &sample->system_ns, err);
	if (r >= 0)
		r = member_int_maybe(
			object, at, "observer_ns", 0, MEMBER_TIME_MAX, &sample->observer_ns, err);
	return r;
}

static int read_sample(
	const json_t *object, int64_t entry, uint32_t last, struct sample *ret, struct error *err)
{
	struct sample sample = {.user_ns = -1, .system_ns = -1, .max_rss_bytes = -1, .observer_ns = -1};
	int64_t exit_status = -1, left_behind = 0;
	struct place at;
	int r;

	r = read_number(object, entry, last, &sample.n, err);
	if (r < 0)
		return r;
	at = (struct place){.what = "sample", .number = sample.n};
	r = read_times(object, &at, &sample, err);
	if (r >= 0)
		r = member_int_maybe(object, &at, "max_rss_bytes", 0, INT64_MAX, &sample.max_rss_bytes, err);
	if (r >= 0)
		r = member_int_maybe(object, &at, "exit_status", 0, 255, &exit_status, err);
	if (r >= 0)
		r = member_int_maybe(object, &at, "lost", 0, INT64_MAX, &sample.lost, err);
	if (r >= 0)
		r = member_int_maybe(object, &at, "left_behind", 0, INT32_MAX, &left_behind, err);
	if (r >= 0)
		r = member_flag_maybe(object, &at, "incomplete", &sample.incomplete, err);
	if (r < 0)
		return r;
	sample.exit_status = (int)exit_status;
	sample.left_behind = (int)left_behind;
	*ret = sample;
	return 0;
}

static int read_execution(const json_t *object, uint32_t sample, size_t entry, struct who *who,
	struct execution *ret, struct error *err)
{
	const struct place at = {"sample", sample, "execution", (int64_t)entry};
	struct execution execution = {.sample = sample, .tick_ns = -1};
	int64_t pid = 0;
	int r;

	r = member_is_object(object, &at, err);
	if (r >= 0)
		r = member_text(object, &at, "name", &who->name, err);
	if (r >= 0)
		r = member_int(object, &at, "pt_ns", 0, MEMBER_TIME_MAX, &execution.pt_ns, err);
	if (r >= 0)
		r = member_int_maybe(object, &at, "tick_ns", 0, MEMBER_TIME_MAX, &execution.tick_ns, err);
	if (r >= 0)
		r = member_int_maybe(object, &at, "pid", 0, INT32_MAX, &pid, err);
	if (r >= 0)
		r = member_text_maybe(object, &at, "exe", &who->exe, err);
	if (r >= 0)
		r = member_text_maybe(object, &at, "unit", &who->unit, err);
	if (r >= 0)
		r = member_flag_maybe(object, &at, "kernel", &who->kernel, err);
	if (r < 0)
		return r;
	execution.pid = (pid_t)pid;
	*ret = execution;
	return 0;
}

static int make_room(struct import *import, size_t n, struct error *err)
{
	struct execution *bigger;

	if (n <= import->capacity)
		return 0;
	bigger = reallocarray(import->executions, n, sizeof(*bigger));
	if (!bigger)
		return error_os(err, -ENOMEM, "cannot read the executions of a sample");
	import->executions = bigger;
	import->capacity = n;
	return 0;
}

static int take_executions(
	struct import *import, const json_t *executions, uint32_t sample, struct error *err)
{
	size_t n = json_array_size(executions);
	int r;

	r = make_room(import, n, err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct execution *execution = &import->executions[i];
		struct who who = {};

		r = read_execution(json_array_get(executions, i), sample, i + 1, &who, execution, err);
		if (r >= 0 && import->book)
			r = book_daemon(import->book, who.name, who.exe, who.unit, who.kernel,
				&execution->daemon, err);
	}
	return r;
}

static int take_counters(struct import *import, const json_t *object, uint32_t sample, struct error *err)
{
	struct counters counters = {};
	int r;

	r = document_parse_counters(
		object, &(struct place){.what = "sample", .number = sample}, &counters, err);
	if (r < 0 || !import->book || !counters.known)
		return r;
	return book_add_counters(import->book, import->run, sample, &counters, err);
}

static int take_samples(struct import *import, const json_t *samples, struct error *err)
{
	struct sample sample = {};

	for (size_t i = 0; i < json_array_size(samples); i++) {
		const json_t *object = json_array_get(samples, i);
		json_t *executions = NULL;
		int r;

		r = read_sample(object, (int64_t)i + 1, sample.n, &sample, err);
		if (r < 0)
			return r;
		r = member_array(object, &(struct place){.what = "sample", .number = sample.n}, "executions",
			&executions, err);
		if (r < 0)
			return r;
		r = take_executions(import, executions, sample.n, err);
		if (r >= 0 && import->book)
			r = book_add_sample(import->book, import->run, &sample, import->executions,
				json_array_size(executions), err);
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

static int copy_text(
	const json_t *document, const char *name, const char *otherwise, char **ret, struct error *err)
{
	const char *text = otherwise;
	int r;

	r = member_text_maybe(document, &(struct place){}, name, &text, err);
	if (r < 0)
		return r;
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? error_os(err, -ENOMEM, "cannot read '%s'", name) : 0;
}

/* An array of texts, or one text as it stands. */
static int copy_command(const json_t *document, char **ret, struct error *err)
{
	const json_t *command = json_object_get(document, "command");
	const json_t *word;
	bool right = json_is_array(command) || json_is_string(command);
	size_t i;

	if (!command || json_is_null(command))
		return 0;
	json_array_foreach (command, i, word)
		right &= json_is_string(word);
	if (!right)
		return error_say(err, -EINVAL, "the document: 'command' must be an array of texts");
	*ret = json_dumps(command, JSON_COMPACT | JSON_ENCODE_ANY);
	return *ret ? 0 : error_os(err, -ENOMEM, "cannot read 'command'");
}

static int copy_state(const json_t *document, char **ret, struct error *err)
{
	int r = copy_text(document, "state", "done", ret, err);

	if (r < 0)
		return r;
	if (strcmp(*ret, "done") && strcmp(*ret, "interrupted") && strcmp(*ret, "failed"))
		return error_say(err, -EINVAL,
			"the document: 'state' is '%s' and must be 'done', 'interrupted' or 'failed'", *ret);
	return 0;
}

static int read_texts(const json_t *document, struct run *run, struct error *err)
{
	int r;

	r = copy_text(document, "purpose", "import", &run->purpose, err);
	if (r >= 0)
		r = copy_text(document, "backend", NULL, &run->backend, err);
	if (r >= 0)
		r = copy_text(document, "pt_source", NULL, &run->pt_source, err);
	if (r >= 0)
		r = copy_text(document, "profile", NULL, &run->profile, err);
	if (r >= 0)
		r = copy_text(document, "notes", NULL, &run->notes, err);
	if (r >= 0)
		r = copy_command(document, &run->command, err);
	return r < 0 ? r : copy_state(document, &run->state, err);
}

static int analysis_load(const json_t *document, struct run *run, struct error *err)
{
	const struct place top = {};
	const char *program;
	int64_t cpu = -1;
	int r;

	r = member_text(document, &top, "program", &program, err);
	if (r >= 0)
		r = member_seconds(document, &top, "task_length_s", &run->task_length_ns, err);
	if (r >= 0)
		r = member_int(document, &top, "resolution_ns", 1, MEMBER_TIME_MAX, &run->resolution_ns, err);
	if (r >= 0)
		r = member_int_maybe(document, &top, "cpu", 0, INT32_MAX, &cpu, err);
	if (r < 0)
		return r;
	run->cpu = (int)cpu;
	run->program = strdup(program);
	if (!run->program)
		return error_os(err, -ENOMEM, "cannot read 'program'");
	return read_texts(document, run, err);
}

/* Where a run was made. A name or a digest is enough; more than that is kept as it stands. */
struct origin {
	char *machine;      /* NULL: not said */
	char *document;     /* of the environment; NULL: not said */
	const char *digest; /* the document's; NULL: not said */
};

static void origin_clear(struct origin *origin)
{
	free(origin->machine);
	free(origin->document);
}

static int read_machine(const json_t *document, char **ret, struct error *err)
{
	const json_t *machine = json_object_get(document, "machine");

	if (!json_is_object(machine))
		return copy_text(document, "machine", NULL, ret, err);
	*ret = json_dumps(machine, JSON_COMPACT);
	return *ret ? 0 : error_os(err, -ENOMEM, "cannot read 'machine'");
}

static int read_origin(const json_t *document, struct origin *origin, struct error *err)
{
	json_t *environment = json_object_get(document, "environment");
	int r;

	r = read_machine(document, &origin->machine, err);
	if (r < 0 || !environment || json_is_null(environment))
		return r;
	if (json_is_string(environment))
		r = member_text(document, &(struct place){}, "environment", &origin->digest, err);
	else
		r = member_object(document, &(struct place){}, "environment", &environment, err);
	if (r >= 0 && json_is_object(environment))
		r = member_text_maybe(environment, &(struct place){.what = "'environment'"}, "digest",
			&origin->digest, err);
	if (r < 0)
		return r;
	origin->document = json_dumps(environment, JSON_COMPACT | JSON_ENCODE_ANY);
	return origin->document ? 0 : error_os(err, -ENOMEM, "cannot read 'environment'");
}

static int store(struct import *import, struct run *run, const struct origin *origin, const json_t *samples,
	struct error *err)
{
	int r = 0;

	if (origin->machine || origin->document)
		r = book_put_environment(import->book, origin->digest, origin->machine, origin->document,
			&run->environment, err);
	if (r >= 0)
		r = book_add_run(import->book, run, err);
	if (r < 0)
		return r;
	import->run = run->id;
	return take_samples(import, samples, err);
}

int document_import_run(struct book *book, const json_t *document, int64_t *ret_run, struct error *err)
{
	_cleanup_(run_clearp) struct run run = {};
	_cleanup_(origin_clear) struct origin origin = {};
	_cleanup_(import_clear) struct import import = {};
	json_t *samples = NULL;
	bool own;
	int r;

	r = member_header(document, "emp-run", 1, err);
	if (r >= 0)
		r = analysis_load(document, &run, err);
	if (r >= 0)
		r = read_origin(document, &origin, err);
	if (r >= 0)
		r = member_array(document, &(struct place){}, "samples", &samples, err);
	if (r >= 0)
		r = take_samples(&import, samples, err);
	if (r < 0)
		return r;
	run.started_ns = import.first_ns;
	run.ended_ns = import.end_ns;
	r = book_join(book, &own, err);
	if (r < 0)
		return r;
	import.book = book;
	r = book_leave(book, own, store(&import, &run, &origin, samples, err), err);
	if (r < 0)
		return r;
	*ret_run = run.id;
	return 0;
}
