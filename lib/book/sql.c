/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements of the book, their parameters and rows: see sql.h. */
#include "lib/book/sql.h"

#include "lib/book/book_failure.h"
#include "lib/book/book_internal.h"
#include "lib/book/book_pending.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

static char *make_select(const struct field_table *table, const char *tail)
{
	char *sql = NULL;
	size_t size;
	FILE *text = xopen_memstream(&sql, &size);
	const char *before = "SELECT ";

	for (const struct field *f = table->fields; f < table->fields + table->n; f++) {
		fprintf(text, "%s%s", before, f->expression ?: f->name);
		before = ", ";
	}
	fprintf(text, " FROM %s %s", table->table, tail);
	return text_stream_close(text, &sql);
}

static char *make_insert(const struct field_table *table, const char *tail)
{
	char *sql = NULL;
	size_t size, parameters = 0;
	FILE *text = xopen_memstream(&sql, &size);
	const char *before = "";

	fprintf(text, "INSERT INTO %s(%s", table->table, table->keys);
	for (const char *c = table->keys; *c; c++)
		parameters += *c == ',';
	for (const struct field *f = table->fields; f < table->fields + table->n; f++) {
		if (f->expression)
			continue;
		fprintf(text, "%s%s", before, f->name);
		before = ", ";
		parameters++;
	}

	fprintf(text, ") VALUES (?");
	while (--parameters > 0)
		fprintf(text, ", ?");
	fprintf(text, ") %s", tail);
	return text_stream_close(text, &sql);
}

/* Prepares a statement and keeps it. An SQLite result code. */
static int sql_compile(struct book *book, const struct statement_key *key, sqlite3_stmt **ret)
{
	_cleanup_(freep) char *made = NULL;
	int rc;

	if (key->table)
		made = key->insert ? make_insert(key->table, key->sql)
				   : make_select(key->table, key->sql);
	rc = sqlite3_prepare_v3(
		book->db, made ?: key->sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
	if (rc == SQLITE_OK)
		statements_add(&book->statements, key, *ret);
	return rc;
}

/* Finds the statement, or prepares it. After a failure there is no statement: to bind a value is
 * SQLITE_MISUSE then, and sql_step reports the failure. */
static void sql_prepare(
	struct sql_query *q, struct book *book, const struct statement_key *key, struct error *err)
{
	int rc = SQLITE_OK;

	*q = (struct sql_query){.book = book};
	q->r = pending_store(book, err); /* which has statements of its own */
	if (q->r < 0)
		return;
	q->stmt = statements_find(&book->statements, key);
	if (!q->stmt)
		rc = sql_compile(book, key, &q->stmt);
	if (rc != SQLITE_OK)
		q->r = book_failed(book, rc, err);
	assert(!q->stmt || !sqlite3_stmt_busy(q->stmt));
}

void sql_end(struct sql_query *q)
{
	if (!q->stmt)
		return;
	sqlite3_reset(q->stmt);
	sqlite3_clear_bindings(q->stmt);
	q->stmt = NULL;
}

static void bind_text(struct sql_query *q, const char *text)
{
	int rc = text ? sqlite3_bind_text(q->stmt, ++q->bound, text_utf8(text), -1, free)
		      : sqlite3_bind_null(q->stmt, ++q->bound);

	q->rc = q->rc ?: rc;
}

static void bind_int(struct sql_query *q, int64_t value, bool unknown)
{
	int rc = unknown ? sqlite3_bind_null(q->stmt, ++q->bound)
			 : sqlite3_bind_int64(q->stmt, ++q->bound, value);

	q->rc = q->rc ?: rc;
}

static void bind_real(struct sql_query *q, double value)
{
	int rc = sqlite3_bind_double(q->stmt, ++q->bound, value);

	q->rc = q->rc ?: rc;
}

/* Binds the parameters of a format. Returns what follows them. */
static const char *bind_format(struct sql_query *q, const char *format, va_list *values)
{
	int64_t value;

	for (; *format && *format != ':'; format++)
		switch (*format) {
		case 'i':
			bind_int(q, va_arg(*values, int64_t), false);
			break;
		case 'n':
			bind_int(q, va_arg(*values, int64_t) + (int64_t)q->row, false);
			break;
		case 'u':
			value = va_arg(*values, int64_t);
			bind_int(q, value, value == 0);
			break;
		case 'd':
			bind_real(q, va_arg(*values, double));
			break;
		default:
			assert(*format == 't');
			bind_text(q, va_arg(*values, const char *));
		}
	return *format ? format + 1 : format;
}

static int sql_step(struct sql_query *q, struct error *err)
{
	int rc;

	if (q->r < 0)
		return q->r;
	rc = q->rc == SQLITE_OK ? sqlite3_step(q->stmt) : q->rc;
	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : book_failed(q->book, rc, err);
}

/* Steps to the end, so that a change is committed; then parameters can be bound again. */
static int sql_finish(struct sql_query *q, struct error *err)
{
	int r;

	do
		r = sql_step(q, err);
	while (r > 0);
	if (q->stmt)
		sqlite3_reset(q->stmt);
	q->bound = 0;
	return r;
}

static char *column_text(struct sql_query *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q->stmt, column);

	if (!text && sqlite3_errcode(q->book->db) == SQLITE_NOMEM)
		xalloc_fail();
	return text_utf8(text);
}

/* Reads a column of a format into `to`; NULL: nothing. */
static void read_column(struct sql_query *q, int column, char format, void *to)
{
	if (!to)
		return;
	if (format == 'I')
		*(int64_t *)to = sqlite3_column_int64(q->stmt, column);
	else if (format == 'T')
		*(char **)to = column_text(q, column);
	else if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL)
		*(double *)to = NAN;
	else
		*(double *)to = sqlite3_column_double(q->stmt, column);
}

int sql_row(struct book *book, struct error *err, const char *sql, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	va_list values;
	int r;

	va_start(values, format);
	sql_prepare(&q, book, &(struct statement_key){.sql = sql}, err);
	format = bind_format(&q, format, &values);
	r = sql_step(&q, err);
	for (int column = 0; r > 0 && *format; format++, column++)
		read_column(&q, column, *format, va_arg(values, void *));
	va_end(values);
	if (r > 0 && !sqlite3_stmt_readonly(q.stmt))
		r = sql_finish(&q, err) ?: 1;
	return r;
}

void sql_select(struct sql_query *q, struct book *book, struct error *err,
	const struct field_table *table, const char *tail, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	sql_prepare(q, book, &(struct statement_key){table, tail}, err);
	bind_format(q, format, &values);
	va_end(values);
}

static void bind_field(struct sql_query *q, const struct field *field, const void *object)
{
	int64_t value;

	switch (field->type) {
	case FIELD_TEXT:
		bind_text(q, *field_text(field, object));
		break;
	case FIELD_CHARS:
		bind_text(q, (const char *)object + field->offset);
		break;
	case FIELD_ENUM:
		bind_text(q, field->words[field_get(field, object)]);
		break;
	case FIELD_REAL:
		bind_real(q, *field_real(field, object));
		break;
	default:
		value = field_get(field, object);
		bind_int(q, value, field->presence == FIELD_OPTIONAL && value == field->unknown);
	}
}

int sql_insert(struct book *book, struct error *err, const struct field_table *table,
	const char *tail, const void *objects, size_t n, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	int r = 0;

	if (n == 0)
		return 0;
	sql_prepare(&q, book, &(struct statement_key){table, tail, .insert = true}, err);
	for (; r >= 0 && q.row < n; q.row++) {
		const void *object = (const char *)objects + q.row * table->size;
		va_list keys;

		va_start(keys, format);
		bind_format(&q, format, &keys);
		va_end(keys);
		for (const struct field *f = table->fields; f < table->fields + table->n; f++)
			if (!f->expression)
				bind_field(&q, f, object);
		r = sql_finish(&q, err);
	}
	return r;
}

/* Reads a text into an array of char of exactly that size. */
static bool read_chars(struct sql_query *q, int column, const struct field *field, void *object)
{
	_cleanup_(freep) char *text = column_text(q, column);

	if (!text || strlen(text) != field->size - 1)
		return false;
	strcpy((char *)object + field->offset, text);
	return true;
}

static bool read_word(struct sql_query *q, int column, const struct field *field, void *object)
{
	const char *text = (const char *)sqlite3_column_text(q->stmt, column);

	for (int word = 0; word < field->n_words; word++)
		if (!strcmp(text, field->words[word])) {
			field_set(field, object, word);
			return true;
		}
	return false;
}

/* False: it is not a value that EMP writes. */
static bool read_field(struct sql_query *q, int column, const struct field *field, void *object)
{
	int type = sqlite3_column_type(q->stmt, column);
	int64_t value;
	double real;

	if (type == SQLITE_NULL && field->presence == FIELD_OPTIONAL) {
		if (field->type == FIELD_TEXT)
			*field_text(field, object) = NULL;
		else if (field->type == FIELD_REAL)
			*field_real(field, object) = NAN;
		else
			field_set(field, object, field->unknown);
		return true;
	}

	switch (field->type) {
	case FIELD_TEXT:
		*field_text(field, object) = column_text(q, column);
		return type == SQLITE_TEXT;
	case FIELD_CHARS:
		return type == SQLITE_TEXT && read_chars(q, column, field, object);
	case FIELD_ENUM:
		return type == SQLITE_TEXT && read_word(q, column, field, object);
	case FIELD_REAL:
		*field_real(field, object) = real = sqlite3_column_double(q->stmt, column);
		return type == SQLITE_FLOAT && isfinite(real) && real >= (double)field->min;
	default:
		value = sqlite3_column_int64(q->stmt, column);
		field_set(field, object, value);
		return type == SQLITE_INTEGER && value >= field->min && value <= field_max(field);
	}
}

/* The file may come from another user, and the constraints of its tables hold only for what is
 * written through them: each value must be one that EMP writes. */
int sql_read(struct sql_query *q, const struct field_table *table, void *object, struct error *err)
{
	int r = sql_step(q, err);

	for (int i = 0; r > 0 && i < (int)table->n; i++) {
		struct field_table done = *table;

		if (read_field(q, i, &table->fields[i], object))
			continue;
		done.n = (size_t)i + 1;
		fields_clear(&done, object);
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: '%s' of a row of its table '%s' is %.40s, "
			"which EMP does not write; restore an intact copy",
			q->book->path, table->fields[i].name, table->table,
			(const char *)sqlite3_column_text(q->stmt, i) ?: "NULL");
	}
	return r;
}

int sql_one(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	va_list values;

	va_start(values, format);
	sql_prepare(&q, book, &(struct statement_key){table, tail}, err);
	bind_format(&q, format, &values);
	va_end(values);
	return sql_read(&q, table, ret, err);
}

int sql_all(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, size_t *ret_n, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	char *items = NULL;
	va_list values;
	size_t n = 0, capacity = 0;
	int r;

	va_start(values, format);
	sql_prepare(&q, book, &(struct statement_key){table, tail}, err);
	bind_format(&q, format, &values);
	va_end(values);
	do {
		array_grow(&items, &n, &capacity, table->size);
		r = sql_read(&q, table, items + (n - 1) * table->size, err);
	} while (r > 0);
	if (r < 0) {
		fields_free(table, items, n);
		return r;
	}
	if (--n == 0) /* the last one was not read */
		free(TAKE(items));
	memcpy(ret, &items, sizeof(items));
	*ret_n = n;
	return 0;
}
