/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all documents are made of: members that tables of fields describe, moments, correlations, and the tables with rows of runs. */
#include "lib/document/document_internal.h"

static const struct run_rows core_rows[] = {
	{"warnings", &note_table},
	{"programs", &run_program_table},
	{"program_samples", &sample_program_table},
	{"resume_points", &resume_point_table},
	{},
};

const struct run_rows *document_run_rows(size_t i)
{
	for (const struct run_rows *rows = core_rows; rows->member; rows++)
		if (i-- == 0)
			return rows;
	for (const struct document_feature *const *feature = document_features; *feature; feature++)
		for (const struct run_rows *rows = (*feature)->rows; rows && rows->member; rows++)
			if (i-- == 0)
				return rows;
	return NULL;
}

/* A flag that is missing is false. */
static bool field_is_required(const struct field *field)
{
	return field->must_be_given || (field->presence == FIELD_REQUIRED && field->type != FIELD_BOOL);
}

static void read_field(struct json_fields *f, const struct field *field, void *object)
{
	const char *name = field->seconds ?: field->name, *text = NULL;
	int64_t value = 0;
	double real = 0;
	bool flag = false;

	if (f->r < 0 || (!field_is_required(field) && !json_fields_has(f, name)))
		return;
	switch (field->type) {
	case FIELD_TEXT:
		json_fields_text_or_empty(f, name, &text);
		*field_text(field, object) = text_copy(text);
		return;
	case FIELD_REAL:
		json_fields_real(f, name, &real);
		if (f->r == 0 && real < (double)field->min)
			json_fields_refuse(f, -EINVAL, ": '%s' is %g and must not be below %" PRId64, name,
				real, field->min);
		*field_real(field, object) = real;
		return;
	case FIELD_BOOL:
		json_fields_flag(f, name, &flag);
		value = flag;
		break;
	case FIELD_ENUM:
		json_fields_word(f, name, field->words, field->n_words, &value);
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
			read_field(f, field, object);
}

/* A value as EMP writes it, without a parser, because a run may have ten million executions. false: it is wrong or unusual. */
static bool read_plain(const struct field *field, const char *text, size_t size, void *object)
{
	const char *end = text + size, *begin = text + (*text == '-'), *at = begin;
	uint64_t digits = 0; /* which has room for 19 of them */
	int64_t value = 0;

	if (field->type == FIELD_TEXT || field->type == FIELD_ENUM) {
		if (!json_text_is_plain(text, size))
			return false;
		if (field->type == FIELD_TEXT) {
			*field_text(field, object) = xstrndup(text + 1, size - 2);
			return true;
		}
		while (value < field->n_words &&
			(strncmp(field->words[value], text + 1, size - 2) || field->words[value][size - 2]))
			value++;
		if (value == field->n_words)
			return false;
	} else {
		while (at < end && *at >= '0' && *at <= '9')
			digits = digits * 10 + (uint64_t)(*at++ - '0');
		if (at < end || at == begin || at - begin > 19 || digits > INT64_MAX ||
			(*begin == '0' && at - begin > 1))
			return false;
		value = begin > text ? -(int64_t)digits : (int64_t)digits;
		if (field->type == FIELD_BOOL || field->type == FIELD_REAL || field->seconds ||
			value < field->min || value > field_max(field))
			return false;
	}
	field_set(field, object, value);
	return true;
}

/* The field of that name and the part that has it. NULL: there is none. */
static const struct field *find_field(struct document_object *o, const char *name, struct document_part **ret)
{
	for (struct document_part *part = o->parts; part < o->parts + ELEMENTS(o->parts) && part->table;
		part++)
		for (size_t i = 0; i < part->table->n; i++) {
			size_t k = (part->next + i) % part->table->n;
			const struct field *field = &part->table->fields[k];
			const char *its_name = field->seconds ?: field->name;

			if (field->book_only || *its_name != *name || strcmp(its_name, name))
				continue;
			part->next = k + 1;
			*ret = part;
			return field;
		}
	return NULL;
}

int document_member(struct document_object *o, const char **ret_name)
{
	struct document_part *part = o->parts, *end = o->parts + ELEMENTS(o->parts);
	int r = 0;

	if (!o->begun) {
		for (; part < end && part->table; part++)
			fields_init(part->table, part->object);
		o->at = o->f.at;
		o->begun = true;
		if (json_stream_peek(o->stream) != '{')
			return json_fields_refuse(&o->f, -EINVAL, " must be a JSON object {…}");
		r = json_stream_enter(o->stream, '{', o->f.err);
	}
	while (r >= 0 && (r = json_stream_member(o->stream, ret_name, o->f.err)) > 0) {
		_cleanup_(json_decrefp) json_t *value = NULL, *object = NULL;
		const struct field *field = find_field(o, *ret_name, &part);
		uint64_t bit;
		const char *text;
		size_t size;

		if (!field)
			return 1;
		bit = UINT64_C(1) << (field - part->table->fields);
		if (part->seen & bit)
			return document_refuse_twice(o, *ret_name);
		part->seen |= bit;
		r = json_stream_text(o->stream, &text, &size, o->f.err);
		if (r >= 0 && !read_plain(field, text, size, part->object)) {
			r = json_stream_parse(o->stream, &value, o->f.err);
			if (r < 0)
				return r;
			o->f.object = object = json_pack("{s:O}", *ret_name, value);
			read_field(&o->f, field, part->object);
			r = o->f.r;
		}
		if (o->sample && *o->sample > 0)
			o->f.at = (struct json_location){"sample", *o->sample};
	}
	o->f.object = NULL;
	for (part = o->parts; r == 0 && part < end && part->table; part++)
		for (size_t k = 0; k < part->table->n; k++)
			if (!part->table->fields[k].book_only && !(part->seen & UINT64_C(1) << k))
				read_field(&o->f, &part->table->fields[k], part->object);
	return r < 0 ? r : o->f.r;
}

int document_refuse_twice(struct document_object *o, const char *name)
{
	o->f.at = o->at;
	return json_fields_refuse(&o->f, -EINVAL, ": it has two members '%s'", name);
}

int document_skip(struct document_object *o)
{
	_cleanup_(json_decrefp) json_t *value = NULL;
	const char *text;
	size_t size;
	int r = json_stream_text(o->stream, &text, &size, o->f.err);

	return r < 0 || json_text_is_plain(text, size) ? r : json_stream_parse(o->stream, &value, o->f.err);
}

int document_read_object(struct document_object *o)
{
	const char *name;
	int r;

	while ((r = document_member(o, &name)) > 0) {
		r = document_skip(o);
		if (r < 0)
			return r;
	}
	return r;
}

int document_write_fields(
	FILE *file, const char *separator, const struct field_table *table, const void *object)
{
	for (const struct field *field = table->fields; field < table->fields + table->n; field++) {
		bool is_number = field->type != FIELD_TEXT && field->type != FIELD_REAL;
		int64_t value = is_number ? field_get(field, object) : 0;
		bool is_unknown = is_number && value == field->unknown;
		int r = 0;

		if (field->book_only || (field->type == FIELD_TEXT && !*field_text(field, object)) ||
			(is_unknown && field->presence != FIELD_REQUIRED && !field->must_be_given &&
				(!table->nulls || field->omitted)))
			continue;
		fputs(separator, file);
		fputc('"', file);
		fputs(field->seconds ?: field->name, file);
		fputs("\": ", file);
		if (field->type == FIELD_TEXT)
			r = json_write_text(file, *field_text(field, object));
		else if (field->type == FIELD_REAL)
			r = json_write_real(file, *field_real(field, object));
		else if (table->nulls && field->presence == FIELD_OPTIONAL && is_unknown)
			fputs("null", file);
		else if (field->type == FIELD_ENUM)
			r = json_write_text(file, field->words[value]);
		else if (field->type == FIELD_BOOL)
			fputs(value ? "true" : "false", file);
		else if (field->seconds && value % NS_PER_S)
			r = json_write_real(file, (double)value / NS_PER_S);
		else
			json_write_int(file, field->seconds ? value / NS_PER_S : value);
		if (r < 0)
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

	object = json_fields_object(f, "correlation?");
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

void document_add_correlation(json_t *document, const struct correlation *correlation)
{
	if (correlation->samples > 0)
		json_object_set_new(document, "correlation",
			json_pack("{s:f, s:I}", "lag1", correlation->lag1, "samples",
				(json_int_t)correlation->samples));
}
