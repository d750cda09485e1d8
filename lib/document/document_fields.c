/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members that tables of fields describe: see document_fields.h. */
#include "lib/document/document_fields.h"

void document_read_field(struct json_fields *f, const struct field *field, void *object)
{
	const char *name = field->seconds ?: field->name, *text = NULL;
	int64_t value = 0;
	double real = 0;
	bool flag = false; /* also if it is missing */
	bool required = field->must_be_given ||
			(field->presence == FIELD_REQUIRED && field->type != FIELD_BOOL);

	if (f->r < 0 || (!required && !json_fields_has(f, name)))
		return;
	switch (field->type) {
	case FIELD_TEXT:
		json_fields_text_or_empty(f, name, &text);
		*field_text(field, object) = text_copy(text);
		return;
	case FIELD_REAL:
		json_fields_real(f, name, &real);
		if (f->r == 0 && real < (double)field->min)
			json_fields_refuse(f, -EINVAL,
				": '%s' is %g and must not be below %" PRId64, name, real,
				field->min);
		*field_real(field, object) = real;
		return;

	case FIELD_BOOL:
		json_fields_flag(f, name, &flag);
		value = flag;
		break;
	case FIELD_ENUM:
		json_fields_text_or_empty(f, name, &text);
		while (f->r == 0 && value < field->n_words && strcmp(text, field->words[value]))
			value++;
		if (value == field->n_words)
			json_fields_refuse(f, -EINVAL,
				": '%s' is '%s', which this EMP does not know; try a newer EMP",
				name, text);
		break;
	default:
		if (field->seconds)
			json_fields_seconds(f, name, &value);
		else
			json_fields_int(f, name, field->min, field_max(field), &value);
	}
	if (f->r == 0)
		field_set(field, object, value);
}

void document_read_fields(struct json_fields *f, const struct field_table *table, void *object)
{
	fields_init(table, object);
	for (const struct field *field = table->fields; field < table->fields + table->n; field++)
		if (!field->book_only)
			document_read_field(f, field, object);
}

/* -1: it is not UTF-8. */
static int write_text(FILE *file, const char *text)
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

/* As fprintf, but faster: a run may have ten million executions. */
static void write_int(FILE *file, int64_t value)
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

/* Whether the member is left out. */
static bool is_left_out(
	const struct field_table *table, const struct field *field, const void *object)
{
	if (field->book_only)
		return true;
	if (field->type == FIELD_TEXT)
		return !*field_text(field, object);
	if (field->type == FIELD_REAL || field_get(field, object) != field->unknown)
		return false;
	if (field->presence == FIELD_REQUIRED || field->must_be_given)
		return false;
	return !table->nulls || field->omitted;
}

/* -1: text that is not UTF-8. */
static int write_value(
	FILE *file, const struct field_table *table, const struct field *field, const void *object)
{
	int64_t value;

	if (field->type == FIELD_TEXT)
		return write_text(file, *field_text(field, object));
	if (field->type == FIELD_REAL)
		return json_write_real(file, *field_real(field, object));

	value = field_get(field, object);
	if (table->nulls && field->presence == FIELD_OPTIONAL && value == field->unknown)
		fputs("null", file);
	else if (field->type == FIELD_ENUM)
		return write_text(file, field->words[value]);
	else if (field->type == FIELD_BOOL)
		fputs(value ? "true" : "false", file);
	else if (field->seconds && value % NS_PER_S)
		return json_write_real(file, (double)value / NS_PER_S);
	else
		write_int(file, field->seconds ? value / NS_PER_S : value);
	return 0;
}

int document_write_fields(
	FILE *file, const char *separator, const struct field_table *table, const void *object)
{
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		if (is_left_out(table, field, object))
			continue;
		fputs(separator, file);
		fputc('"', file);
		fputs(field->seconds ?: field->name, file);
		fputs("\": ", file);
		if (write_value(file, table, field, object) < 0)
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

void document_add_moment(json_t *json, const char *name, int64_t ns)
{
	json_object_set_new(json, name, json_string(text_rfc3339(ns)));
}

void document_read_correlation(struct json_fields *f, struct correlation *ret)
{
	json_t *object = NULL;
	double lag1, samples;
	bool right;

	object = json_fields_object(f, "correlation?");
	if (f->r < 0 || !object)
		return;
	lag1 = json_number_value(json_object_get(object, "lag1"));
	samples = json_number_value(json_object_get(object, "samples"));
	right = json_is_number(json_object_get(object, "lag1")) && lag1 >= 0 && lag1 < 1 &&
		samples >= 1 && samples <= UINT32_MAX;
	if (right)
		*ret = (struct correlation){lag1, (int64_t)samples};
	else
		f->r = error_say(f->err, -EINVAL,
			"'correlation' must have 'lag1', from 0 to below 1, and 'samples', 1 or "
			"more");
}

void document_add_correlation(json_t *document, const struct correlation *correlation)
{
	if (correlation->samples > 0)
		json_object_set_new(document, "correlation",
			json_pack("{s:f, s:I}", "lag1", correlation->lag1, "samples",
				(json_int_t)correlation->samples));
}
