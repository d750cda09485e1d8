/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environments in documents: see document_environment.h. */
#include "lib/document/document_environment.h"

#include "lib/book/book_machines.h"
#include "lib/book/sql.h"
#include "lib/document/document_export.h"
#include "lib/document/document_fields.h"
#include "lib/document/document_profile.h"

/* Members of a context, and where they are in a fingerprint. */
static const struct {
	const char *name, *path[3];
} context_members[] = {
	{"host_name", {"volatile", "host_name"}},
	{"system", {"identity", "system", "name"}},
	{"kernel", {"identity", "kernel", "release"}},
	{"cpu_model", {"identity", "cpu", "name"}},
	{"cpus", {"settings", "cpus", "online"}},
};

void document_read_digest(struct json_fields *f, const json_t *environment, const char **ret)
{
	struct json_fields inner = json_fields_begin(
		environment, (struct json_location){"'environment'"}, f->err);

	json_fields_text_or_empty(&inner, "digest?", ret);
	f->r = inner.r;
}

static const char measurement_select[] = "WHERE environment = ? ORDER BY name, inc_digest";
static const char measurement_replace[] = "ON CONFLICT DO UPDATE SET value = excluded.value";

int document_read_environment(
	struct book *book, int64_t environment, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t wrong;
	int r = book_get_environment(book, environment, NULL, NULL, &text, err);

	if (r < 0)
		return r;
	*ret = text ? json_loads(text, JSON_DECODE_ANY, &wrong) : NULL;
	if (text && !*ret)
		return error_say(err, -EBADMSG,
			"environment %" PRId64 " of the lab book cannot be read: %s", environment,
			wrong.text);
	return 0;
}

int document_make_context(
	struct book *book, int64_t environment, int64_t when_ns, json_t **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *fingerprint = NULL;
	json_t *context;
	int r = document_read_environment(book, environment, &fingerprint, err);

	if (r < 0)
		return r;
	context = json_object();
	if (when_ns > 0)
		document_add_moment(context, "date", when_ns);
	for (size_t i = 0; i < ELEMENTS(context_members); i++) {
		const char *const *path = context_members[i].path;
		json_t *value = fingerprint;

		for (size_t k = 0; k < ELEMENTS(context_members[i].path) && path[k]; k++)
			value = json_object_get(value, path[k]);
		if (json_is_string(value))
			json_object_set(context, context_members[i].name, value);
	}
	json_object_set_new(context, "emp_version", json_string(EMP_VERSION));
	*ret = context;
	return 0;
}

/* A machine is stored as its name, or as the text of an object that says more. */
static json_t *machine_json(const char *machine)
{
	json_t *described = *machine == '{' ? json_loads(machine, 0, NULL) : NULL;

	return described ?: json_string(machine);
}

/* Adds what was measured of an environment. */
static int add_measurements(struct book *book, int64_t id, json_t *document, struct error *err)
{
	struct measurement *rows = NULL;
	json_t *array;
	size_t n = 0;
	int r = sql_all(book, err, &measurement_table, measurement_select, &rows, &n, "i", id);

	if (r < 0 || n == 0)
		return r;
	array = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, document_new(&measurement_table, &rows[i]));
	json_object_set_new(document, "measurements", array);
	fields_free(&measurement_table, rows, n);
	return 0;
}

int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err)
{
	_cleanup_(freep) char *machine = NULL, *text = NULL, *digest = NULL;
	json_t *environment;
	int r = book_get_environment(book, id, &digest, &machine, &text, err);

	if (r < 0)
		return r;
	if (machine)
		json_object_set_new(document, "machine", machine_json(machine));
	environment = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	if (text && !environment)
		return document_not_made(err);
	if (text)
		json_object_set_new(document, "environment", environment);
	if (digest && !(text && strstr(text, digest)))
		json_object_set_new(document, "environment_digest", json_string(digest));
	return add_measurements(book, id, document, err);
}

int document_add_origin(struct book *book, int64_t environment, int64_t when_ns, json_t *document,
	struct error *err)
{
	json_t *context = NULL;
	int r = document_make_context(book, environment, when_ns, &context, err);

	if (r < 0)
		return r;
	json_object_set_new(document, "context", context);
	return environment ? document_add_environment(book, environment, document, err) : 0;
}

/* What a document says of its environment. A name of the machine or a digest is enough; a whole
 * document is stored unchanged. */
struct environment_texts {
	char *machine, *fingerprint;
	const char *digest;
};

static void environment_texts_clear(struct environment_texts *texts)
{
	free(texts->machine);
	free(texts->fingerprint);
}

static void read_machine(struct json_fields *f, struct environment_texts *ret)
{
	const json_t *machine = json_object_get(f->object, "machine");
	const char *name = NULL;

	if (json_is_object(machine)) {
		ret->machine = json_dumps(machine, JSON_COMPACT);
		return;
	}
	json_fields_text_or_empty(f, "machine?", &name);
	if (f->r == 0)
		ret->machine = text_copy(name);
}

/* The fingerprint, or only its digest. */
static void read_fingerprint(struct json_fields *f, struct environment_texts *ret)
{
	json_t *environment = json_object_get(f->object, "environment");

	json_fields_text_or_empty(f, "environment_digest?", &ret->digest);
	if (f->r < 0 || !environment || json_is_null(environment))
		return;
	if (json_is_string(environment) && !ret->digest)
		json_fields_text(f, "environment", &ret->digest);
	else if (!json_is_string(environment))
		environment = json_fields_object(f, "environment");
	if (f->r == 0 && json_is_object(environment) && !ret->digest)
		document_read_digest(f, environment, &ret->digest);
	if (f->r == 0)
		ret->fingerprint = json_dumps(environment, JSON_COMPACT | JSON_ENCODE_ANY);
}

static int put_measurements(
	struct book *book, int64_t environment, const json_t *array, struct error *err)
{
	json_t *row;
	size_t i;
	int r = 0;

	json_array_foreach (array, i, row) {
		struct measurement measurement;
		struct json_fields f = json_fields_begin(
			row, (struct json_location){"'measurements', entry", (int64_t)i + 1}, err);

		document_read_fields(&f, &measurement_table, &measurement);
		r = f.r;
		if (r >= 0)
			r = sql_insert(book, err, &measurement_table, measurement_replace,
				&measurement, 1, "i", environment);
		fields_clear(&measurement_table, &measurement);
		if (r < 0)
			break;
	}
	return r;
}

int document_put_environment(struct book *book, const json_t *document, int64_t *ret,
	int64_t *ret_profile, struct error *err)
{
	_cleanup_(environment_texts_clear) struct environment_texts its = {};
	struct json_fields f = json_fields_begin(document, (struct json_location){}, err);
	struct measurement *before = NULL;
	const json_t *measurements;
	size_t n = 0;
	int r;

	*ret = 0;
	read_machine(&f, &its);
	read_fingerprint(&f, &its);
	measurements = json_fields_array(&f, "measurements?");
	r = f.r;
	if (r == 0 && (its.machine || its.fingerprint || its.digest))
		r = book_put_environment(book, its.digest, its.machine, its.fingerprint, ret, err);

	/* The profile puts its own measurements in place of those that the environment has here, or
	 * had where it comes from: these are stored again. */
	if (r == 0 && *ret)
		r = sql_all(
			book, err, &measurement_table, measurement_select, &before, &n, "i", *ret);
	if (r == 0 && ret_profile)
		r = document_put_profile_of_run(book, document, ret_profile, err);
	if (r == 0)
		r = sql_insert(
			book, err, &measurement_table, measurement_replace, before, n, "i", *ret);
	if (r == 0 && *ret && n == 0)
		r = put_measurements(book, *ret, measurements, err);
	fields_free(&measurement_table, before, n);
	return r;
}
