/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Importing an emp-run document, which may be larger than memory: it is gone through once for the heads of its runs and the places of
 * their samples and rows, and from place to place to store these, in one transaction. */
#include "lib/book/book_calibrations.h"
#include "lib/base/xalloc.h"
#include "lib/book/book_internal.h"
#include "lib/book/book_rows.h"
#include "lib/document/document.h"
#include "lib/clocks/document_clocks.h"
#include "lib/document/document_fields.h"
#include "lib/document/document_quick.h"
#include "lib/duet/duet.h"

#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_ROWS = 64 };

/* The run, or another one of its duet. */
struct import_part {
	json_t *head;   /* what is neither samples nor rows */
	int64_t number; /* of the run in the book that it comes from; 0: not known */
	struct run run;
	int64_t samples, rows[MOST_ROWS]; /* places in the document; 0: none */
};

struct id_pair {
	int64_t from, to;
};

struct id_map {
	struct id_pair *items;
	size_t n;
};

struct run_import {
	struct book *book;
	struct json_stream *document;
	struct import_part *parts;
	size_t n_parts;
	int64_t run;                  /* that is being stored */
	struct execution *executions; /* of the current sample */
	size_t n_executions, capacity;
	int64_t first_ns, end_ns; /* of the samples so far */
	struct id_map sources, environments;
	int64_t unused; /* a number that no run will have; 0: not needed yet */
	struct error *err;
};

static void run_import_clear(struct run_import *import)
{
	for (size_t i = 0; i < import->n_parts; i++) {
		json_decref(import->parts[i].head);
		run_clear(&import->parts[i].run);
	}
	free(import->parts);
	free(import->executions);
	free(import->sources.items);
	free(import->environments.items);
}

static int id_map_add(struct id_map *map, int64_t from, int64_t to, struct error *err)
{
	struct id_pair *pair = array_add(map->items, map->n);

	*pair = (struct id_pair){from, to};
	return 0;
}

/* 0: it is not there. */
static int64_t id_map_get(const struct id_map *map, int64_t from)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->items[i].from == from)
			return map->items[i].to;
	return 0;
}

static int check_sample(const struct sample *sample, int64_t entry, int64_t last, struct error *err)
{
	if (sample->n == last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRId64
			" again, and the numbers of samples must not repeat",
			entry, last);
	if (sample->n < last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRIu32 " after %" PRId64
			", and samples must be in order",
			entry, sample->n, last);
	return 0;
}

static int read_sample(const json_t *object, int64_t entry, int64_t last, struct sample *sample,
	json_t **executions, struct error *err)
{
	struct json_fields f = json_fields_begin(
		object, (struct json_location){"'samples', entry", entry}, err);
	int64_t n = 0;

	json_fields_int(&f, "n", 1, UINT32_MAX, &n);
	sample->n = (uint32_t)n;
	if (f.r == 0)
		f.r = check_sample(sample, entry, last, err);
	f.at = (struct json_location){"sample", n};
	if (f.r == 0)
		document_read_fields(&f, &sample_table, sample);
	json_fields_array(&f, "executions", executions);
	return f.r;
}

/* 0.1.0 had "kernel" for the only kind it knew. */
static int read_execution(const json_t *object, uint32_t sample, size_t entry, struct source *who,
	struct execution *execution, struct error *err)
{
	struct json_fields f = json_fields_begin(
		object, (struct json_location){"sample", sample, "execution", (int64_t)entry}, err);
	bool kernel = false;

	document_read_fields(&f, &source_table, who);
	document_read_fields(&f, &execution_table, execution);
	json_fields_flag_maybe(&f, "kernel", &kernel);
	if (kernel && who->kind == SOURCE_PROCESS)
		who->kind = SOURCE_KERNEL;
	return f.r;
}

static int add_execution(const struct execution *execution, const struct source *who, void *data)
{
	struct run_import *import = data;
	struct execution *to = array_add_reused(import->executions, import->n_executions, import->capacity);

	*to = *execution;
	return book_source(import->book, who->name, who->exe, who->unit, who->kind, &to->source, import->err);
}

/* 0.1.0 had "sentinels". */
static int read_counters(const json_t *object, struct quick_sample *sample, struct error *err)
{
	struct json_fields f = json_fields_begin(object, (struct json_location){"sample", sample->sample.n}, err);
	json_t *member = NULL;

	json_fields_object_maybe(&f, "sentinels", &member);
	json_fields_object_maybe(&f, "disturbance_counters", &member);
	sample->has_counters = member;
	if (f.r < 0 || !member)
		return f.r;
	f.object = member;
	document_read_fields(&f, &counters_table, sample->counters);
	return f.r;
}

/* A sample that document_quick_sample did not read. */
static int read_any_sample(struct run_import *import, int64_t entry, int64_t last, struct quick_sample *ret)
{
	_cleanup_(json_decrefp) json_t *object = NULL;
	json_t *executions = NULL;
	int r = json_stream_parse(import->document, &object, import->err);

	if (r == 0)
		r = read_sample(object, entry, last, &ret->sample, &executions, import->err);
	import->n_executions = 0;
	for (size_t i = 0; r == 0 && i < json_array_size(executions); i++) {
		struct execution execution;
		struct source who;

		r = read_execution(json_array_get(executions, i), ret->sample.n, i + 1, &who, &execution,
			import->err);
		if (r == 0)
			r = add_execution(&execution, &who, import);
	}
	return r < 0 ? r : read_counters(object, ret, import->err);
}

static int store_sample(struct run_import *import, const struct quick_sample *sample)
{
	struct counters counters;
	int r = book_add_sample(import->book, import->run, &sample->sample, import->executions,
		import->n_executions, import->err);

	if (r < 0 || !sample->has_counters)
		return r;
	counters = counters_of_values(sample->counters);
	return counters.known ? book_add_counters(import->book, import->run, sample->sample.n, &counters, import->err)
			      : 0;
}

static int check_times(const struct sample *sample, struct error *err)
{
	if (sample->start_ns <= JSON_MOMENT_MAX - sample->et_ns)
		return 0;
	return error_say(err, -EINVAL,
		"sample %" PRIu32 ": 'start_ns' and 'et_ns' together must not be above %" PRId64, sample->n,
		JSON_MOMENT_MAX);
}

static int take_sample(struct run_import *import, const char *text, size_t size, int64_t entry, int64_t last,
	struct quick_sample *ret)
{
	int r;

	import->n_executions = 0;
	r = document_quick_sample(text, size, ret, add_execution, import);
	if (r == 0)
		r = read_any_sample(import, entry, last, ret);
	else if (r > 0)
		r = check_sample(&ret->sample, entry, last, import->err);
	if (r >= 0)
		r = check_times(&ret->sample, import->err);
	return r < 0 ? r : store_sample(import, ret);
}

/* All of a sample but its executions. *ret_executions is their place; 0: they are missing. */
static int scan_sample(struct run_import *import, int64_t entry, json_t *head, int64_t *ret_executions)
{
	const char *name;
	int r = json_stream_enter(import->document, '{', import->err);

	*ret_executions = 0;
	while (r >= 0 && (r = json_stream_member(import->document, &name, import->err)) > 0) {
		json_t *value = NULL;

		if (json_object_get(head, name))
			return error_say(import->err, -EINVAL,
				"'samples', entry %" PRId64 ": it has two members '%s'", entry, name);
		if (!strcmp(name, "executions") && json_stream_peek(import->document) == '[') {
			*ret_executions = json_stream_tell(import->document);
			r = json_stream_skip(import->document, import->err);
			value = json_array();
		} else {
			r = json_stream_json(import->document, &value, import->err);
		}
		if (r == 0 && json_object_set_new(head, name, value) < 0)
			r = error_oom(import->err);
	}
	return r;
}

static int take_execution(struct run_import *import, uint32_t sample, size_t entry)
{
	_cleanup_(json_decrefp) json_t *object = NULL;
	struct execution execution;
	struct source who;
	const char *text;
	size_t size;
	int r = json_stream_text(import->document, 0, &text, &size, import->err);

	if (r == 0)
		r = document_quick_execution(text, size, add_execution, import);
	if (r != 0)
		return r;
	r = json_stream_parse(import->document, &object, import->err);
	if (r == 0)
		r = read_execution(object, sample, entry, &who, &execution, import->err);
	return r < 0 ? r : add_execution(&execution, &who, import);
}

static int take_executions(struct run_import *import, uint32_t sample)
{
	enum { AT_ONCE = 4096 };
	size_t done = 0;
	int r = json_stream_enter(import->document, '[', import->err), more = 1;

	while (r >= 0 && more > 0) {
		import->n_executions = 0;
		while (r >= 0 && import->n_executions < AT_ONCE &&
			(more = json_stream_element(import->document, import->err)) > 0)
			r = take_execution(import, sample, done + import->n_executions + 1);
		if (r >= 0)
			r = more < 0 ? more
				     : book_add_executions(import->book, import->run, sample, done,
					       import->executions, import->n_executions, import->err);
		done += import->n_executions;
	}
	return r;
}

/* One that is too long to be held in memory: first without its executions, then these, some at a time. */
static int take_long_sample(
	struct run_import *import, int64_t place, int64_t entry, int64_t last, struct quick_sample *ret)
{
	_cleanup_(json_decrefp) json_t *head = json_object();
	json_t *none;
	int64_t executions, end;
	int r;

	json_stream_seek(import->document, place);
	r = scan_sample(import, entry, head, &executions);
	end = json_stream_tell(import->document);
	if (r >= 0)
		r = read_sample(head, entry, last, &ret->sample, &none, import->err);
	if (r >= 0)
		r = read_counters(head, ret, import->err);
	if (r >= 0)
		r = check_times(&ret->sample, import->err);
	import->n_executions = 0;
	if (r >= 0)
		r = store_sample(import, ret);
	json_stream_seek(import->document, executions);
	if (r >= 0)
		r = take_executions(import, ret->sample.n);
	json_stream_seek(import->document, end);
	return r;
}

static int take_samples(struct run_import *import)
{
	enum { MOST_BYTES = 1 << 20 }; /* of a sample in memory */
	struct quick_sample sample = {};
	int64_t entry = 0, last = 0;
	int r = json_stream_enter(import->document, '[', import->err);

	while (r >= 0 && (r = json_stream_element(import->document, import->err)) > 0) {
		int64_t place = json_stream_tell(import->document);
		const char *text;
		size_t size;

		entry++;
		r = json_stream_text(import->document, MOST_BYTES, &text, &size, import->err);
		if (r == 0)
			r = take_sample(import, text, size, entry, last, &sample);
		else if (r > 0)
			r = take_long_sample(import, place, entry, last, &sample);
		if (entry == 1)
			import->first_ns = sample.sample.start_ns;
		import->end_ns = sample.sample.start_ns + sample.sample.et_ns;
		last = sample.sample.n;
	}
	return r;
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
	if (!run->backend) { /* a name that documents of results had */
		const char *accounting = NULL;

		json_fields_text_maybe(f, "accounting", &accounting);
		run->backend = text_copy(accounting);
	}
	json_fields_int_maybe(f, "started_ns", 0, JSON_MOMENT_MAX, &run->started_ns);
	json_fields_int_maybe(f, "ended_ns", 0, JSON_MOMENT_MAX, &run->ended_ns);
	read_uid(f, run->uid);
	read_kind_of_run(f, &run->kind);
	read_command(f, &run->command);
	read_state(f, &run->state);
	document_read_correlation(f, &run->correlation);
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
	*ret = name ? xstrdup(name) : json_dumps(machine, JSON_COMPACT);
	if (!*ret)
		f->r = error_oom(f->err);
}

static void read_origin(struct json_fields *f, struct origin *origin)
{
	json_t *environment = json_object_get(f->object, "environment");

	read_machine(f, &origin->machine);
	json_fields_text_maybe(f, "environment_digest", &origin->digest);
	if (f->r < 0 || !environment || json_is_null(environment))
		return;
	if (json_is_string(environment) && !origin->digest)
		json_fields_text(f, "environment", &origin->digest);
	else if (!json_is_string(environment))
		json_fields_object(f, "environment", &environment);
	if (f->r == 0 && json_is_object(environment)) {
		struct json_fields inner = json_fields_begin(
			environment, (struct json_location){"'environment'"}, f->err);

		if (!origin->digest)
			json_fields_text_maybe(&inner, "digest", &origin->digest);
		f->r = inner.r;
	}
	if (f->r < 0)
		return;
	origin->document = json_dumps(environment, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!origin->document)
		f->r = error_oom(f->err);
}

/* Whether the book has that profile: its id; 0: not, and *ret_current says whether another one has its name. */
static int find_profile(
	struct run_import *import, const struct profile *profile, int64_t *ret, bool *ret_current)
{
	_cleanup_(json_decrefp) json_t *its = NULL;
	_cleanup_(freep) int64_t *ids = NULL;
	size_t n = 0;
	int r = document_make_profile(profile, &its, import->err);

	*ret = 0;
	*ret_current = false;
	if (r == 0)
		r = book_profile_ids(import->book, profile->name, &ids, &n, import->err);
	for (size_t i = 0; r == 0 && *ret == 0 && i < n; i++) {
		_cleanup_(profile_clear) struct profile stored = {};
		_cleanup_(json_decrefp) json_t *ours = NULL;

		r = book_get_run_profile(import->book, ids[i], &stored, import->err);
		if (r == 0)
			r = document_make_profile(&stored, &ours, import->err);
		*ret_current |= stored.retired_ns == 0;
		if (r == 0 && json_equal(its, ours))
			*ret = ids[i];
	}
	return r;
}

/* The profile that the run was measured with. If the book has another one of that name, this is kept for the run only. */
static int take_profile(struct run_import *import, const json_t *head, int64_t *ret)
{
	_cleanup_(profile_clear) struct profile profile = {};
	struct json_fields f = json_fields_begin(head, (struct json_location){}, import->err);
	const json_t *document = json_object_get(head, "profile_document");
	bool current;
	int r;

	*ret = 0;
	if (!document)
		return 0;
	r = document_parse_profile(document, &profile, import->err);
	if (r < 0)
		return error_prefix(import->err, r, "'profile_document'");
	json_fields_int_maybe(&f, "profile_retired_ns", 1, JSON_MOMENT_MAX, &profile.retired_ns);
	r = f.r < 0 ? f.r : find_profile(import, &profile, ret, &current);
	if (r < 0 || *ret)
		return r;
	if (current && profile.retired_ns == 0)
		profile.retired_ns = clock_ns(CLOCK_REALTIME);
	r = book_put_profile(import->book, &profile, false, import->err);
	return r < 0 ? r : find_profile(import, &profile, ret, &current);
}

static int put_measurements(struct run_import *import, const json_t *object, int64_t environment)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(object, "measurements"), i, row) {
		struct json_fields f = json_fields_begin(
			row, (struct json_location){"'measurements', entry", (int64_t)i + 1}, import->err);
		struct measurement measurement;

		document_read_fields(&f, &measurement_table, &measurement);
		if (f.r == 0)
			f.r = book_put_measurement(import->book, environment, &measurement, import->err);
		fields_clear(&measurement_table, &measurement);
		if (f.r < 0)
			return f.r;
	}
	return 0;
}

/* With the profile of a run, which would put its own measurements in place of those that the environment has here, or had where it
 * comes from. *ret: 0 if the document says nothing of it. */
static int put_environment(
	struct run_import *import, const json_t *object, int64_t *ret, int64_t *ret_profile)
{
	_cleanup_(origin_clear) struct origin origin = {};
	struct json_fields f = json_fields_begin(object, (struct json_location){}, import->err);
	struct measurement *before = NULL;
	size_t n = 0;
	int r;

	*ret = 0;
	if (f.r == 0)
		read_origin(&f, &origin);
	r = f.r;
	if (r == 0 && (origin.machine || origin.document || origin.digest))
		r = book_put_environment(
			import->book, origin.digest, origin.machine, origin.document, ret, import->err);
	if (r == 0 && *ret)
		r = book_measurements(import->book, *ret, &before, &n, import->err);
	if (r == 0)
		r = take_profile(import, object, ret_profile);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = book_put_measurement(import->book, *ret, &before[i], import->err);
	if (r == 0 && *ret && n == 0)
		r = put_measurements(import, object, *ret);
	fields_free(&measurement_table, before, n);
	return r;
}

/* Of the ids that rows have. */
static int take_maps(struct run_import *import, const json_t *head)
{
	json_t *sources = json_object_get(head, "sources"), *environments = json_object_get(head, "environments"),
	       *item;
	int64_t id = 0, to = 0;
	int r = 0;
	size_t i;

	import->sources.n = import->environments.n = 0;
	json_array_foreach (sources, i, item) {
		struct json_fields f = json_fields_begin(
			item, (struct json_location){"'sources', entry", (int64_t)i + 1}, import->err);
		struct source who;
		uint32_t source = 0;

		json_fields_int(&f, "id", 1, UINT32_MAX, &id);
		document_read_fields(&f, &source_table, &who);
		r = f.r < 0 ? f.r : book_source(import->book, who.name, who.exe, who.unit, who.kind, &source, import->err);
		if (r >= 0)
			r = id_map_add(&import->sources, id, source, import->err);
		if (r < 0)
			return r;
	}
	json_array_foreach (environments, i, item) {
		struct json_fields f = json_fields_begin(
			item, (struct json_location){"'environments', entry", (int64_t)i + 1}, import->err);

		json_fields_int(&f, "id", 1, INT64_MAX, &id);
		r = f.r < 0 ? f.r : put_environment(import, item, &to, &(int64_t){0});
		if (r >= 0)
			r = id_map_add(&import->environments, id, to, import->err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A number that no run of the book has or will have, for that of a run that was removed. */
static int find_unused(struct run_import *import)
{
	struct run run = import->parts[0].run;
	int r = import->unused ? 1 : 0;

	if (r > 0)
		return 0;
	run.uid[0] = '\0';
	r = book_add_run(import->book, &run, import->err);
	if (r >= 0)
		r = book_remove_run(import->book, run.id, true, import->err);
	import->unused = run.id;
	return r;
}

/* The ids of the other book become those of this one. */
static int renumber(struct run_import *import, const struct field_table *table, void *row)
{
	struct duet_row *duet = table == &duet_table ? row : NULL;
	struct resume_point *point = table == &resume_point_table ? row : NULL;
	int64_t reference = 0;

	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		int64_t id = field->source ? field_get(field, row) : 0, to = id_map_get(&import->sources, id);

		if (id > 0 && to == 0)
			return error_say(import->err, -EINVAL, "'%s' is %" PRId64 ", which is not among the 'sources'",
				field->name, id);
		if (id > 0)
			field_set(field, row, to);
	}
	if (point)
		point->environment = id_map_get(&import->environments, point->environment);
	for (size_t i = 0; duet && i < import->n_parts; i++)
		if (import->parts[i].number == duet->reference)
			reference = import->parts[i].run.id;
	if (duet && reference == 0) {
		int r = find_unused(import);

		if (r < 0)
			return r;
		reference = import->unused;
	}
	if (duet)
		duet->reference = reference;
	return 0;
}

static int take_row(struct run_import *import, const struct run_rows *rows, int64_t entry)
{
	_cleanup_(json_decrefp) json_t *object = NULL;
	_cleanup_(freep) void *row = xcalloc(1, rows->table->size);
	char where[64];
	struct json_fields f;
	int r = row ? json_stream_json(import->document, &object, import->err) : error_oom(import->err);

	if (r < 0)
		return r;
	snprintf(where, sizeof(where), rows->single ? "'%s'" : "'%s', entry", rows->member);
	f = json_fields_begin(object, (struct json_location){where, entry}, import->err);
	if (f.r == 0) {
		document_read_fields(&f, rows->table, row);
		r = f.r;
		if (r == 0)
			r = renumber(import, rows->table, row);
		if (r == 0)
			r = book_add_row(import->book, import->run, rows, row, import->err);
		if (r < 0 && f.r == 0)
			r = error_prefix(import->err, r, "%s %" PRId64, where, entry);
		fields_clear(rows->table, row);
		return r;
	}
	return f.r;
}

static int take_rows(struct run_import *import, const struct run_rows *rows)
{
	int64_t entry = 0;
	int r;

	if (rows->single)
		return take_row(import, rows, 0);
	r = json_stream_enter(import->document, '[', import->err);
	while (r >= 0 && (r = json_stream_element(import->document, import->err)) > 0)
		r = take_row(import, rows, ++entry);
	return r;
}

static int store_part(struct run_import *import, struct import_part *part)
{
	bool started = part->run.started_ns > 0, ended = part->run.ended_ns > 0;
	int r = take_maps(import, part->head);

	import->run = part->run.id;
	import->first_ns = import->end_ns = 0;
	json_stream_seek(import->document, part->samples);
	if (r >= 0)
		r = take_samples(import);
	if (r >= 0 && !started)
		r = book_set_times(import->book, part->run.id, import->first_ns,
			ended ? part->run.ended_ns : import->end_ns, import->err);
	for (size_t k = 0; r >= 0 && book_run_rows[k].member; k++)
		if (part->rows[k]) {
			json_stream_seek(import->document, part->rows[k]);
			r = take_rows(import, &book_run_rows[k]);
		}
	return r;
}

/* Runs get their numbers in the order in which they had them. */
static int store(struct run_import *import)
{
	int r = 0;

	for (size_t done = 0; r >= 0 && done < import->n_parts; done++) {
		struct import_part *next = NULL;

		for (size_t i = 0; i < import->n_parts; i++)
			if (import->parts[i].run.id == 0 && (!next || import->parts[i].number < next->number))
				next = &import->parts[i];
		r = put_environment(import, next->head, &next->run.environment, &next->run.profile_id);
		/* older versions did not keep it: then it is what is known of the environment here */
		if (r >= 0 && next->number == 0 && next->run.environment && next->run.correlation.samples == 0)
			r = book_get_correlation(
				import->book, next->run.environment, &next->run.correlation, import->err);
		if (r >= 0)
			r = book_add_run(import->book, &next->run, import->err);
	}
	for (size_t i = 0; r >= 0 && i < import->n_parts; i++)
		r = store_part(import, &import->parts[i]);
	return r;
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

/* The place of samples or rows in the part; NULL: the member is something else. */
static int64_t *place_of(struct import_part *part, const char *name)
{
	if (!strcmp(name, "samples"))
		return &part->samples;
	for (size_t k = 0; k < MOST_ROWS && book_run_rows[k].member; k++)
		if (!strcmp(name, book_run_rows[k].member))
			return &part->rows[k];
	return NULL;
}

static int scan_run(struct run_import *import, bool in_duet);

static int scan_duet_runs(struct run_import *import)
{
	int r = json_stream_enter(import->document, '[', import->err);

	while (r >= 0 && (r = json_stream_element(import->document, import->err)) > 0)
		r = scan_run(import, true);
	return r;
}

/* Its head, and where its samples and rows are. */
static int scan_run(struct run_import *import, bool in_duet)
{
	struct import_part *part = array_add(import->parts, import->n_parts);
	size_t at = import->n_parts - 1;
	const char *name;
	int r;

	if (!part || !(part->head = json_object()))
		return error_oom(import->err);
	if (json_stream_peek(import->document) != '{')
		return error_say(import->err, -EINVAL, "the document must be a JSON object {…}");
	r = json_stream_enter(import->document, '{', import->err);
	while (r >= 0 && (r = json_stream_member(import->document, &name, import->err)) > 0) {
		json_t *value = NULL;
		int64_t *place;

		part = &import->parts[at];
		place = place_of(part, name);
		if ((place && *place) || json_object_get(part->head, name))
			return error_say(import->err, -EINVAL, "the document has two members '%s'", name);
		if (!strcmp(name, "duet_runs") && !in_duet) {
			r = scan_duet_runs(import);
			continue;
		}
		if (place) {
			*place = json_stream_tell(import->document);
			if (place == &part->samples && json_stream_peek(import->document) != '[')
				*place = -1;
			r = json_stream_skip(import->document, import->err);
			continue;
		}
		r = json_stream_json(import->document, &value, import->err);
		if (r == 0 && json_object_set_new(part->head, name, value) < 0)
			r = error_oom(import->err);
	}
	return r;
}

static int read_head(struct import_part *part, struct error *err)
{
	struct json_fields f;
	int r = check_format(part->head, err);

	if (r < 0)
		return r;
	f = json_fields_begin(part->head, (struct json_location){}, err);
	json_fields_header(&f, "emp-run", 1);
	json_fields_int_maybe(&f, "run", 1, INT64_MAX, &part->number);
	read_run(&f, &part->run);
	if (f.r == 0 && part->samples == 0)
		f.r = error_say(err, -EINVAL, "the document has no 'samples'");
	if (f.r == 0 && part->samples < 0)
		f.r = error_say(err, -EINVAL, "the document: 'samples' must be an array […]");
	return f.r;
}

static int import_clocks(struct run_import *import, int64_t *ret)
{
	_cleanup_(clocks_clear) struct clocks clocks = {};
	const json_t *head = import->parts[0].head;
	int r = clocks_from_json(head, &clocks, import->err);

	if (r >= 0)
		r = put_environment(import, head, &clocks.environment, &(int64_t){0});
	if (r >= 0 && clocks.environment == 0)
		r = book_put_environment(import->book, NULL, NULL, NULL, &clocks.environment, import->err);
	if (r >= 0)
		r = book_put_clocks(import->book, &clocks, import->err);
	if (r >= 0)
		*ret = clocks.id;
	return r;
}

int document_import(struct book *book, struct json_stream *document, int64_t *ret, struct error *err)
{
	_cleanup_(run_import_clear) struct run_import import = {.book = book, .document = document, .err = err};
	const char *format;
	int r = scan_run(&import, false);

	if (r >= 0)
		r = json_stream_end(document, err);
	if (r < 0)
		return r;
	format = json_string_value(json_object_get(import.parts[0].head, "format"));
	if (format && !strcmp(format, "emp-clocks"))
		return BOOK_ATOMIC(book, import_clocks(&import, ret), err);
	for (size_t i = 0; r >= 0 && i < import.n_parts; i++)
		r = read_head(&import.parts[i], err);
	if (r >= 0)
		r = BOOK_ATOMIC(book, store(&import), err);
	if (r < 0)
		return r;
	*ret = import.parts[0].run.id;
	return 0;
}
