/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of a stream: see document_object.h. */
#include "lib/document/document_object.h"

#include "lib/document/document_fields.h"
#include "lib/document/document_internal.h"
#include "lib/document/document_stream.h"

/* A whole number as EMP writes it. False: it is none, or too large. */
static bool read_plain_number(const char *text, size_t size, int64_t *ret)
{
	const char *end = text + size, *begin = text + (*text == '-'), *at = begin;
	uint64_t digits = 0; /* which has room for 19 of them */

	while (at < end && *at >= '0' && *at <= '9')
		digits = digits * 10 + (uint64_t)(*at++ - '0');
	if (at < end || at == begin || at - begin > 19 || digits > INT64_MAX)
		return false;
	if (*begin == '0' && at - begin > 1)
		return false;
	*ret = begin > text ? -(int64_t)digits : (int64_t)digits;
	return true;
}

/* A value as EMP writes it, without a parser, because a run may have ten million executions. False:
 * it is wrong or unusual. */
static bool read_plain(const struct document_stream *s, const struct field *field, void *object)
{
	const char *text = s->text + 1; /* within quotes */
	size_t size = s->size - 2;
	int64_t value = 0;

	switch (field->type) {
	case FIELD_TEXT:
		if (!stream_is_plain_text(s))
			return false;
		*field_text(field, object) = xstrndup(text, size);
		return true;

	case FIELD_ENUM:
		if (!stream_is_plain_text(s))
			return false;
		while (value < field->n_words &&
			(strncmp(field->words[value], text, size) || field->words[value][size]))
			value++;
		if (value == field->n_words)
			return false;
		break;
	case FIELD_BOOL:
	case FIELD_REAL:
		return false;
	default:
		if (field->seconds || !read_plain_number(s->text, s->size, &value) ||
			value < field->min || value > field_max(field))
			return false;
	}
	field_set(field, object, value);
	return true;
}

/* The field of that name and the part that has it. NULL: there is none. */
static const struct field *object_field(
	struct document_object *o, const char *name, struct document_part **ret)
{
	for (struct document_part *part = o->parts;
		part < o->parts + ELEMENTS(o->parts) && part->table; part++)
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

static int begin_object(struct document_object *o)
{
	const struct document_part *end = o->parts + ELEMENTS(o->parts);

	for (struct document_part *part = o->parts; part < end && part->table; part++)
		fields_init(part->table, part->object);
	o->f.err = o->stream->err;
	o->at = o->f.at;
	o->begun = true;
	if (stream_peek(o->stream) != '{')
		return json_fields_refuse(&o->f, -EINVAL, " must be a JSON object {…}");
	return stream_enter(o->stream, '{');
}

/* Reads the value of a member into its struct. */
static int read_member(struct document_object *o, const char *name, const struct field *field,
	struct document_part *part)
{
	uint64_t bit = UINT64_C(1) << (field - part->table->fields);
	_cleanup_(json_decrefp) json_t *value = NULL, *object = NULL;
	int r;

	if (part->seen & bit)
		return document_refuse_twice(o, name);
	part->seen |= bit;
	r = stream_value(o->stream, true);
	if (r >= 0 && !read_plain(o->stream, field, part->object)) {
		r = stream_parse(o->stream, &value);
		if (r < 0)
			return r;
		o->f.object = object = json_pack("{s:O}", name, value);
		document_read_field(&o->f, field, part->object);
		r = o->f.r;
	}
	return r;
}

/* Reads the members that the object did not have: they may be required. */
static int read_missing(struct document_object *o)
{
	const struct document_part *end = o->parts + ELEMENTS(o->parts);

	for (struct document_part *part = o->parts; part < end && part->table; part++)
		for (size_t k = 0; k < part->table->n; k++)
			if (!part->table->fields[k].book_only && !(part->seen & UINT64_C(1) << k))
				document_read_field(&o->f, &part->table->fields[k], part->object);
	return o->f.r;
}

int document_member(struct document_object *o, const char **ret_name)
{
	int r = o->begun ? 0 : begin_object(o);

	while (r >= 0 && (r = stream_member(o->stream, ret_name)) > 0) {
		struct document_part *part;
		const struct field *field = object_field(o, *ret_name, &part);

		if (!field)
			return 1;
		r = read_member(o, *ret_name, field, part);
		if (r >= 0 && o->sample && *o->sample > 0)
			o->f.at = (struct json_location){"sample", *o->sample};
	}
	o->f.object = NULL;
	return r < 0 ? r : read_missing(o);
}

int document_refuse_twice(struct document_object *o, const char *name)
{
	o->f.at = o->at;
	return json_fields_refuse(&o->f, -EINVAL, ": it has two members '%s'", name);
}

int document_skip(struct document_object *o)
{
	_cleanup_(json_decrefp) json_t *value = NULL;
	int r = stream_value(o->stream, true);

	return r < 0 || stream_is_plain_text(o->stream) ? r : stream_parse(o->stream, &value);
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
