/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Importing documents: see document_import.h.
 *
 * A run may be larger than memory: the document is read once for the heads of its runs and the
 * places of their samples and rows, and then from place to place to store these, in one
 * transaction. */
#include "lib/document/document_import.h"

#include "lib/book/book_machines.h"
#include "lib/book/book_runs.h"
#include "lib/book/book_samples.h"
#include "lib/book/book_sources.h"
#include "lib/book/sql.h"
#include "lib/document/document_environment.h"
#include "lib/document/document_features.h"
#include "lib/document/document_fields.h"
#include "lib/document/document_internal.h"
#include "lib/document/document_object.h"
#include "lib/document/document_stream.h"

enum { MOST_ROWS = 64 };

/* The run, or another one without which it cannot be understood. */
struct import_part {
	json_t *head;   /* what is neither samples nor rows */
	int64_t number; /* of the run in the book that it comes from; 0: not known */
	struct run run;
	int64_t samples, rows[MOST_ROWS]; /* places in the document; 0: none */
};

/* An id in the document, and the id of the same thing in the book. */
struct import_id {
	enum field_reference of;
	int64_t from, to;
};

struct run_import {
	struct book *book;
	struct document_stream *document;
	struct import_part *parts;
	size_t n_parts;
	int64_t run; /* that is being stored */
	/* of the runs, then of the sources and environments of the run that is being stored */
	struct import_id *ids;
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
	free(import->ids);
}

static int import_execution(
	struct run_import *import, struct json_location at, struct execution *ret)
{
	struct source who;
	struct document_object o = {.stream = import->document,
		.f.at = at,
		.parts = {{&source_table, &who}, {&execution_table, ret}}};
	bool kernel = false;
	const char *name;
	int r;

	while ((r = document_member(&o, &name)) > 0) {
		if (!strcmp(name, "kernel")) /* the only kind that 0.1.0 knew */
			kernel = stream_peek(import->document) == 't';
		r = document_skip(&o);
		if (r < 0)
			break;
	}
	if (kernel && who.kind == SOURCE_PROCESS)
		who.kind = SOURCE_KERNEL;
	if (r >= 0)
		r = book_source(import->book, &who, &ret->source, import->err);
	fields_clear(&source_table, &who);
	return r;
}

/* Stores the executions that are at `place`, some at a time: a sample may have more than memory
 * holds. */
static int import_executions(struct run_import *import, int64_t place, uint32_t sample)
{
	struct execution executions[256];
	size_t stored = 0, n = 0;
	int r, more = 1;

	stream_seek(import->document, place);
	r = stream_enter(import->document, '[');
	while (r >= 0 && more > 0) {
		r = more = stream_next(import->document, ']');
		if (n == ELEMENTS(executions) || (more == 0 && n > 0)) {
			r = sql_insert(import->book, import->err, &execution_table, "", executions,
				n, "iin", import->run, (int64_t)sample, (int64_t)stored + 1);
			stored += n;
			n = 0;
		}
		if (r >= 0 && more > 0) {
			r = import_execution(import,
				(struct json_location){
					"sample", sample, "execution", (int64_t)(stored + n) + 1},
				&executions[n]);
			n++;
		}
	}
	return r;
}

/* Reads the disturbance counters of a sample. EMP 0.2.0 wrote them under two names, and builds
 * between it and 0.3.0 twice under one: the values must be the same. */
static int import_counters(
	struct document_object *o, const char *name, struct counters *ret, bool *has)
{
	_cleanup_(freep) char *kept = xstrdup(name); /* reading other members overwrites it */
	struct counters counters = COUNTERS_NONE;
	int r = document_read_object(&(struct document_object){
		.stream = o->stream, .f = o->f, .parts = {{&counters_table, &counters}}});

	if (r >= 0 && *has && memcmp(counters.value, ret->value, sizeof(counters.value)) != 0)
		return document_refuse_twice(o, kept);
	*ret = counters;
	*has = true;
	return r;
}

/* What the document has of a sample besides its own members. */
struct sample_contents {
	int64_t executions; /* their place in the document; 0: not seen yet */
	struct counters counters;
	bool has_counters;
};

/* Reads a member that struct sample does not have. */
static int import_sample_member(
	struct document_object *o, const char *name, struct sample_contents *contents)
{
	struct document_stream *document = o->stream;
	char next = stream_peek(document);
	/* the second name is of 0.1.0 */
	bool is_counters = !strcmp(name, "disturbance_counters") || !strcmp(name, "sentinels");

	if (!strcmp(name, "executions")) {
		if (contents->executions)
			return document_refuse_twice(o, name);
		if (next != '[')
			return json_fields_refuse(
				&o->f, -EINVAL, ": '%s' must be %s", name, "an array […]");
		contents->executions = stream_tell(document);
		return stream_value(document, false);
	}
	if (!is_counters || next == 'n')
		return document_skip(o);
	if (next != '{')
		return json_fields_refuse(
			&o->f, -EINVAL, ": '%s' must be %s", name, "an object {…}");
	return import_counters(o, name, &contents->counters, &contents->has_counters);
}

/* `last`: the number of the sample before it. */
static int check_sample(struct document_object *o, const struct sample *sample, int64_t last)
{
	struct json_fields *f = &o->f;

	if (sample->start_ns > JSON_MOMENT_MAX - sample->et_ns)
		return json_fields_refuse(f, -EINVAL,
			": 'start_ns' and 'et_ns' together must not be above %" PRId64,
			JSON_MOMENT_MAX);
	f->at = o->at;
	if (sample->n == last)
		return json_fields_refuse(f, -EINVAL,
			": 'n' is %" PRId64 " again, and the numbers of samples must not repeat",
			last);
	if (sample->n < last)
		return json_fields_refuse(f, -EINVAL,
			": 'n' is %" PRIu32 " after %" PRId64 ", and samples must be in order",
			sample->n, last);
	return 0;
}

/* Its executions are read last, because the book needs the sample first. */
static int import_sample(struct run_import *import, int64_t entry, struct sample *sample)
{
	struct document_object o = {.stream = import->document,
		.f.at = {"'samples', entry", entry},
		.parts = {{&sample_table, sample}},
		.sample = &sample->n};
	struct sample_contents contents = {.counters = COUNTERS_NONE};
	int64_t end, last = sample->n;
	const char *name;
	int r;

	while ((r = document_member(&o, &name)) > 0) {
		r = import_sample_member(&o, name, &contents);
		if (r < 0)
			return r;
	}
	if (r == 0 && !contents.executions)
		r = json_fields_refuse(&o.f, -EINVAL, " has no 'executions'");
	if (r == 0)
		r = check_sample(&o, sample, last);
	if (r < 0)
		return r;

	end = stream_tell(import->document);
	r = book_add_sample(import->book, import->run, sample, NULL, 0, import->err);
	contents.counters.sample = sample->n;
	if (r >= 0 && counters_know_any(&contents.counters))
		r = sql_insert(import->book, import->err, &counters_table, "", &contents.counters,
			1, "i", import->run);
	if (r >= 0)
		r = import_executions(import, contents.executions, sample->n);
	stream_seek(import->document, end);
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
		f->r = error_say(
			f->err, -EINVAL, "the document: 'command' must be an array of texts");
}

/* Stores a source or an environment that the rows of a run refer to. *ret: the id in the document,
 * and the one that the book gives it. */
static int put_referred(
	struct run_import *import, struct json_fields *f, int64_t most, struct import_id *ret)
{
	struct source who = {};
	uint32_t source = 0;

	json_fields_int(f, "id", 1, most, &ret->from);
	if (ret->of == FIELD_TO_SOURCE) {
		document_read_fields(f, &source_table, &who);
		if (f->r == 0)
			f->r = book_source(import->book, &who, &source, import->err);
		ret->to = source;
		fields_clear(&source_table, &who);
	} else if (f->r == 0) {
		f->r = document_put_environment(
			import->book, f->object, &ret->to, NULL, import->err);
	}
	return f->r;
}

/* Stores all sources and environments that the rows of a run refer to. */
static int put_all_referred(struct run_import *import, const json_t *head)
{
	static const struct {
		enum field_reference of;
		const char *member, *where;
		int64_t most;
	} lists[] = {
		{FIELD_TO_SOURCE, "sources?", "'sources', entry", UINT32_MAX},
		{FIELD_TO_ENVIRONMENT, "environments?", "'environments', entry", INT64_MAX},
	};
	json_t *item;
	size_t i;

	import->n_ids = import->n_parts;
	for (size_t k = 0; k < ELEMENTS(lists); k++) {
		struct json_fields whole = json_fields_begin(
			head, (struct json_location){}, import->err);
		const json_t *list = json_fields_array(&whole, lists[k].member);

		if (whole.r < 0)
			return whole.r;
		json_array_foreach (list, i, item) {
			const struct json_location at = {lists[k].where, (int64_t)i + 1};
			struct json_fields f = json_fields_begin(item, at, import->err);
			struct import_id *id = array_add(import->ids, import->n_ids);
			int r;

			id->of = lists[k].of;
			r = put_referred(import, &f, lists[k].most, id);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Replaces the ids in a row by those of this book. */
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
				"'%s' is %" PRId64 ", which is not among the 'sources'",
				field->name, from);
		/* for a run that is not in the document, a number that no run of the book has or
		 * will have */
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
		field_set(
			field, row, to == 0 && field->refers == FIELD_TO_RUN ? import->unused : to);
	}
	return 0;
}

static int import_row(struct run_import *import, const struct run_rows *rows, int64_t entry)
{
	_cleanup_(freep) void *row = xcalloc(1, rows->table->size);
	const char *where = text_brief(rows->single ? "'%s'" : "'%s', entry", rows->member);
	struct document_object o = {
		.stream = import->document, .f.at = {where, entry}, .parts = {{rows->table, row}}};
	int r = document_read_object(&o);

	if (r >= 0) {
		r = renumber(import, rows->table, row);
		if (r >= 0)
			r = sql_insert(import->book, import->err, rows->table, rows->insert ?: "",
				row, 1, *rows->table->keys ? "i" : "", import->run);
		if (r < 0)
			r = error_prefix(import->err, r, "%s %" PRId64, where, entry);
	}
	fields_clear(rows->table, row);
	return r;
}

/* Stores the samples of a run. A run whose times the document does not have gets those of its
 * samples. */
static int store_samples(struct run_import *import, const struct import_part *part)
{
	bool started = part->run.started_ns > 0, ended = part->run.ended_ns > 0;
	int64_t first_ns = 0, end_ns = 0, entry = 0;
	struct sample sample = {};
	int r;

	stream_seek(import->document, part->samples);
	r = stream_enter(import->document, '[');
	while (r >= 0 && (r = stream_next(import->document, ']')) > 0) {
		r = import_sample(import, ++entry, &sample);
		if (entry == 1)
			first_ns = sample.start_ns;
		end_ns = sample.start_ns + sample.et_ns;
	}
	if (r < 0 || started)
		return r;
	return sql_row(import->book, import->err,
		"UPDATE run SET started_ns = ?, ended_ns = ? WHERE id = ?", "iui", first_ns,
		ended ? part->run.ended_ns : end_ns, part->run.id);
}

/* Stores the rows of a table, which are at `place`. */
static int store_rows_of(struct run_import *import, const struct run_rows *rows, int64_t place)
{
	int64_t entry = 0;
	int r;

	stream_seek(import->document, place);
	if (rows->single)
		return import_row(import, rows, 0);
	r = stream_enter(import->document, '[');
	while (r >= 0 && (r = stream_next(import->document, ']')) > 0)
		r = import_row(import, rows, ++entry);
	return r;
}

/* Stores all of a run that is not in its own row. */
static int store_contents(struct run_import *import, const struct import_part *part)
{
	const struct run_rows *rows;
	int r = put_all_referred(import, part->head);

	import->run = part->run.id;
	if (r >= 0)
		r = store_samples(import, part);
	for (size_t i = 0; r >= 0 && (rows = document_run_rows(i)); i++)
		if (part->rows[i])
			r = store_rows_of(import, rows, part->rows[i]);
	return r;
}

/* Runs get their numbers in the order in which they had them. */
static int store_runs(struct run_import *import)
{
	int r = 0;

	for (size_t done = 0; r >= 0 && done < import->n_parts; done++) {
		struct import_part *next = NULL;

		for (size_t i = 0; i < import->n_parts; i++)
			if (import->parts[i].run.id == 0 &&
				(!next || import->parts[i].number < next->number))
				next = &import->parts[i];
		r = document_put_environment(import->book, next->head, &next->run.environment,
			&next->run.profile_id, import->err);
		import->document->names_profile |= next->run.profile && !next->run.profile_id;
		/* older versions did not keep it: then it is what is known of the environment
		 * here */
		if (r >= 0 && next->number == 0 && next->run.environment &&
			next->run.correlation.samples == 0)
			r = book_get_correlation(import->book, next->run.environment,
				next->run.inc_digest, &next->run.correlation, import->err);
		if (r >= 0)
			r = book_add_run(import->book, &next->run, import->err);
		*array_add(import->ids, import->n_ids) = (struct import_id){
			FIELD_TO_RUN, next->number, next->run.id};
	}
	for (size_t i = 0; r >= 0 && i < import->n_parts; i++)
		r = store_contents(import, &import->parts[i]);
	return r;
}

/* Whether rows or runs follow, between these brackets; 0: null, which says that there are none. */
static int has_contents(struct run_import *import, const char *member, char bracket)
{
	char next = stream_peek(import->document);

	if (next == bracket || next == 'n')
		return next == bracket;
	return error_say(import->err, -EINVAL, "the document: '%s' must be %s", member,
		bracket == '[' ? "an array […]" : "an object {…}");
}

static int scan_run(struct run_import *import, bool is_companion);

/* Reads the runs without which this one cannot be understood. */
static int scan_companions(struct run_import *import, json_t *head, const char *name)
{
	int r;

	json_object_set_new(head, name, json_true());
	r = stream_enter(import->document, '[');
	while (r >= 0 && (r = stream_next(import->document, ']')) > 0)
		r = scan_run(import, true);
	return r;
}

static int scan_head(struct run_import *import, json_t *head, const char *name)
{
	json_t *value = NULL;
	int r = stream_value(import->document, true);

	if (r == 0)
		r = stream_parse(import->document, &value);
	if (r == 0)
		json_object_set_new(head, name, value);
	return r;
}

/* Notes where the samples of a run are; -1: they are no array. */
static int scan_samples(struct run_import *import, struct import_part *part)
{
	bool is_array = stream_peek(import->document) == '[';

	part->samples = is_array ? stream_tell(import->document) : -1;
	return stream_value(import->document, false);
}

static bool is_companions(const char *name)
{
	for (const struct document_feature *const *feature = document_features; *feature; feature++)
		if ((*feature)->companions.member && !strcmp(name, (*feature)->companions.member))
			return true;
	return false;
}

/* The table whose rows a member has, and its number; NULL: the member has no rows. */
static const struct run_rows *rows_of_member(const char *name, size_t *ret)
{
	const struct run_rows *rows;

	for (*ret = 0; *ret < MOST_ROWS && (rows = document_run_rows(*ret)); (*ret)++)
		if (!strcmp(name, rows->member))
			return rows;
	return NULL;
}

static int scan_member(
	struct run_import *import, struct import_part *part, const char *name, bool is_companion)
{
	bool is_samples = !strcmp(name, "samples"), has_companions;
	size_t table;
	const struct run_rows *rows = is_samples ? NULL : rows_of_member(name, &table);
	int r;

	if ((is_samples && part->samples) || (rows && part->rows[table]) ||
		json_object_get(part->head, name))
		return error_say(import->err, -EINVAL, "the document has two members '%s'", name);
	if (is_samples)
		return scan_samples(import, part);

	has_companions = !is_companion && is_companions(name);
	if (!rows && !has_companions)
		return scan_head(import, part->head, name);
	r = has_contents(import, name, rows && rows->single ? '{' : '[');
	if (r < 0)
		return r;
	if (r == 0)
		return scan_head(import, part->head, name);
	if (!rows)
		return scan_companions(import, part->head, name);
	part->rows[table] = stream_tell(import->document);
	return stream_value(import->document, false);
}

/* Reads the head of a run, and where its samples and rows are; and the same of the runs without
 * which it cannot be understood. */
static int scan_run(struct run_import *import, bool is_companion)
{
	struct import_part *part = array_add(import->parts, import->n_parts);
	size_t at = import->n_parts - 1;
	const char *name;
	int r;

	part->head = json_object();
	if (stream_peek(import->document) != '{')
		return error_say(import->err, -EINVAL, "the document must be a JSON object {…}");
	r = stream_enter(import->document, '{');
	while (r >= 0 && (r = stream_member(import->document, &name)) > 0)
		/* the array may have been moved by companions */
		r = scan_member(import, &import->parts[at], name, is_companion);
	return r;
}

/* Its state; "uid" and "kind" as far as the document has them. */
static void read_identity(struct json_fields *f, struct run *run)
{
	const char *uid = "", *kind = "", *state = "done";

	json_fields_text_or_empty(f, "uid?", &uid);
	if (f->r == 0 && *uid &&
		(strlen(uid) != UID_SIZE - 1 || strspn(uid, "0123456789abcdef") != UID_SIZE - 1))
		f->r = error_say(f->err, -EINVAL,
			"the document: 'uid' must be 32 hexadecimal digits, not '%s'", uid);
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
			"the document: 'state' is '%s' and must be 'done', 'interrupted' or "
			"'failed'",
			state);
}

static int read_head(struct import_part *part, struct error *err)
{
	const char *format = json_string_value(json_object_get(part->head, "format")),
		   *accounting = NULL;
	struct json_fields f = json_fields_begin(part->head, (struct json_location){}, err);
	struct run *run = &part->run;

	/* results of a benchmark have no executions of other processes */
	if (format ? !strcmp(format, "emp-measure")
		   : json_is_array(json_object_get(part->head, "results")) ||
				json_is_array(json_object_get(part->head, "benchmarks")))
		return error_say(err, -EINVAL,
			"these are results, not a run: compare them with 'emp-analyze compare "
			"FILE', or write the run that they name with 'emp-analyze export RUN'");
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

int document_import(
	struct book *book, struct document_stream *document, int64_t *ret, struct error *err)
{
	_cleanup_(run_import_clear) struct run_import import = {
		.book = book, .document = document, .err = err};
	const char *format;
	int r;

	document->err = err;
	r = scan_run(&import, false);
	if (r >= 0 && (stream_peek(document) || !stream_at_end(document)))
		r = stream_refuse(document, "the end of the document");
	if (r < 0)
		return r;
	format = json_string_value(json_object_get(import.parts[0].head, "format")) ?: "";
	for (const struct document_feature *const *feature = document_features; *feature; feature++)
		if ((*feature)->format && !strcmp(format, (*feature)->format))
			return BOOK_ATOMIC_RETRIED(book,
				(*feature)->import(book, import.parts[0].head, ret, err), err);
	for (size_t i = 0; r >= 0 && i < import.n_parts; i++)
		r = read_head(&import.parts[i], err);
	if (r >= 0)
		r = BOOK_ATOMIC_RETRIED(book, store_runs(&import), err);
	if (r < 0)
		return r;
	*ret = import.parts[0].run.id;
	return 0;
}

bool document_names_profile(const struct document_stream *document)
{
	return document->names_profile;
}
