/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as EMP writes them, read quickly: see document_internal.h. */
#include "lib/document/document_internal.h"

#include <string.h>

struct quick {
	const char *at, *end;
	char texts[3][4096]; /* of one execution */
	int n_texts;
};

/* Values are stored in these. */
struct quick_target {
	const struct field_table *table;
	void *object;
	uint64_t seen; /* bits of its fields */
	size_t next;   /* the field that is likely to come */
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

/* The field of that name, which was not seen before. */
static const struct field *quick_field(struct quick_target *target, const char *name, size_t size)
{
	for (size_t i = 0; i < target->table->n; i++) {
		size_t k = (target->next + i) % target->table->n;
		const struct field *field = &target->table->fields[k];

		if (field->book_only || *field->name != *name || strncmp(field->name, name, size) ||
			field->name[size])
			continue;
		if (target->seen & UINT64_C(1) << k)
			return NULL;
		target->seen |= UINT64_C(1) << k;
		target->next = k + 1;
		return field;
	}
	return NULL;
}

static bool quick_has_required(const struct quick_target *target)
{
	for (size_t k = 0; k < target->table->n; k++) {
		const struct field *field = &target->table->fields[k];

		if (field->presence == FIELD_REQUIRED && !field->book_only &&
			!(target->seen & UINT64_C(1) << k))
			return false;
	}
	return true;
}

/* 1: a member follows, with its name; 0: the object has ended; -1: it is unusual. */
static int quick_member(struct quick *q, bool first, const char **ret_name, size_t *ret_size)
{
	if (quick_take(q, '}'))
		return 0;
	if (!first && !quick_take(q, ','))
		return -1;
	return quick_text(q, ret_name, ret_size) && quick_take(q, ':') ? 1 : -1;
}

static bool quick_object(struct quick *q, struct quick_target *targets, size_t n)
{
	const char *name;
	size_t size;
	int r;

	for (size_t i = 0; i < n; i++)
		fields_init(targets[i].table, targets[i].object);
	if (!quick_take(q, '{'))
		return false;
	for (bool first = true; (r = quick_member(q, first, &name, &size)) > 0; first = false) {
		const struct field *field = NULL;
		size_t i = 0;

		while (i < n && !(field = quick_field(&targets[i], name, size)))
			i++;
		if (!field || !quick_value(q, field, targets[i].object))
			return false;
	}
	for (size_t i = 0; i < n; i++)
		if (!quick_has_required(&targets[i]))
			return false;
	return r == 0;
}

static int quick_executions(struct quick *q, quick_execution *each, void *data)
{
	int r = 1;

	if (!quick_take(q, '['))
		return 0;
	for (bool first = true; r > 0 && !quick_take(q, ']'); first = false) {
		struct source source;
		struct execution execution;
		struct quick_target targets[] = {{&source_table, &source}, {&execution_table, &execution}};

		q->n_texts = 0;
		if ((!first && !quick_take(q, ',')) || !quick_object(q, targets, ELEMENTS(targets)))
			return 0;
		r = each(&execution, &source, data) ?: 1;
	}
	return r;
}

int document_quick_execution(const char *text, size_t size, quick_execution *each, void *data)
{
	struct quick q = {.at = text, .end = text + size};
	struct source source;
	struct execution execution;
	struct quick_target targets[] = {{&source_table, &source}, {&execution_table, &execution}};

	if (!quick_object(&q, targets, ELEMENTS(targets)) || quick_next(&q))
		return 0;
	return each(&execution, &source, data) ?: 1;
}

int document_quick_sample(
	const char *text, size_t size, struct quick_sample *ret, quick_execution *each, void *data)
{
	struct quick q = {.at = text, .end = text + size};
	struct quick_target sample = {&sample_table, &ret->sample},
			    counters = {&counters_table, ret->counters};
	const char *name, *start;
	size_t name_size, start_size;
	bool executions = false, has_start = false;
	int r;

	ret->has_counters = false;
	fields_init(&sample_table, &ret->sample);
	if (!quick_take(&q, '{'))
		return 0;
	for (bool first = true; (r = quick_member(&q, first, &name, &name_size)) > 0; first = false) {
		const struct field *field = quick_field(&sample, name, name_size);

		if (field) {
			if (!quick_value(&q, field, &ret->sample))
				return 0;
		} else if (quick_is_named("executions", name, name_size) && !executions) {
			executions = true;
			r = quick_executions(&q, each, data);
			if (r <= 0)
				return r;
		} else if (quick_is_named("disturbance_counters", name, name_size) && !ret->has_counters) {
			ret->has_counters = true;
			if (!quick_object(&q, &counters, 1))
				return 0;
		} else if (!quick_is_named("start", name, name_size) || has_start ||
			   !quick_text(&q, &start, &start_size)) {
			return 0;
		} else {
			has_start = true;
		}
	}
	return r == 0 && executions && quick_has_required(&sample) && !quick_next(&q);
}
