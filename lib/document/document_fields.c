/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of fields and JSON objects: see document_fields.h. */
#include "lib/document/document_fields.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void read_text(struct json_fields *f, const struct field *field, bool borrows, void *object)
{
	const char *text = NULL;
	char **to = field_text(field, object);

	if (field->presence == FIELD_REQUIRED)
		json_fields_text_or_empty(f, field->name, &text);
	else
		json_fields_text_maybe(f, field->name, &text);
	if (f->r < 0 || !text)
		return;
	*to = borrows ? (char *)text : xstrdup(text);
	if (!*to)
		f->r = error_oom(f->err);
}

static void read_real(struct json_fields *f, const struct field *field, void *object)
{
	double *to = field_real(field, object);

	json_fields_real(f, field->name, to);
	if (f->r == 0 && *to < (double)field->min)
		f->r = error_say(f->err, -EINVAL, "'%s' is %g and must not be below %" PRId64, field->name, *to,
			field->min);
}

static void read_number(struct json_fields *f, const struct field *field, void *object)
{
	bool required = field->presence == FIELD_REQUIRED || field->must_be_given;
	int64_t value = field_get(field, object), max = field_max(field);

	if (field->type == FIELD_ENUM && (required || json_object_get(f->object, field->name)))
		json_fields_word(f, field->name, field->words, field->n_words, &value);
	else if (field->seconds && required)
		json_fields_seconds(f, field->seconds, &value);
	else if (field->seconds)
		json_fields_seconds_maybe(f, field->seconds, &value);
	else if (required)
		json_fields_int(f, field->name, field->min, max, &value);
	else if (field->type != FIELD_ENUM)
		json_fields_int_maybe(f, field->name, field->min, max, &value);
	field_set(field, object, value);
}

static void read_flag(struct json_fields *f, const struct field *field, void *object)
{
	bool value = field_get(field, object);

	json_fields_flag_maybe(f, field->name, &value);
	field_set(field, object, value);
}

void document_read_fields(struct json_fields *f, const struct field_table *table, void *object)
{
	fields_init(table, object);
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		if (field->book_only)
			continue;
		if (field->type == FIELD_TEXT)
			read_text(f, field, table->borrows, object);
		else if (field->type == FIELD_BOOL)
			read_flag(f, field, object);
		else if (field->type == FIELD_REAL)
			read_real(f, field, object);
		else
			read_number(f, field, object);
	}
}

static bool is_omitted(const struct field *field, const struct field_table *table, const void *object)
{
	if (field->book_only || field->type == FIELD_REAL)
		return field->book_only;
	if (field->type == FIELD_TEXT)
		return !*field_text(field, object);
	return field->presence != FIELD_REQUIRED && !field->must_be_given &&
	       field_get(field, object) == field->unknown && (!table->nulls || field->omitted);
}

static int write_value(FILE *file, const struct field *field, const struct field_table *table, const void *object)
{
	int64_t value;

	if (field->type == FIELD_TEXT)
		return json_write_text(file, *field_text(field, object));
	if (field->type == FIELD_REAL)
		return json_write_real(file, *field_real(field, object));
	value = field_get(field, object);
	if (table->nulls && field->presence == FIELD_OPTIONAL && value == field->unknown)
		fputs("null", file);
	else if (field->type == FIELD_ENUM)
		return json_write_text(file, field->words[value]);
	else if (field->type == FIELD_BOOL)
		fputs(value ? "true" : "false", file);
	else if (field->seconds && value % NS_PER_S)
		return json_write_real(file, (double)value / NS_PER_S);
	else
		json_write_int(file, field->seconds ? value / NS_PER_S : value);
	return 0;
}

int document_write_fields(
	FILE *file, const char *separator, const struct field_table *table, const void *object)
{
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		if (is_omitted(field, table, object))
			continue;
		fputs(separator, file);
		fputc('"', file);
		fputs(field->seconds ?: field->name, file);
		fputs("\": ", file);
		if (write_value(file, field, table, object) < 0)
			return -1;
		separator = ", ";
	}
	return 0;
}

json_t *document_new(const struct field_table *table, const void *object)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);
	int r;

	r = document_write_fields(file, "{", table, object);
	if (ftell(file) == 0)
		fputc('{', file);
	fputc('}', file);
	text_stream_close(file, &text);
	return r == 0 ? json_loads(text, 0, NULL) : NULL;
}

int document_add_fields(json_t *json, const struct field_table *table, const void *object)
{
	_cleanup_(json_decrefp) json_t *members = document_new(table, object);

	return members ? json_object_update(json, members) : -1;
}

int document_add_moment(json_t *json, const char *name, int64_t ns)
{
	char text[TEXT_TIME_SIZE];

	return json_object_set_new(json, name, json_string(text_rfc3339(text, ns)));
}

void document_read_correlation(struct json_fields *f, struct correlation *ret)
{
	json_t *object = NULL;
	double lag1, samples;

	json_fields_object_maybe(f, "correlation", &object);
	if (f->r < 0 || !object)
		return;
	lag1 = json_number_value(json_object_get(object, "lag1"));
	samples = json_number_value(json_object_get(object, "samples"));
	if (!json_is_number(json_object_get(object, "lag1")) || !(lag1 >= 0 && lag1 < 1) ||
		!(samples >= 1 && samples <= UINT32_MAX))
		f->r = error_say(f->err, -EINVAL,
			"'correlation' must have 'lag1', from 0 to below 1, and 'samples', 1 or more");
	else
		*ret = (struct correlation){lag1, (int64_t)samples};
}

int document_add_correlation(json_t *document, const struct correlation *correlation)
{
	if (correlation->samples == 0)
		return 0;
	return json_object_set_new(document, "correlation",
		json_pack("{s:f, s:I}", "lag1", correlation->lag1, "samples",
			(json_int_t)correlation->samples));
}
