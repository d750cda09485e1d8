/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON documents in and out: see json.h. */
#include "lib/base/json.h"

#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *json_allocate(size_t size)
{
	return xmalloc(size);
}

/* No call of jansson fails for memory. */
static __attribute__((constructor)) void json_watch_memory(void)
{
	json_set_alloc_funcs(json_allocate, free);
}

/* A terminal would act on control characters beyond ASCII. */
static size_t ascii_flag(FILE *file)
{
	int fd = fileno(file);

	return fd >= 0 && isatty(fd) ? JSON_ENSURE_ASCII : 0;
}

int json_write(FILE *file, const json_t *json)
{
	if (!json)
		return -1;
	if (json_is_real(json))
		return json_write_real(file, json_real_value(json));
	return json_dumpf(json, file, JSON_ENCODE_ANY | JSON_PRESERVE_ORDER | ascii_flag(file));
}

int json_write_real(FILE *file, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	return fputs(text, file) < 0 ? -1 : 0;
}

int json_write_text(FILE *file, const char *text)
{
	_cleanup_(json_decrefp) json_t *json = NULL;
	size_t n = 0;

	while (text[n] >= ' ' && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	if (text[n]) {
		json = json_string(text);
		return json_write(file, json);
	}
	fputc('"', file);
	fwrite(text, 1, n, file);
	fputc('"', file);
	return 0;
}

void json_write_int(FILE *file, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	fwrite(at, 1, (size_t)(digits + sizeof(digits) - at), file);
}

static int print_indented(const json_t *json, FILE *file, size_t flags, struct error *err)
{
	if (json_dumpf(json, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | flags | ascii_flag(file)) < 0 ||
		fputc('\n', file) < 0)
		return error_os(err, -errno, "cannot write a JSON document");
	return 0;
}

int json_print(const json_t *json, FILE *file, struct error *err)
{
	return print_indented(json, file, JSON_REAL_PRECISION(15), err);
}

int json_print_exactly(const json_t *json, FILE *file, struct error *err)
{
	return print_indented(json, file, 0, err);
}

int json_print_document(const char *format, json_t *members, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = json_pack("{s:s, s:i}", "format", format, "version", 1);

	json_object_update(document, members);
	json_decref(members);
	return json_print(document, stdout, err);
}

json_t *json_real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_interval(double low, double high)
{
	return isfinite(low) && isfinite(high) ? json_pack("[f, f]", low, high) : json_null();
}

int json_read(json_t **ret, const char *path, struct error *err)
{
	_cleanup_(fclosep) FILE *file = NULL;
	json_error_t e;
	json_t *json;

	if (strcmp(path, "-")) {
		file = fopen(path, "re");
		if (!file)
			return error_os(err, -errno, "cannot open '%s'", path);
	}
	json = json_loadf(file ?: stdin, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		return error_say(err, -EINVAL, "'%s' is not JSON: line %d, column %d: %s", path, e.line,
			e.column, e.text);
	*ret = json;
	return 0;
}

/* Reading the members of a JSON object. */

/* "<location><the rest>", unless something failed before. */
__attribute__((format(printf, 3, 4))) static void json_fields_refuse(
	struct json_fields *f, int r, const char *format, ...)
{
	char number[32] = "", part[64] = "", rest[256];
	const struct json_location *at = &f->at;
	va_list ap;

	if (f->r < 0)
		return;
	va_start(ap, format);
	vsnprintf(rest, sizeof(rest), format, ap);
	va_end(ap);
	if (at->number > 0)
		snprintf(number, sizeof(number), " %" PRId64, at->number);
	if (at->part)
		snprintf(part, sizeof(part), ", %s %" PRId64, at->part, at->part_number);
	f->r = error_say(f->err, r, "%s%s%s%s", at->what ?: "the document", number, part, rest);
}

static bool json_fields_has(const struct json_fields *f, const char *name)
{
	const json_t *member = json_object_get(f->object, name);

	return member && !json_is_null(member);
}

/* NULL after a failure, now or before. */
static json_t *json_fields_find(
	struct json_fields *f, const char *name, bool (*is_kind)(const json_t *), const char *kind)
{
	json_t *member = json_object_get(f->object, name);

	if (!member)
		json_fields_refuse(f, -EINVAL, " has no '%s'", name);
	else if (!is_kind(member))
		json_fields_refuse(f, -EINVAL, ": '%s' must be %s", name, kind);
	return f->r < 0 ? NULL : member;
}

static bool is_integer(const json_t *json)
{
	return json_is_integer(json);
}

static bool is_number(const json_t *json)
{
	return json_is_number(json);
}

static bool is_string(const json_t *json)
{
	return json_is_string(json);
}

static bool is_text(const json_t *json)
{
	return json_is_string(json) && json_string_length(json) > 0;
}

static bool is_flag(const json_t *json)
{
	return json_is_boolean(json);
}

static bool is_array(const json_t *json)
{
	return json_is_array(json);
}

static bool is_object(const json_t *json)
{
	return json_is_object(json);
}

struct json_fields json_fields_begin(const json_t *object, struct json_location at, struct error *err)
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

void json_fields_int(struct json_fields *f, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	const json_t *member = json_fields_find(f, name, is_integer, "a whole number");
	int64_t value = json_integer_value(member);

	if (!member)
		return;
	if (value < min)
		json_fields_refuse(
			f, -EINVAL, ": '%s' is %" PRId64 " and must not be below %" PRId64, name, value, min);
	else if (value > max)
		json_fields_refuse(
			f, -EINVAL, ": '%s' is %" PRId64 " and must not be above %" PRId64, name, value, max);
	else
		*ret = value;
}

void json_fields_int_maybe(struct json_fields *f, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	if (json_fields_has(f, name))
		json_fields_int(f, name, min, max, ret);
}

void json_fields_real(struct json_fields *f, const char *name, double *ret)
{
	const json_t *member = json_fields_find(f, name, is_number, "a number");

	if (member)
		*ret = json_number_value(member);
}

void json_fields_real_maybe(struct json_fields *f, const char *name, double *ret)
{
	if (json_fields_has(f, name))
		json_fields_real(f, name, ret);
}

void json_fields_seconds(struct json_fields *f, const char *name, int64_t *ret_ns)
{
	const double max = (double)(JSON_MOMENT_MAX / NS_PER_S); /* a fraction above it could round up */
	const json_t *member = json_fields_find(f, name, is_number, "a number of seconds");
	double seconds = json_number_value(member);

	if (!member)
		return;
	if (seconds >= 0 && seconds <= max)
		*ret_ns = json_is_integer(member) ? json_integer_value(member) * NS_PER_S
						  : llround(seconds * NS_PER_S);
	else
		json_fields_refuse(
			f, -EINVAL, ": '%s' is %.15g and must be from 0 to %.0f seconds", name, seconds, max);
}

void json_fields_seconds_maybe(struct json_fields *f, const char *name, int64_t *ret_ns)
{
	if (json_fields_has(f, name))
		json_fields_seconds(f, name, ret_ns);
}

void json_fields_text(struct json_fields *f, const char *name, const char **ret)
{
	const json_t *member = json_fields_find(f, name, is_text, "text, and not empty");

	if (member)
		*ret = json_string_value(member);
}

void json_fields_text_maybe(struct json_fields *f, const char *name, const char **ret)
{
	if (json_fields_has(f, name))
		json_fields_text_or_empty(f, name, ret);
}

void json_fields_text_or_empty(struct json_fields *f, const char *name, const char **ret)
{
	const json_t *member = json_fields_find(f, name, is_string, "text");

	if (member)
		*ret = json_string_value(member);
}

void json_fields_word(struct json_fields *f, const char *name, const char *const *words, int n, int64_t *ret)
{
	const char *text = NULL;

	json_fields_text_or_empty(f, name, &text);
	for (int i = 0; f->r == 0 && i < n; i++)
		if (!strcmp(text, words[i])) {
			*ret = i;
			return;
		}
	json_fields_refuse(
		f, -EINVAL, ": '%s' is '%s', which this EMP does not know; try a newer EMP", name, text);
}

void json_fields_flag_maybe(struct json_fields *f, const char *name, bool *ret)
{
	const json_t *member = json_fields_has(f, name) ? json_fields_find(f, name, is_flag, "true or false")
							: NULL;

	if (member)
		*ret = json_is_true(member);
}

void json_fields_array(struct json_fields *f, const char *name, json_t **ret)
{
	json_t *member = json_fields_find(f, name, is_array, "an array […]");

	if (member)
		*ret = member;
}

void json_fields_object(struct json_fields *f, const char *name, json_t **ret)
{
	json_t *member = json_fields_find(f, name, is_object, "an object {…}");

	if (member)
		*ret = member;
}

void json_fields_object_maybe(struct json_fields *f, const char *name, json_t **ret)
{
	if (json_fields_has(f, name))
		json_fields_object(f, name, ret);
}
