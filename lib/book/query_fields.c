/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SQL of a table of fields: see query.h and lib/record/fields.h. */
#include "lib/book/query.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/json_fields.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static char *make_insert(const struct field_table *table, const char *tail)
{
	char *sql = NULL;
	size_t size, parameters = 0;
	FILE *text = xopen_memstream(&sql, &size);

	fprintf(text, "INSERT INTO %s(%s", table->table, table->keys);
	for (const char *comma = table->keys; (comma = strchr(comma, ',')); comma++)
		parameters++;
	for (size_t i = 0, n = 0; i < table->n; i++)
		if (!table->fields[i].expression) {
			fprintf(text, "%s%s", n++ ? ", " : "", table->fields[i].name);
			parameters++;
		}
	fprintf(text, ") VALUES (?");
	while (--parameters > 0)
		fprintf(text, ", ?");
	fprintf(text, ") %s", tail);
	return text_stream_close(text, &sql);
}

static char *make_select(const struct field_table *table, const char *tail)
{
	char *sql = NULL;
	size_t size;
	FILE *text = xopen_memstream(&sql, &size);

	for (size_t i = 0; i < table->n; i++)
		fprintf(text, "%s%s", i ? ", " : "SELECT ",
			table->fields[i].expression ?: table->fields[i].name);
	fprintf(text, " FROM %s %s", table->table, tail);
	return text_stream_close(text, &sql);
}

int query_insert(struct query *q, struct book *book, const struct field_table *table, const char *tail,
	struct error *err)
{
	return query_begin_for(q, book, table, tail, make_insert, err);
}

int query_select(struct query *q, struct book *book, const struct field_table *table, const char *tail,
	struct error *err)
{
	return query_begin_for(q, book, table, tail, make_select, err);
}

static void bind(struct query *q, const struct field *field, const void *object)
{
	int64_t value;

	switch (field->type) {
	case FIELD_TEXT:
		query_text(q, *field_text(field, object));
		return;
	case FIELD_CHARS:
		query_text(q, (const char *)object + field->offset);
		return;
	case FIELD_ENUM:
		query_text(q, field->words[field_get(field, object)]);
		return;
	case FIELD_REAL:
		query_real(q, *field_real(field, object));
		return;
	default:
		value = field_get(field, object);
		if (field->presence == FIELD_OPTIONAL)
			query_unless(q, value, field->unknown);
		else
			query_int(q, value);
	}
}

void query_bind_fields(struct query *q, const struct field_table *table, const void *object)
{
	for (const struct field *f = table->fields; f < table->fields + table->n; f++)
		if (!f->expression)
			bind(q, f, object);
}

/* The index of the word; -1: it is none of them. */
static int read_word(const char *text, const struct field *field)
{
	for (int i = 0; text && i < field->n_words; i++)
		if (!strcmp(text, field->words[i]))
			return i;
	return -1;
}

static bool is_within(const struct field *field, int64_t value)
{
	return value >= field->min && value <= field_max(field);
}

static bool read_chars(const char *text, const struct field *field, void *object)
{
	_cleanup_(freep) char *utf8 = text_utf8(text);

	if (!utf8 || strlen(utf8) != field->size - 1)
		return false;
	strcpy((char *)object + field->offset, utf8);
	return true;
}

/* Whether the value is one that EMP writes. */
static bool read_field(struct query *q, int column, const struct field *field, void *object)
{
	int type = sqlite3_column_type(q->stmt, column);
	const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(q->stmt, column) : NULL;
	int64_t value;

	if (type == SQLITE_NULL && field->presence == FIELD_OPTIONAL) {
		if (field->type != FIELD_TEXT)
			field_set(field, object, field->unknown);
		return true;
	}
	switch (field->type) {
	case FIELD_TEXT:
		*field_text(field, object) = query_column_text(q, column);
		return type == SQLITE_TEXT;
	case FIELD_CHARS:
		return read_chars(text, field, object);
	case FIELD_ENUM:
		value = read_word(text, field);
		field_set(field, object, value);
		return value >= 0;
	case FIELD_REAL:
		*field_real(field, object) = sqlite3_column_double(q->stmt, column);
		return type == SQLITE_FLOAT && isfinite(*field_real(field, object)) && *field_real(field, object) >= (double)field->min;
	default:
		value = query_column(q, column);
		field_set(field, object, value);
		return type == SQLITE_INTEGER && is_within(field, value);
	}
}

/* The file may come from another user, and the constraints of its tables hold only for what is written through them. */
static int refuse(struct query *q, int column, const struct field_table *table, struct error *err)
{
	const char *value = (const char *)sqlite3_column_text(q->stmt, column);

	return error_say(err, -EBADMSG,
		"the lab book '%s' is damaged: '%s' of a row of its table '%s' is %.40s, which EMP does not write; restore an intact copy",
		q->book->path, table->fields[column].name, table->table, value ?: "NULL");
}

int query_measurement(struct query *q, double *ret, struct error *err)
{
	double value = sqlite3_column_double(q->stmt, 0);

	if (!isfinite(value) || value < 0)
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: a value of its table 'measurement' is %g, which EMP does not write; restore an intact copy",
			q->book->path, value);
	*ret = value;
	return 1;
}

int query_read_fields(struct query *q, const struct field_table *table, void *object, struct error *err)
{
	for (size_t i = 0; i < table->n; i++)
		if (!read_field(q, (int)i, &table->fields[i], object))
			return refuse(q, (int)i, table, err);
	return query_done(q, err);
}

int query_row(struct query *q, const struct field_table *table, void *object, struct error *err)
{
	int r = query_step(q, err);

	if (r > 0)
		r = query_read_fields(q, table, object, err) ?: 1;
	return r;
}

int query_rows(struct query *q, const struct field_table *table, void *ret, size_t *ret_n, struct error *err)
{
	char *items = NULL;
	size_t n = 0;
	int r;

	while ((r = query_step(q, err)) > 0) {
		r = array_grow(&items, &n, NULL, table->size) ? 0 : error_oom(err);
		if (r == 0)
			r = query_read_fields(q, table, items + (n - 1) * table->size, err);
		if (r < 0)
			break;
	}
	if (r < 0) {
		fields_free(table, items, n);
		return r;
	}
	memcpy(ret, &items, sizeof(items));
	*ret_n = n;
	return 0;
}

int query_all(struct book *book, const struct field_table *table, const char *tail, int64_t parameter,
	void *ret, size_t *ret_n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};

	query_select(&q, book, table, tail, err);
	if (strchr(tail, '?'))
		query_int(&q, parameter);
	return query_rows(&q, table, ret, ret_n, err);
}

int query_add(struct book *book, const struct field_table *table, const void *object, int64_t *ret_id,
	struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r;

	query_insert(&q, book, table, "", err);
	query_bind_fields(&q, table, object);
	r = query_run(&q, err);
	if (r == 0)
		*ret_id = sqlite3_last_insert_rowid(book->db);
	return r;
}

int query_add_rows(struct book *book, int64_t run, const struct field_table *table, const void *objects,
	size_t n, struct error *err)
{
	_cleanup_(query_end) struct query q = {};
	int r = query_insert(&q, book, table, "", err);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		query_int(&q, run);
		query_bind_fields(&q, table, (const char *)objects + i * table->size);
		r = query_run(&q, err);
	}
	return r;
}
