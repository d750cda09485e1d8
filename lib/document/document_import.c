/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Importing an emp-run document, which may be larger than memory: it is gone through once for the heads of its runs and the places of
 * their samples and rows, and from place to place to store these, in one transaction. */
#include "lib/document/document_internal.h"

#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/sql.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_ROWS = 64 };

/* The run, or another one that it belongs with. */
struct import_part {
	json_t *head;   /* what is neither samples nor rows */
	int64_t number; /* of the run in the book that it comes from; 0: not known */
	struct run run;
	int64_t samples, rows[MOST_ROWS]; /* places in the document; 0: none */
};

/* A number that the document has, and the one that the book gives to the same. */
struct import_id {
	enum field_reference of;
	int64_t from, to;
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
	struct import_id
		*ids; /* of the runs, then of the sources and environments of the run that is being stored */
	size_t n_ids;
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
	free(import->ids);
}

/* Samples are in order. */
static int check_number(const struct sample *sample, int64_t entry, int64_t last, struct error *err)
{
	if (sample->n > last)
		return 0;
	if (sample->n == last)
		return error_say(err, -EINVAL,
			"'samples', entry %" PRId64 ": 'n' is %" PRId64
			" again, and the numbers of samples must not repeat",
			entry, last);
	return error_say(err, -EINVAL,
		"'samples', entry %" PRId64 ": 'n' is %" PRIu32 " after %" PRId64
		", and samples must be in order",
		entry, sample->n, last);
}

static int import_execution(const struct execution *execution, const struct source *who, void *data)
{
	struct run_import *import = data;
	struct execution *to = array_add_reused(import->executions, import->n_executions, import->capacity);

	*to = *execution;
	return book_source(import->book, who->name, who->exe, who->unit, who->kind, &to->source, import->err);
}

static int store_sample(struct run_import *import, const struct quick_sample *read)
{
	const struct sample *sample = &read->sample;
	struct counters counters;
	int r;

	if (sample->start_ns > JSON_MOMENT_MAX - sample->et_ns)
		return error_say(import->err, -EINVAL,
			"sample %" PRIu32 ": 'start_ns' and 'et_ns' together must not be above %" PRId64,
			sample->n, JSON_MOMENT_MAX);
	r = book_add_sample(
		import->book, import->run, sample, import->executions, import->n_executions, import->err);
	if (r < 0 || !read->has_counters)
		return r;
	counters = counters_of_values(read->counters);
	return counters.known
		       ? book_add_counters(import->book, import->run, sample->n, &counters, import->err)
		       : 0;
}

/* 0.1.0 had "kernel" for the only kind it knew. */
static int import_executions(struct run_import *import, uint32_t sample)
{
	enum { AT_ONCE = 4096 };
	size_t done = 0;
	int r = json_stream_enter(import->document, '[', import->err), more = 1;

	while (r >= 0 && more > 0) {
		import->n_executions = 0;
		while (r >= 0 && import->n_executions < AT_ONCE &&
			(more = json_stream_element(import->document, import->err)) > 0) {
			_cleanup_(json_decrefp) json_t *object = NULL;
			size_t size, entry = done + import->n_executions + 1;
			struct execution execution;
			struct json_fields f;
			struct source who;
			bool kernel = false;
			const char *text;

			r = json_stream_text(import->document, 0, &text, &size, import->err);
			if (r == 0)
				r = document_quick_execution(text, size, import_execution, import);
			if (r == 0)
				r = json_stream_parse(import->document, &object, import->err);
			if (r != 0)
				continue;
			f = json_fields_begin(object,
				(struct json_location){"sample", sample, "execution", (int64_t)entry},
				import->err);
			document_read_fields(&f, &source_table, &who);
			document_read_fields(&f, &execution_table, &execution);
			json_fields_flag(&f, "kernel?", &kernel);
			if (kernel && who.kind == SOURCE_PROCESS)
				who.kind = SOURCE_KERNEL;
			r = f.r < 0 ? f.r : import_execution(&execution, &who, import);
		}
		if (r >= 0)
			r = more < 0 ? more
				     : book_add_executions(import->book, import->run, sample, done,
					       import->executions, import->n_executions, import->err);
		done += import->n_executions;
	}
	return r;
}

/* Everything of a sample but its executions. *ret_executions is their place; 0: they are missing. */
static int scan_sample(struct run_import *import, int64_t entry, json_t **ret, int64_t *ret_executions)
{
	_cleanup_(json_decrefp) json_t *head = json_object();
	const char *name;
	int r;

	*ret_executions = 0;
	if (json_stream_peek(import->document) != '{')
		return json_stream_json(import->document, ret, import->err);
	r = json_stream_enter(import->document, '{', import->err);
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
		if (r == 0)
			json_object_set_new(head, name, value);
	}
	*ret = TAKE(head);
	return r;
}

/* One that is too long to be held in memory, or that document_quick_sample did not read: first without its executions, then these,
 * some at a time. */
static int import_any_sample(
	struct run_import *import, int64_t place, int64_t entry, int64_t last, struct quick_sample *ret)
{
	_cleanup_(json_decrefp) json_t *head = NULL;
	int64_t executions, end;
	int r;

	json_stream_seek(import->document, place);
	r = scan_sample(import, entry, &head, &executions);
	end = json_stream_tell(import->document);
	if (r >= 0) {
		struct json_fields f = json_fields_begin(
			head, (struct json_location){"'samples', entry", entry}, import->err);
		json_t *counters;
		int64_t n = 0;

		/* All but executions, which `object` has as an array that may be empty. 0.1.0 had
		 * "sentinels" for counters. */
		json_fields_int(&f, "n", 1, UINT32_MAX, &n);
		ret->sample.n = (uint32_t)n;
		if (f.r == 0)
			f.r = check_number(&ret->sample, entry, last, import->err);
		f.at = (struct json_location){"sample", n};
		if (f.r == 0)
			document_read_fields(&f, &sample_table, &ret->sample);
		json_fields_array(&f, "executions");
		counters = json_fields_object(&f, "disturbance_counters?")
				   ?: json_fields_object(&f, "sentinels?");
		ret->has_counters = counters;
		f.object = counters;
		if (f.r == 0 && counters)
			document_read_fields(&f, &counters_table, ret->counters);
		r = f.r;
	}
	import->n_executions = 0;
	if (r >= 0)
		r = store_sample(import, ret);
	json_stream_seek(import->document, executions);
	if (r >= 0)
		r = import_executions(import, ret->sample.n);
	json_stream_seek(import->document, end);
	return r;
}

static int import_samples(struct run_import *import)
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
		if (r < 0)
			return r;
		import->n_executions = 0;
		r = r > 0 ? 0 : document_quick_sample(text, size, &sample, import_execution, import);
		if (r == 0)
			r = import_any_sample(import, place, entry, last, &sample);
		else if (r > 0)
			r = check_number(&sample.sample, entry, last, import->err)
				    ?: store_sample(import, &sample);
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
	if (right)
		*ret = json_dumps(command, JSON_COMPACT | JSON_ENCODE_ANY);
	else
		f->r = error_say(f->err, -EINVAL, "the document: 'command' must be an array of texts");
}

/* The ids that the rows of a run have, and those of the same sources and environments here. */
static int put_named(struct run_import *import, const json_t *head)
{
	static const struct {
		enum field_reference of;
		const char *member, *where;
		int64_t most;
	} lists[] = {
		{FIELD_TO_SOURCE, "sources", "'sources', entry", UINT32_MAX},
		{FIELD_TO_ENVIRONMENT, "environments", "'environments', entry", INT64_MAX},
	};
	json_t *item;
	size_t i;

	import->n_ids = import->n_parts;
	for (size_t k = 0; k < ELEMENTS(lists); k++)
		json_array_foreach (json_object_get(head, lists[k].member), i, item) {
			struct json_fields f = json_fields_begin(
				item, (struct json_location){lists[k].where, (int64_t)i + 1}, import->err);
			struct import_id *id = array_add(import->ids, import->n_ids);
			struct source who;
			uint32_t source = 0;

			id->of = lists[k].of;
			json_fields_int(&f, "id", 1, lists[k].most, &id->from);
			if (id->of == FIELD_TO_SOURCE)
				document_read_fields(&f, &source_table, &who);
			if (f.r == 0 && id->of == FIELD_TO_SOURCE) {
				f.r = book_source(import->book, who.name, who.exe, who.unit, who.kind,
					&source, import->err);
				id->to = source;
			} else if (f.r == 0) {
				f.r = document_put_environment(
					import->book, item, &id->to, NULL, import->err);
			}
			if (f.r < 0)
				return f.r;
		}
	return 0;
}

/* The ids of the other book become those of this one. */
static int renumber(struct run_import *import, const struct field_table *table, void *row)
{
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		int64_t from = field->refers ? field_get(field, row) : 0, to = 0;

		if (from == 0)
			continue;
		for (size_t i = 0; to == 0 && i < import->n_ids; i++)
			if (import->ids[i].of == field->refers && import->ids[i].from == from)
				to = import->ids[i].to;
		if (to == 0 && field->refers == FIELD_TO_SOURCE)
			return error_say(import->err, -EINVAL,
				"'%s' is %" PRId64 ", which is not among the 'sources'", field->name, from);
		/* for a run that is not in the document, a number that no run of the book has or will have */
		if (to == 0 && field->refers == FIELD_TO_RUN && !import->unused) {
			struct run run = import->parts[0].run;
			int r;

			run.uid[0] = '\0';
			r = book_add_run(import->book, &run, import->err);
			if (r >= 0)
				r = book_remove_run(import->book, run.id, true, import->err);
			if (r < 0)
				return r;
			import->unused = run.id;
		}
		field_set(field, row, to == 0 && field->refers == FIELD_TO_RUN ? import->unused : to);
	}
	return 0;
}

static int import_row(struct run_import *import, const struct run_rows *rows, int64_t entry)
{
	_cleanup_(json_decrefp) json_t *object = NULL;
	_cleanup_(freep) void *row = xcalloc(1, rows->table->size);
	char where[64];
	struct json_fields f;
	int r = json_stream_json(import->document, &object, import->err);

	if (r < 0)
		return r;
	snprintf(where, sizeof(where), rows->single ? "'%s'" : "'%s', entry", rows->member);
	f = json_fields_begin(object, (struct json_location){where, entry}, import->err);
	document_read_fields(&f, rows->table, row);
	r = f.r;
	if (r == 0) {
		r = renumber(import, rows->table, row);
		if (r >= 0)
			r = book_add_row(import->book, import->run, rows, row, import->err);
		if (r < 0)
			r = error_prefix(import->err, r, "%s %" PRId64, where, entry);
	}
	fields_clear(rows->table, row);
	return r;
}

static int import_rows(struct run_import *import, const struct run_rows *rows)
{
	int64_t entry = 0;
	int r;

	if (rows->single)
		return import_row(import, rows, 0);
	r = json_stream_enter(import->document, '[', import->err);
	while (r >= 0 && (r = json_stream_element(import->document, import->err)) > 0)
		r = import_row(import, rows, ++entry);
	return r;
}

/* Runs get their numbers in the order in which they had them. */
static int store_runs(struct run_import *import)
{
	int r = 0;

	for (size_t done = 0; r >= 0 && done < import->n_parts; done++) {
		struct import_part *next = NULL;

		for (size_t i = 0; i < import->n_parts; i++)
			if (import->parts[i].run.id == 0 && (!next || import->parts[i].number < next->number))
				next = &import->parts[i];
		r = document_put_environment(
			import->book, next->head, &next->run.environment, &next->run.profile_id, import->err);
		/* older versions did not keep it: then it is what is known of the environment here */
		if (r >= 0 && next->number == 0 && next->run.environment &&
			next->run.correlation.samples == 0)
			r = book_get_correlation(
				import->book, next->run.environment, &next->run.correlation, import->err);
		if (r >= 0)
			r = book_add_run(import->book, &next->run, import->err);
		*array_add(import->ids, import->n_ids) = (struct import_id){
			FIELD_TO_RUN, next->number, next->run.id};
	}
	for (size_t i = 0; r >= 0 && i < import->n_parts; i++) {
		struct import_part *part = &import->parts[i];
		bool started = part->run.started_ns > 0, ended = part->run.ended_ns > 0;
		const struct run_rows *rows;

		r = put_named(import, part->head);
		import->run = part->run.id;
		import->first_ns = import->end_ns = 0;
		json_stream_seek(import->document, part->samples);
		if (r >= 0)
			r = import_samples(import);
		if (r >= 0 && !started)
			r = sql_row(import->book, import->err,
				"UPDATE run SET started_ns = ?, ended_ns = ? WHERE id = ?", "iui",
				import->first_ns, ended ? part->run.ended_ns : import->end_ns, part->run.id);
		for (size_t k = 0; r >= 0 && (rows = document_run_rows(k)); k++)
			if (part->rows[k]) {
				json_stream_seek(import->document, part->rows[k]);
				r = import_rows(import, rows);
			}
	}
	return r;
}

/* Its head, and where its samples and rows are; and the same of those that it belongs with. */
static int scan_run(struct run_import *import, bool is_companion)
{
	struct import_part *part = array_add(import->parts, import->n_parts);
	size_t at = import->n_parts - 1;
	const char *name;
	int r;

	part->head = json_object();
	if (json_stream_peek(import->document) != '{')
		return error_say(import->err, -EINVAL, "the document must be a JSON object {…}");
	r = json_stream_enter(import->document, '{', import->err);
	while (r >= 0 && (r = json_stream_member(import->document, &name, import->err)) > 0) {
		bool has_companions = false;
		const struct run_rows *rows;
		json_t *value = NULL;
		int64_t *place; /* of samples or rows; NULL: the member is something else */

		part = &import->parts[at]; /* which companions may have moved */
		place = strcmp(name, "samples") ? NULL : &part->samples;
		for (size_t i = 0; !place && i < MOST_ROWS && (rows = document_run_rows(i)); i++)
			if (!strcmp(name, rows->member))
				place = &part->rows[i];
		for (const struct document_feature *const *feature = document_features; *feature; feature++)
			has_companions |= (*feature)->companions_member &&
					  !strcmp(name, (*feature)->companions_member);
		if ((place && *place) || json_object_get(part->head, name))
			return error_say(import->err, -EINVAL, "the document has two members '%s'", name);
		if (place) {
			*place = json_stream_tell(import->document);
			if (place == &part->samples && json_stream_peek(import->document) != '[')
				*place = -1;
			r = json_stream_skip(import->document, import->err);
		} else if (has_companions && !is_companion) {
			r = json_stream_enter(import->document, '[', import->err);
			while (r >= 0 && (r = json_stream_element(import->document, import->err)) > 0)
				r = scan_run(import, true);
		} else {
			r = json_stream_json(import->document, &value, import->err);
			if (r == 0)
				json_object_set_new(part->head, name, value);
		}
	}
	return r;
}

/* Its state; "uid" and "kind" as far as the document has them. */
static void read_identity(struct json_fields *f, struct run *run)
{
	const char *uid = "", *kind = "", *state = "done";

	json_fields_text_or_empty(f, "uid?", &uid);
	if (f->r == 0 && *uid &&
		(strlen(uid) != UID_SIZE - 1 || strspn(uid, "0123456789abcdef") != UID_SIZE - 1))
		f->r = error_say(
			f->err, -EINVAL, "the document: 'uid' must be 32 hexadecimal digits, not '%s'", uid);
	if (f->r == 0)
		strcpy(run->uid, uid);
	json_fields_text_or_empty(f, "purpose?", &kind); /* of 0.1.0 */
	json_fields_text_or_empty(f, "kind?", &kind);
	run->kind = RUN_IMPORT; /* also if this EMP does not know it */
	for (int i = 0; i < N_RUN_KINDS; i++)
		if (!strcmp(kind, run_kind_names[i]))
			run->kind = i;
	json_fields_text_or_empty(f, "state?", &state);
	for (run->state = RUN_DONE; run->state < N_RUN_STATES; run->state++)
		if (!strcmp(state, run_state_names[run->state]))
			break;
	if (f->r == 0 && run->state == N_RUN_STATES)
		f->r = error_say(f->err, -EINVAL,
			"the document: 'state' is '%s' and must be 'done', 'interrupted' or 'failed'", state);
}

static int read_head(struct import_part *part, struct error *err)
{
	const char *format = json_string_value(json_object_get(part->head, "format")), *accounting = NULL;
	struct json_fields f = json_fields_begin(part->head, (struct json_location){}, err);
	struct run *run = &part->run;

	/* results of a benchmark have no executions of other processes */
	if (format ? !strcmp(format, "emp-measure")
		   : json_is_array(json_object_get(part->head, "results")) ||
				json_is_array(json_object_get(part->head, "benchmarks")))
		return error_say(err, -EINVAL,
			"these are results, not a run: compare them with 'emp-analyze compare FILE', or write the run that they name with 'emp-analyze export RUN'");
	json_fields_header(&f, "emp-run", 1);
	json_fields_int(&f, "run?", 1, INT64_MAX, &part->number);
	document_read_fields(&f, &run_table, run);
	if (!run->backend) { /* a name that documents of results had */
		json_fields_text_or_empty(&f, "accounting?", &accounting);
		run->backend = text_copy(accounting);
	}
	json_fields_int(&f, "started_ns?", 0, JSON_MOMENT_MAX, &run->started_ns);
	json_fields_int(&f, "ended_ns?", 0, JSON_MOMENT_MAX, &run->ended_ns);
	read_identity(&f, run);
	read_command(&f, &run->command);
	document_read_correlation(&f, &run->correlation);
	if (f.r == 0 && part->samples == 0)
		f.r = error_say(err, -EINVAL, "the document has no 'samples'");
	if (f.r == 0 && part->samples < 0)
		f.r = error_say(err, -EINVAL, "the document: 'samples' must be an array […]");
	return f.r;
}

int document_import(struct book *book, struct json_stream *document, int64_t *ret, struct error *err)
{
	_cleanup_(run_import_clear) struct run_import import = {
		.book = book, .document = document, .err = err};
	const char *format;
	int r = scan_run(&import, false);

	if (r >= 0)
		r = json_stream_end(document, err);
	if (r < 0)
		return r;
	format = json_string_value(json_object_get(import.parts[0].head, "format")) ?: "";
	for (const struct document_feature *const *feature = document_features; *feature; feature++)
		if ((*feature)->format && !strcmp(format, (*feature)->format))
			return BOOK_ATOMIC(
				book, (*feature)->import(book, import.parts[0].head, ret, err), err);
	for (size_t i = 0; r >= 0 && i < import.n_parts; i++)
		r = read_head(&import.parts[i], err);
	if (r >= 0)
		r = BOOK_ATOMIC(book, store_runs(&import), err);
	if (r < 0)
		return r;
	*ret = import.parts[0].run.id;
	return 0;
}
