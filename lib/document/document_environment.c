/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where something was measured, in documents: the machine, its fingerprint, what was measured of it, and its profile. */
#include "lib/document/document_internal.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <errno.h>
#include <inttypes.h>

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

int document_read_environment(struct book *book, int64_t environment, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t wrong;
	int r = environment > 0 ? book_get_environment(book, environment, NULL, &text, err) : 0;

	if (r < 0)
		return r;
	*ret = text ? json_loads(text, JSON_DECODE_ANY, &wrong) : NULL;
	if (text && !*ret)
		return error_say(err, -EBADMSG, "environment %" PRId64 " of the lab book cannot be read: %s",
			environment, wrong.text);
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
		json_t *value = fingerprint;

		for (size_t k = 0; k < ELEMENTS(context_members[i].path) && context_members[i].path[k]; k++)
			value = json_object_get(value, context_members[i].path[k]);
		if (json_is_string(value))
			json_object_set(context, context_members[i].name, value);
	}
	json_object_set_new(context, "emp_version", json_string(EMP_VERSION));
	*ret = context;
	return 0;
}

int document_add_environment(struct book *book, int64_t id, json_t *document, struct error *err)
{
	_cleanup_(freep) char *machine = NULL, *text = NULL, *digest = NULL;
	struct measurement *rows = NULL;
	json_t *array, *described, *environment;
	size_t n;
	int r;

	r = book_get_machine(book, id, &machine, err);
	if (r >= 0)
		r = book_get_environment(book, id, &digest, &text, err);
	if (r < 0)
		return r;
	described = machine && *machine == '{' ? json_loads(machine, 0, NULL)
					       : NULL; /* it is more than a name */
	if (machine)
		json_object_set_new(document, "machine", described ?: json_string(machine));
	environment = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	if (text && !environment)
		return document_not_made(err);
	if (text)
		json_object_set_new(document, "environment", environment);
	if (digest && !(text && strstr(text, digest)))
		json_object_set_new(document, "environment_digest", json_string(digest));
	r = book_measurements(book, id, &rows, &n, err);
	if (r < 0 || n == 0)
		return r;
	array = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, document_new(&measurement_table, &rows[i]));
	json_object_set_new(document, "measurements", array);
	fields_free(&measurement_table, rows, n);
	return 0;
}

int document_add_origin(
	struct book *book, int64_t environment, int64_t when_ns, json_t *document, struct error *err)
{
	json_t *context = NULL;
	int r = document_make_context(book, environment, when_ns, &context, err);

	if (r < 0)
		return r;
	json_object_set_new(document, "context", context);
	return environment ? document_add_environment(book, environment, document, err) : 0;
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

/* Whether the book has that profile: its id; 0: not, and *ret_current says whether another one has its name. */
static int find_profile(
	struct book *book, const struct profile *profile, int64_t *ret, bool *ret_current, struct error *err)
{
	_cleanup_(json_decrefp) json_t *its = NULL;
	_cleanup_(freep) int64_t *ids = NULL;
	size_t n = 0;
	int r = document_make_profile(profile, &its, err);

	*ret = 0;
	*ret_current = false;
	if (r == 0)
		r = book_profile_ids(book, profile->name, &ids, &n, err);
	for (size_t i = 0; r == 0 && *ret == 0 && i < n; i++) {
		_cleanup_(profile_clear) struct profile stored = {};
		_cleanup_(json_decrefp) json_t *ours = NULL;

		r = book_get_run_profile(book, ids[i], &stored, err);
		if (r == 0)
			r = document_make_profile(&stored, &ours, err);
		*ret_current |= stored.retired_ns == 0;
		if (r == 0 && json_equal(its, ours))
			*ret = ids[i];
	}
	return r;
}

/* The profile that the run was measured with. If the book has another one of that name, this is kept for the run only. */
static int put_profile_of_run(struct book *book, const json_t *head, int64_t *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	struct json_fields f = json_fields_begin(head, (struct json_location){}, err);
	const json_t *document = json_object_get(head, "profile_document");
	bool current;
	int r;

	*ret = 0;
	if (!document)
		return 0;
	r = document_parse_profile(document, &profile, err);
	if (r < 0)
		return error_prefix(err, r, "'profile_document'");
	json_fields_int_maybe(&f, "profile_retired_ns", 1, JSON_MOMENT_MAX, &profile.retired_ns);
	r = f.r < 0 ? f.r : find_profile(book, &profile, ret, &current, err);
	if (r < 0 || *ret)
		return r;
	if (current && profile.retired_ns == 0)
		profile.retired_ns = clock_ns(CLOCK_REALTIME);
	r = book_put_profile(book, &profile, false, err);
	return r < 0 ? r : find_profile(book, &profile, ret, &current, err);
}

static int put_measurements(struct book *book, const json_t *object, int64_t environment, struct error *err)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(object, "measurements"), i, row) {
		struct json_fields f = json_fields_begin(
			row, (struct json_location){"'measurements', entry", (int64_t)i + 1}, err);
		struct measurement measurement;

		document_read_fields(&f, &measurement_table, &measurement);
		if (f.r == 0)
			f.r = book_put_measurement(book, environment, &measurement, err);
		fields_clear(&measurement_table, &measurement);
		if (f.r < 0)
			return f.r;
	}
	return 0;
}

/* The profile would put its own measurements in place of those that the environment has here, or had where it comes from. */
int document_put_environment_and_profile(
	struct book *book, const json_t *document, int64_t *ret, int64_t *ret_profile, struct error *err)
{
	_cleanup_(origin_clear) struct origin origin = {};
	struct json_fields f = json_fields_begin(document, (struct json_location){}, err);
	struct measurement *before = NULL;
	size_t n = 0;
	int r;

	*ret = 0;
	if (f.r == 0) {
		const json_t *machine = json_object_get(f.object, "machine");
		json_t *environment = json_object_get(f.object, "environment");
		const char *name = NULL;

		if (!json_is_object(machine))
			json_fields_text_maybe(&f, "machine", &name);
		if (f.r == 0)
			origin.machine = json_is_object(machine) ? json_dumps(machine, JSON_COMPACT)
								 : text_copy(name);
		json_fields_text_maybe(&f, "environment_digest", &origin.digest);
		if (f.r >= 0 && environment && !json_is_null(environment)) {
			if (json_is_string(environment) && !origin.digest)
				json_fields_text(&f, "environment", &origin.digest);
			else if (!json_is_string(environment))
				json_fields_object(&f, "environment", &environment);
			if (f.r == 0 && json_is_object(environment) && !origin.digest) {
				struct json_fields inner = json_fields_begin(
					environment, (struct json_location){"'environment'"}, f.err);

				json_fields_text_maybe(&inner, "digest", &origin.digest);
				f.r = inner.r;
			}
			if (f.r == 0)
				origin.document = json_dumps(environment, JSON_COMPACT | JSON_ENCODE_ANY);
		}
	}
	r = f.r;
	if (r == 0 && (origin.machine || origin.document || origin.digest))
		r = book_put_environment(book, origin.digest, origin.machine, origin.document, ret, err);
	if (r == 0 && *ret)
		r = book_measurements(book, *ret, &before, &n, err);
	if (r == 0 && ret_profile)
		r = put_profile_of_run(book, document, ret_profile, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = book_put_measurement(book, *ret, &before[i], err);
	if (r == 0 && *ret && n == 0)
		r = put_measurements(book, document, *ret, err);
	fields_free(&measurement_table, before, n);
	return r;
}

int document_put_environment(struct book *book, const json_t *document, int64_t *ret, struct error *err)
{
	return document_put_environment_and_profile(book, document, ret, NULL, err);
}
