/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as EMP writes them, read quickly: see document_internal.h. */
#include "lib/document/document_internal.h"

#include <string.h>

struct quick {
	const char *at, *end;
	char texts[3][4096]; /* of one execution */
	int n_texts;
};

/* An object that is being read: its members are fields of one or two structs. */
struct quick_object {
	struct {
		const struct field_table *table;
		void *object;
		uint64_t seen; /* bits of its fields */
		size_t next;   /* the field that is likely to come */
	} parts[2];
	bool begun; /* a member of it has been read */
};

static char quick_next(struct quick *q)
{
	while (q->at < q->end && (*q->at == ' ' || *q->at == '\n' || *q->at == '\t' || *q->at == '\r'))
		q->at++;
	return q->at < q->end ? *q->at : '\0';
}

static bool quick_take(struct quick *q, char c)
{
	if (quick_next(q) != c)
		return false;
	q->at++;
	return true;
}

/* Plain ASCII only. */
static bool quick_text(struct quick *q, const char **ret, size_t *ret_size)
{
	const char *begin;

	if (!quick_take(q, '"'))
		return false;
	for (begin = q->at; q->at < q->end && *q->at != '"'; q->at++)
		if ((unsigned char)*q->at < ' ' || (unsigned char)*q->at >= 0x7f || *q->at == '\\')
			return false;
	*ret = begin;
	*ret_size = (size_t)(q->at - begin);
	return quick_take(q, '"');
}

static bool quick_number(struct quick *q, int64_t *ret)
{
	bool negative = quick_next(q) == '-';
	uint64_t value = 0; /* which has room for 19 digits */
	const char *begin;

	if (negative)
		q->at++;
	for (begin = q->at; q->at < q->end && *q->at >= '0' && *q->at <= '9'; q->at++)
		value = value * 10 + (uint64_t)(*q->at - '0');
	if (q->at == begin || q->at - begin > 19 || value > INT64_MAX || (*begin == '0' && q->at - begin > 1))
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return q->at < q->end && strchr(",}] \n\t\r", *q->at) && *q->at;
}

static bool quick_is_named(const char *name, const char *text, size_t size)
{
	return strlen(name) == size && !memcmp(name, text, size);
}

static bool quick_value(struct quick *q, const struct field *field, void *object)
{
	const char *text;
	size_t size;
	int64_t value;

	switch (field->type) {
	case FIELD_TEXT:
		if (q->n_texts == ELEMENTS(q->texts) || !quick_text(q, &text, &size) ||
			size >= sizeof(q->texts[0]))
			return false;
		*field_text(field, object) = memcpy(q->texts[q->n_texts], text, size);
		q->texts[q->n_texts++][size] = '\0';
		return true;
	case FIELD_ENUM:
		if (!quick_text(q, &text, &size))
			return false;
		for (int i = 0; i < field->n_words; i++)
			if (quick_is_named(field->words[i], text, size)) {
				field_set(field, object, i);
				return true;
			}
		return false;
	case FIELD_BOOL:
		value = quick_next(q) == 't';
		text = value ? "true" : "false";
		size = strlen(text);
		field_set(field, object, value);
		if ((size_t)(q->end - q->at) < size || memcmp(q->at, text, size))
			return false;
		q->at += size;
		return true;
	case FIELD_REAL:
		return false;
	default:
		if (field->seconds || !quick_number(q, &value) || value < field->min ||
			value > field_max(field))
			return false;
		field_set(field, object, value);
		return true;
	}
}

/* The field of that name, which was not seen before, and the struct that has it. */
static const struct field *quick_field(struct quick_object *o, const char *name, size_t size, void **ret)
{
	for (size_t p = 0; p < ELEMENTS(o->parts) && o->parts[p].table; p++) {
		const struct field_table *table = o->parts[p].table;

		for (size_t i = 0; i < table->n; i++) {
			size_t k = (o->parts[p].next + i) % table->n;
			const struct field *field = &table->fields[k];

			if (field->book_only || *field->name != *name ||
				!quick_is_named(field->name, name, size))
				continue;
			if (o->parts[p].seen & UINT64_C(1) << k)
				return NULL;
			o->parts[p].seen |= UINT64_C(1) << k;
			o->parts[p].next = k + 1;
			*ret = o->parts[p].object;
			return field;
		}
	}
	return NULL;
}

/* Reads members into the structs. 1: what follows is the value of a member that they do not have; 0: the object has ended, and had
 * all that are required; -1: it is unusual. */
static int quick_members(struct quick *q, struct quick_object *o, const char **ret_name, size_t *ret_size)
{
	while (!quick_take(q, '}')) {
		const struct field *field;
		void *object;

		if ((o->begun && !quick_take(q, ',')) || !quick_text(q, ret_name, ret_size) ||
			!quick_take(q, ':'))
			return -1;
		o->begun = true;
		field = quick_field(o, *ret_name, *ret_size, &object);
		if (!field)
			return 1;
		if (!quick_value(q, field, object))
			return -1;
	}
	for (size_t p = 0; p < ELEMENTS(o->parts) && o->parts[p].table; p++)
		for (size_t k = 0; k < o->parts[p].table->n; k++) {
			const struct field *field = &o->parts[p].table->fields[k];

			if (field->presence == FIELD_REQUIRED && !field->book_only &&
				!(o->parts[p].seen & UINT64_C(1) << k))
				return -1;
		}
	return 0;
}

/* As document_quick_execution, for the next one. */
static int quick_next_execution(struct quick *q, quick_execution *each, void *data)
{
	struct source source;
	struct execution execution;
	struct quick_object o = {{{&source_table, &source}, {&execution_table, &execution}}};
	const char *name;
	size_t size;

	q->n_texts = 0;
	fields_init(&source_table, &source);
	fields_init(&execution_table, &execution);
	if (!quick_take(q, '{') || quick_members(q, &o, &name, &size) != 0)
		return 0;
	return each(&execution, &source, data) ?: 1;
}

int document_quick_execution(const char *text, size_t size, quick_execution *each, void *data)
{
	struct quick q = {.at = text, .end = text + size};

	return quick_next_execution(&q, each, data);
}

int document_quick_sample(
	const char *text, size_t size, struct quick_sample *ret, quick_execution *each, void *data)
{
	struct quick q = {.at = text, .end = text + size};
	struct quick_object sample = {{{&sample_table, &ret->sample}}},
			    counters = {{{&counters_table, ret->counters}}};
	bool executions = false, has_start = false;
	const char *name, *start;
	int r;

	ret->has_counters = false;
	fields_init(&sample_table, &ret->sample);
	if (!quick_take(&q, '{'))
		return 0;
	while ((r = quick_members(&q, &sample, &name, &size)) > 0)
		if (quick_is_named("executions", name, size) && !executions && quick_take(&q, '[')) {
			executions = true;
			for (bool first = true; !quick_take(&q, ']'); first = false) {
				r = first || quick_take(&q, ',') ? quick_next_execution(&q, each, data) : 0;
				if (r <= 0)
					return r;
			}
		} else if (quick_is_named("disturbance_counters", name, size) && !ret->has_counters) {
			ret->has_counters = true;
			fields_init(&counters_table, ret->counters);
			if (!quick_take(&q, '{') || quick_members(&q, &counters, &name, &size) != 0)
				return 0;
		} else if (!quick_is_named("start", name, size) || has_start ||
			   !quick_text(&q, &start, &size)) {
			return 0;
		} else {
			has_start = true;
		}
	return r == 0 && executions && !quick_next(&q);
}
