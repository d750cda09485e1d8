/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents: see json.h. */
#include "lib/base/json.h"

#include "lib/base/charset.h"
#include "lib/base/input.h"

#include <math.h>
#include <stdarg.h>

static void *json_allocate(size_t size)
{
	return xmalloc(size);
}

/* No call of jansson fails for memory. */
static __attribute__((constructor)) void json_watch_memory(void)
{
	json_set_alloc_funcs(json_allocate, free);
}

/* A terminal would act on control characters beyond ASCII, and elsewhere the locale may have other
 * characters. */
static size_t ascii_flag(FILE *file)
{
	int fd = charset_fileno(file);

	return charset_converts() || (fd >= 0 && isatty(fd)) ? JSON_ENSURE_ASCII : 0;
}

int json_write_real(FILE *file, double value)
{
	const char *text = text_brief("%.15g", value);

	if (strtod(text, NULL) != value)
		text = text_brief("%.17g", value);
	return fputs(text, file) < 0 ? -1 : 0;
}

int json_write(FILE *file, const json_t *json)
{
	if (json_is_real(json))
		return json_write_real(file, json_real_value(json));
	return json_dumpf(json, file, JSON_ENCODE_ANY | JSON_PRESERVE_ORDER | ascii_flag(file));
}

int json_print_digits(json_t *json, FILE *file, int digits, struct error *err)
{
	size_t flags = JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(digits) |
		       ascii_flag(file);
	int r = 0;

	if (json_dumpf(json, file, flags) == 0)
		fputc('\n', file);
	else if (!ferror(file))
		r = error_say(err, -EINVAL,
			"cannot write a JSON document: it has text that is not UTF-8");
	json_decref(json);
	return r;
}

json_t *json_document(const char *format, json_t *members)
{
	const char *schema = text_brief("urn:emp:schema:%s:1", format);
	json_t *document = JSON_OBJECT({"$schema", json_string(schema)},
		{"format", json_string(format)}, {"version", json_integer(1)});

	json_object_update(document, members);
	json_decref(members);
	return document;
}

int json_print_document(const char *format, json_t *members, struct error *err)
{
	return json_print(json_document(format, members), stdout, err);
}

json_t *json_real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_interval(double low, double high)
{
	return isfinite(low) && isfinite(high) ? json_pack("[f, f]", low, high) : json_null();
}

json_t *json_text(const char *text)
{
	return json_string(text) ?: json_null();
}

json_t *json_object_of(const struct json_member *members)
{
	json_t *object = json_object();

	for (const struct json_member *m = members; m->name; m++) {
		size_t n = strlen(m->name);
		bool maybe = n > 0 && m->name[n - 1] == '?';
		_cleanup_(freep) char *name = xstrndup(m->name, n - maybe);

		if (!m->value && !maybe) {
			fprintf(stderr, "the member '%s' of a JSON object has no value\n", name);
			abort();
		}
		if (m->value)
			json_object_set_new(object, name, m->value);
	}
	return object;
}

struct json_source {
	struct input *input;
	const char *path;
	struct error *err;
	int r; /* of the first read that failed */
};

static size_t read_source(void *buffer, size_t size, void *data)
{
	struct json_source *source = data;
	ssize_t n = input_read(source->input, buffer, size, source->err);

	if (n > 0 && memchr(buffer, '\0', (size_t)n)) /* which the parser may take for the end */
		n = error_say(source->err, -EINVAL, "'%s' is not JSON: it has a byte that is zero",
			source->path);
	source->r = n < 0 ? (int)n : source->r;
	return n < 0 ? (size_t)-1 : (size_t)n;
}

int json_read(json_t **ret, const char *path, struct error *err)
{
	_cleanup_(input_freep) struct input *input = NULL;
	struct json_source source = {.path = path, .err = err};
	_cleanup_(json_decrefp) json_t *json = NULL;
	json_error_t e;
	int r = input_open(&input, path, err);

	if (r < 0)
		return r;
	source.input = input;
	json = json_load_callback(read_source, &source, JSON_REJECT_DUPLICATES, &e);
	if (source.r < 0)
		return source.r;
	if (!json)
		return error_say(err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", path,
			e.line, e.column, e.text);
	*ret = TAKE(json);
	return 0;
}

/* Reading the members of a JSON object. */

int json_fields_refuse(struct json_fields *f, int r, const char *format, ...)
{
	_cleanup_(freep) char *rest = NULL;
	const struct json_location *at = &f->at;
	va_list ap;

	if (f->r < 0)
		return f->r;
	va_start(ap, format);
	rest = text_vformat(format, ap);
	va_end(ap);
	f->r = error_say(f->err, r, "%s%s%s%s", at->what ?: "the document",
		at->number > 0 ? text_brief(" %" PRId64, at->number) : "",
		at->part ? text_brief(", %s %" PRId64, at->part, at->part_number) : "", rest);
	return f->r;
}

bool json_fields_has(const struct json_fields *f, const char *name)
{
	const json_t *member = json_object_get(f->object, name);

	return member && !json_is_null(member);
}

enum json_kind {
	IS_INTEGER,
	IS_NUMBER,
	IS_SECONDS,
	IS_STRING,
	IS_TEXT,
	IS_FLAG,
	IS_ARRAY,
	IS_OBJECT
};

static const struct {
	unsigned types; /* a bit for each json_type */
	const char *words;
} json_kinds[] = {
	[IS_INTEGER] = {1 << JSON_INTEGER, "a whole number"},
	[IS_NUMBER] = {1 << JSON_INTEGER | 1 << JSON_REAL, "a number"},
	[IS_SECONDS] = {1 << JSON_INTEGER | 1 << JSON_REAL, "a number of seconds"},
	[IS_STRING] = {1 << JSON_STRING, "text"},
	[IS_TEXT] = {1 << JSON_STRING, "text, and not empty"},
	[IS_FLAG] = {1 << JSON_TRUE | 1 << JSON_FALSE, "true or false"},
	[IS_ARRAY] = {1 << JSON_ARRAY, "an array […]"},
	[IS_OBJECT] = {1 << JSON_OBJECT, "an object {…}"},
};

/* NULL: it is not known, or there was a failure, now or before. f->name is its name. */
static json_t *json_fields_find(struct json_fields *f, const char *name, enum json_kind kind)
{
	size_t n = strlen(name);
	bool maybe = n > 0 && name[n - 1] == '?';
	json_t *member;

	snprintf(f->name, sizeof(f->name), "%.*s", (int)(n - maybe), name);
	member = json_object_get(f->object, maybe ? f->name : name);
	if (maybe && (!member || json_is_null(member)))
		return NULL;
	if (!member)
		json_fields_refuse(f, -EINVAL, " has no '%s'", f->name);
	else if (!(json_kinds[kind].types & 1U << json_typeof(member)) ||
		 (kind == IS_TEXT && json_string_length(member) == 0))
		json_fields_refuse(
			f, -EINVAL, ": '%s' must be %s", f->name, json_kinds[kind].words);
	return f->r < 0 ? NULL : member;
}

struct json_fields json_fields_begin(
	const json_t *object, struct json_location at, struct error *err)
{
	struct json_fields f = {.object = object, .at = at, .err = err};

	if (!json_is_object(object))
		json_fields_refuse(&f, -EINVAL, " must be a JSON object {…}");
	return f;
}

void json_fields_header(struct json_fields *f, const char *format, int64_t version)
{
	const char *its_format = NULL;
	int64_t its_version = 0;

	json_fields_text(f, "format", &its_format);
	if (f->r == 0 && strcmp(its_format, format))
		json_fields_refuse(f, -EINVAL, ": 'format' is '%s', not '%s'", its_format, format);
	json_fields_int(f, "version", 1, INT64_MAX, &its_version);
	if (f->r == 0 && its_version != version)
		json_fields_refuse(f, -EPROTONOSUPPORT,
			": 'version' is %" PRId64 ", and this EMP reads %s version %" PRId64
			" only; try a newer EMP",
			its_version, format, version);
}

void json_fields_int(
	struct json_fields *f, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	const json_t *member = json_fields_find(f, name, IS_INTEGER);
	int64_t value = json_integer_value(member);

	if (member && (value < min || value > max))
		json_fields_refuse(f, -EINVAL, ": '%s' is %" PRId64 " and must not be %s %" PRId64,
			f->name, value, value < min ? "below" : "above", value < min ? min : max);
	else if (member)
		*ret = value;
}

void json_fields_real(struct json_fields *f, const char *name, double *ret)
{
	const json_t *member = json_fields_find(f, name, IS_NUMBER);

	if (member)
		*ret = json_number_value(member);
}

void json_fields_seconds(struct json_fields *f, const char *name, int64_t *ret_ns)
{
	/* a fraction above it could round up */
	const double max = (double)(JSON_SPAN_MAX / NS_PER_S);
	const json_t *member = json_fields_find(f, name, IS_SECONDS);
	double seconds = json_number_value(member);

	if (!member)
		return;
	if (seconds >= 0 && seconds <= max)
		*ret_ns = json_is_integer(member) ? json_integer_value(member) * NS_PER_S
						  : llround(seconds * NS_PER_S);
	else
		json_fields_refuse(f, -EINVAL, ": '%s' is %.15g and must be from 0 to %.0f seconds",
			f->name, seconds, max);
}

void json_fields_text(struct json_fields *f, const char *name, const char **ret)
{
	const json_t *member = json_fields_find(f, name, IS_TEXT);

	if (member)
		*ret = json_string_value(member);
}

void json_fields_text_or_empty(struct json_fields *f, const char *name, const char **ret)
{
	const json_t *member = json_fields_find(f, name, IS_STRING);

	if (member)
		*ret = json_string_value(member);
}

void json_fields_flag(struct json_fields *f, const char *name, bool *ret)
{
	const json_t *member = json_fields_find(f, name, IS_FLAG);

	if (member)
		*ret = json_is_true(member);
}

json_t *json_fields_array(struct json_fields *f, const char *name)
{
	return json_fields_find(f, name, IS_ARRAY);
}

json_t *json_fields_object(struct json_fields *f, const char *name)
{
	return json_fields_find(f, name, IS_OBJECT);
}
