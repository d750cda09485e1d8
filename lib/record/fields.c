/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of structs by their tables: see fields.h. */
#include "lib/record/fields.h"

int64_t field_max(const struct field *field)
{
	if (field->max)
		return field->max;
	switch (field->type) {
	case FIELD_BOOL:
		return 1;
	case FIELD_UINT32:
		return UINT32_MAX;
	case FIELD_INT:
		return INT32_MAX;
	default:
		return field->seconds ? JSON_SPAN_MAX : INT64_MAX;
	}
}

int64_t field_get(const struct field *field, const void *object)
{
	const char *at = (const char *)object + field->offset;

	switch (field->type) {
	case FIELD_INT64:
		return *(const int64_t *)at;
	case FIELD_UINT32:
		return *(const uint32_t *)at;
	case FIELD_BOOL:
		return *(const bool *)at;
	default:
		return *(const int *)at;
	}
}

void field_set(const struct field *field, void *object, int64_t value)
{
	char *at = (char *)object + field->offset;

	switch (field->type) {
	case FIELD_INT64:
		*(int64_t *)at = value;
		break;
	case FIELD_UINT32:
		*(uint32_t *)at = (uint32_t)value;
		break;
	case FIELD_BOOL:
		*(bool *)at = value;
		break;
	default:
		*(int *)at = (int)value;
	}
}

void fields_init(const struct field_table *table, void *object)
{
	for (const struct field *f = table->fields; f < table->fields + table->n; f++)
		if (f->type == FIELD_TEXT || f->type == FIELD_CHARS || f->type == FIELD_REAL)
			memset((char *)object + f->offset, 0, f->size);
		else
			field_set(f, object, f->unknown);
}

void fields_clear(const struct field_table *table, void *object)
{
	for (const struct field *f = table->fields; f < table->fields + table->n; f++)
		if (f->type == FIELD_TEXT) {
			free(*field_text(f, object));
			*field_text(f, object) = NULL;
		}
}

void fields_free(const struct field_table *table, void *array, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fields_clear(table, (char *)array + i * table->size);
	free(array);
}
