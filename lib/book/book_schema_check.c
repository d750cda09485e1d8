/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the tables of a file are those of a lab book. Its application id proves nothing: another user may have made
 * the file, with a view in place of a table. They are compared with the tables that the steps of book_schema.c make in
 * memory. */
#include "lib/book/book_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Statistics (ANALYZE) change no result. */
#define OBJECTS                                                                  \
	"SELECT type, name, tbl_name, sql FROM sqlite_schema"                    \
	" WHERE type <> 'table' OR name NOT IN ('sqlite_stat1', 'sqlite_stat4')" \
	" ORDER BY name, type"

enum { TYPE, NAME, TABLE, SQL };

/* One object of a schema after another. */
struct objects {
	sqlite3_stmt *stmt;
	int rc; /* SQLITE_ROW: there is one */
};

static void objects_end(struct objects *o)
{
	sqlite3_finalize(o->stmt);
}

static void next(struct objects *o)
{
	o->rc = sqlite3_step(o->stmt);
}

static void begin(struct objects *o, sqlite3 *db)
{
	o->rc = sqlite3_prepare_v2(db, OBJECTS, -1, &o->stmt, NULL);
	if (o->rc == SQLITE_OK)
		next(o);
}

static const char *text(const struct objects *o, int column)
{
	return (const char *)sqlite3_column_text(o->stmt, column) ?: "";
}

static bool is_skipped(char c)
{
	return c == '"' || isspace((unsigned char)c);
}

/* The same but for blanks and quotes around names, which depend on the version of SQLite that changed a table. */
static bool same_sql(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (is_skipped(*a))
			a++;
		while (is_skipped(*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

static int order(const struct objects *a, const struct objects *b)
{
	int by_name = strcmp(text(a, NAME), text(b, NAME));

	return by_name ? by_name : strcmp(text(a, TYPE), text(b, TYPE));
}

/* The first objects that differ. */
static int refuse(
	const struct book *book, const struct objects *its, const struct objects *ours, struct error *err)
{
	int by = its->rc != SQLITE_ROW ? 1 : ours->rc != SQLITE_ROW ? -1 : order(its, ours);

	if (by < 0)
		return error_say(err, -EBADMSG,
			"the lab book '%s' has the %s '%s', which EMP does not make; remove it with sqlite3, or restore an intact copy",
			book->path, text(its, TYPE), text(its, NAME));
	if (by > 0)
		return error_say(err, -EBADMSG, "the lab book '%s' lacks its %s '%s'; restore an intact copy",
			book->path, text(ours, TYPE), text(ours, NAME));
	return error_say(err, -EBADMSG,
		"the lab book '%s' has a %s '%s' that differs from the one that EMP makes; restore an intact copy",
		book->path, text(its, TYPE), text(its, NAME));
}

static bool are_same(const struct objects *its, const struct objects *ours)
{
	return order(its, ours) == 0 && !strcmp(text(its, TABLE), text(ours, TABLE)) &&
	       same_sql(text(its, SQL), text(ours, SQL));
}

/* All of them, as same_sql compares them. */
static int print_all(sqlite3 *db, FILE *file)
{
	_cleanup_(objects_end) struct objects o = {};

	for (begin(&o, db); o.rc == SQLITE_ROW; next(&o)) {
		fprintf(file, "%s %s %s ", text(&o, TYPE), text(&o, NAME), text(&o, TABLE));
		for (const char *c = text(&o, SQL); *c; c++)
			if (!is_skipped(*c))
				fputc(*c, file);
		fputc('\n', file);
	}
	return o.rc == SQLITE_DONE ? 0 : -EIO;
}

int book_schema_digest(sqlite3 *db, char ret[DIGEST_SIZE])
{
	_cleanup_(freep) char *all = NULL;
	size_t size;
	FILE *file = xopen_memstream(&all, &size);
	int r = print_all(db, file);

	text_stream_close(file, &all);
	if (r < 0)
		return r;
	digest_of(all, size, ret);
	return 0;
}

static int compare(struct book *book, sqlite3 *model, struct error *err)
{
	_cleanup_(objects_end) struct objects its = {}, ours = {};

	begin(&its, book->db);
	begin(&ours, model);
	while (its.rc == SQLITE_ROW && ours.rc == SQLITE_ROW && are_same(&its, &ours)) {
		next(&its);
		next(&ours);
	}
	if (ours.rc != SQLITE_ROW && ours.rc != SQLITE_DONE)
		return error_oom(err);
	if (its.rc != SQLITE_ROW && its.rc != SQLITE_DONE)
		return book_failed(book, its.rc, err);
	return its.rc == SQLITE_DONE && ours.rc == SQLITE_DONE ? 0 : refuse(book, &its, &ours, err);
}

int book_schema_check(struct book *book, int version, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	sqlite3 *model = NULL;
	int r;

	if (book_schema_digest(book->db, digest) == 0 && !strcmp(digest, book_schema_newest_digest))
		return 0;
	if (sqlite3_open(":memory:", &model) != SQLITE_OK || book_schema_make(model, version) != SQLITE_OK)
		r = error_oom(err);
	else
		r = compare(book, model, err);
	sqlite3_close(model);
	return r;
}
