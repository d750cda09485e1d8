/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements of the book, their parameters and rows: see sql.h. */
#include "lib/book/book_internal.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

/* The SQL that inserts or selects the fields of a table. */
static char *make_sql(const struct field_table *table, const char *tail, bool insert)
{
	char *sql = NULL;
	size_t size, parameters = 0;
	FILE *text = xopen_memstream(&sql, &size);

	if (insert) {
		fprintf(text, "INSERT INTO %s(%s", table->table, table->keys);
		for (const char *comma = table->keys; (comma = strchr(comma, ',')); comma++)
			parameters++;
	}
	for (size_t i = 0, n = 0; i < table->n; i++) {
		const struct field *field = &table->fields[i];

		if (insert && field->expression)
			continue;
		fprintf(text, "%s%s",
			n++      ? ", "
			: insert ? ""
				 : "SELECT ",
			field->expression ?: field->name);
		parameters++;
	}
	if (insert) {
		fprintf(text, ") VALUES (?");
		while (--parameters > 0)
			fprintf(text, ", ?");
		fprintf(text, ") %s", tail);
	} else {
		fprintf(text, " FROM %s %s", table->table, tail);
	}
	return text_stream_close(text, &sql);
}

/* Takes the statement from the cache, or prepares it: `sql`, or, of a table of fields, what `sql`
 * is the tail of. After a failure there is no statement: what binds to it is SQLITE_MISUSE, and
 * sql_step reports the failure. */
static void sql_prepare(struct sql_query *q, struct book *book, const struct field_table *table,
	const char *sql, bool insert, struct error *err)
{
	struct book_statement *s = book->statements, *end;

	*q = (struct sql_query){.book = book};
	q->r = pending_store(book, err); /* which has statements of its own */
	if (q->r < 0)
		return;
	end = s + book->n_statements;
	while (s < end && (s->sql != sql || s->table != table || s->insert != insert))
		s++;
	if (s == end) {
		_cleanup_(freep) char *made = table ? make_sql(table, sql, insert) : NULL;
		int rc;

		assert(book->n_statements < ELEMENTS(book->statements));
		rc = sqlite3_prepare_v3(
			book->db, made ?: sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
		if (rc != SQLITE_OK) {
			q->r = book_failed(book, rc, err);
			return;
		}
		s->table = table;
		s->sql = sql;
		s->insert = insert;
		book->n_statements++;
	}
	q->stmt = s->stmt;
	assert(!sqlite3_stmt_busy(q->stmt));
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

/* The parameters of a format; returns what follows them. */
static const char *bind_format(struct sql_query *q, const char *format, va_list *values)
{
	int64_t value;
	int rc;

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
			rc = sqlite3_bind_double(q->stmt, ++q->bound, va_arg(*values, double));
			q->rc = q->rc ?: rc;
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

int sql_row(struct book *book, struct error *err, const char *sql, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	va_list values;
	int r;

	va_start(values, format);
	sql_prepare(&q, book, NULL, sql, false, err);
	format = bind_format(&q, format, &values);
	r = sql_step(&q, err);
	for (int column = 0; r > 0 && *format; format++, column++) {
		void *to = va_arg(values, void *);

		if (!to)
			continue;
		if (*format == 'I')
			*(int64_t *)to = sqlite3_column_int64(q.stmt, column);
		else if (*format == 'T')
			*(char **)to = column_text(&q, column);
		else
			*(double *)to = sqlite3_column_type(q.stmt, column) == SQLITE_NULL
						? NAN
						: sqlite3_column_double(q.stmt, column);
	}
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
	sql_prepare(q, book, table, tail, false, err);
	bind_format(q, format, &values);
	va_end(values);
}

int sql_insert(struct book *book, struct error *err, const struct field_table *table,
	const char *tail, const void *objects, size_t n, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	int r = 0;

	if (n == 0)
		return 0;
	sql_prepare(&q, book, table, tail, true, err);
	for (; r >= 0 && q.row < n; q.row++) {
		va_list keys;

		va_start(keys, format);
		bind_format(&q, format, &keys);
		va_end(keys);

		const void *object = (const char *)objects + q.row * table->size;

		for (const struct field *f = table->fields; f < table->fields + table->n; f++) {
			int64_t value;
			int rc;

			if (f->expression)
				continue;
			switch (f->type) {
			case FIELD_TEXT:
				bind_text(&q, *field_text(f, object));
				break;
			case FIELD_CHARS:
				bind_text(&q, (const char *)object + f->offset);
				break;
			case FIELD_ENUM:
				bind_text(&q, f->words[field_get(f, object)]);
				break;
			case FIELD_REAL:
				rc = sqlite3_bind_double(q.stmt, ++q.bound, *field_real(f, object));
				q.rc = q.rc ?: rc;
				break;
			default:
				value = field_get(f, object);
				bind_int(&q, value,
					f->presence == FIELD_OPTIONAL && value == f->unknown);
			}
		}
		r = sql_finish(&q, err);
	}
	return r;
}

/* The file may come from another user, and the constraints of its tables hold only for what is
 * written through them: each value must be one that EMP writes. */
int sql_read(struct sql_query *q, const struct field_table *table, void *object, struct error *err)
{
	int r = sql_step(q, err);

	for (int i = 0; r > 0 && i < (int)table->n; i++) {
		const struct field *field = &table->fields[i];
		int type = sqlite3_column_type(q->stmt, i), word = 0;
		bool right = type == SQLITE_TEXT;
		_cleanup_(freep) char *text = NULL;
		int64_t value;

		if (type == SQLITE_NULL && field->presence == FIELD_OPTIONAL) {
			if (field->type == FIELD_TEXT)
				*field_text(field, object) = NULL;
			else
				field_set(field, object, field->unknown);
			continue;
		}
		switch (field->type) {
		case FIELD_TEXT:
			*field_text(field, object) = column_text(q, i);
			break;
		case FIELD_CHARS:
			text = right ? column_text(q, i) : NULL;
			right = text && strlen(text) == field->size - 1;
			if (right)
				strcpy((char *)object + field->offset, text);
			break;
		case FIELD_ENUM:
			while (right && word < field->n_words &&
				strcmp((const char *)sqlite3_column_text(q->stmt, i),
					field->words[word]))
				word++;
			right = right && word < field->n_words;
			if (right)
				field_set(field, object, word);
			break;
		case FIELD_REAL:
			*field_real(field, object) = sqlite3_column_double(q->stmt, i);
			right = type == SQLITE_FLOAT && isfinite(*field_real(field, object)) &&
				*field_real(field, object) >= (double)field->min;
			break;
		default:
			value = sqlite3_column_int64(q->stmt, i);
			field_set(field, object, value);
			right = type == SQLITE_INTEGER && value >= field->min &&
				value <= field_max(field);
		}
		if (!right) {
			struct field_table read = *table;

			read.n = (size_t)i + 1;
			fields_clear(&read, object);
			return error_say(err, -EBADMSG,
				"the lab book '%s' is damaged: '%s' of a row of its table '%s' is %.40s, which EMP does not write; restore an intact copy",
				q->book->path, field->name, table->table,
				(const char *)sqlite3_column_text(q->stmt, i) ?: "NULL");
		}
	}
	return r;
}

int sql_one(struct book *book, struct error *err, const struct field_table *table, const char *tail,
	void *ret, const char *format, ...)
{
	_cleanup_(sql_end) struct sql_query q = {};
	va_list values;

	va_start(values, format);
	sql_prepare(&q, book, table, tail, false, err);
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
	sql_prepare(&q, book, table, tail, false, err);
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
	if (--n == 0) /* behind the last one is one that was not read */
		free(TAKE(items));
	memcpy(ret, &items, sizeof(items));
	*ret_n = n;
	return 0;
}
