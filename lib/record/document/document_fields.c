/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of fields and JSON objects: see document_fields.h. */
#include "lib/record/document/document_fields.h"

#include "lib/base/text.h"

#include <errno.h>
#include <string.h>

static void read_text(struct json_fields *f, const struct field *field, bool borrows, void *object)
{
	const char *text = NULL;
	char **to = field_text(field, object);

	if (field->presence == FIELD_REQUIRED)
		json_fields_text(f, field->name, &text);
	else
		json_fields_text_maybe(f, field->name, &text);
	if (f->r < 0 || !text)
		return;
	*to = borrows ? (char *)text : strdup(text);
	if (!*to)
		f->r = error_oom(f->err);
}

static void read_number(struct json_fields *f, const struct field *field, void *object)
{
	bool required = field->presence == FIELD_REQUIRED || field->must_be_given;
	int64_t value = field_get(field, object);

	if (field->seconds && required)
		json_fields_seconds(f, field->seconds, &value);
	else if (field->seconds)
		json_fields_seconds_maybe(f, field->seconds, &value);
	else if (required)
		json_fields_int(f, field->name, field->min, field->max, &value);
	else
		json_fields_int_maybe(f, field->name, field->min, field->max, &value);
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
		else
			read_number(f, field, object);
	}
}

/* NULL: the member is omitted. */
static json_t *member(
	const struct field *field, const struct field_table *table, const void *object, bool *ret_none)
{
	bool nulls = table->nulls && !field->omitted;
	int64_t value;

	if (field->type == FIELD_TEXT) {
		*ret_none = !*field_text(field, object);
		return *ret_none ? NULL : json_string(*field_text(field, object));
	}
	value = field_get(field, object);
	if (value == field->unknown && field->presence != FIELD_REQUIRED && !field->must_be_given) {
		if (nulls && field->presence == FIELD_OPTIONAL)
			return json_null();
		*ret_none = !nulls;
	}
	if (*ret_none)
		return NULL;
	if (field->type == FIELD_BOOL)
		return json_boolean(value);
	return field->seconds ? json_seconds(value) : json_integer(value);
}

int document_add_fields(json_t *json, const struct field_table *table, const void *object)
{
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		bool none = field->book_only;
		json_t *value = none ? NULL : member(field, table, object, &none);

		if (!none && json_object_set_new(json, field->seconds ?: field->name, value) < 0)
			return -1;
	}
	return 0;
}

json_t *document_new(const struct field_table *table, const void *object)
{
	json_t *json = json_object();

	if (document_add_fields(json, table, object) == 0)
		return json;
	json_decref(json);
	return NULL;
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
