/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the lab book, as the steps from an empty file to the newest version. A step that has shipped is never
 * changed: a change is a new step.
 *
 * For readers with sqlite3: unknown values are NULL, columns that end in _ns are nanoseconds, and two views show names and
 * milliseconds. */
#include "lib/record/book/query.h"

#include <errno.h>

static const char *const steps[] = {book_step_1, book_step_2, book_step_3, book_step_4, book_step_5, book_step_6};

/* A new step changes it: tests/unit/test_book_schema.c says to what. Until then, opening a book only takes longer. */
const char *const book_schema_newest_digest =
	"3d6bda783918994bdd87fe3a582958e08b5977cf3189361dddf9723a82bc0816";

int book_schema_newest(void)
{
	return ELEMENTS(steps);
}

int book_schema_version(struct book *book, struct error *err)
{
	int64_t application = 0, version = 0, tables = 0;
	int r;

	/* application_id is read last: another process may be creating the book meanwhile, in one transaction. */
	r = query_value(book, "SELECT count(*) FROM sqlite_schema", &tables, err);
	if (r == 0)
		r = query_value(book, "PRAGMA user_version", &version, err);
	if (r == 0)
		r = query_value(book, "PRAGMA application_id", &application, err);
	if (r < 0)
		return r;
	if (application != BOOK_APPLICATION_ID && (application || version || tables))
		return book_foreign(book->path, err);
	if (version < 0 || version > book_schema_newest())
		return error_say(err, -EPROTONOSUPPORT,
			"the lab book '%s' was written by a newer EMP (version %d of the book, this one reads "
			"%d); "
			"use that version, or name another file with --db or EMP_DB",
			book->path, (int)version, book_schema_newest());
	return (int)version;
}

int book_schema_make(sqlite3 *db, int version)
{
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && i < version; i++)
		rc = sqlite3_exec(db, steps[i], NULL, NULL, NULL);
	return rc;
}

static int run_step(struct book *book, int version, struct error *err)
{
	char stamp[96];
	int rc;

	rc = sqlite3_exec(book->db, steps[version], NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return book_failed(book, rc, err);
	snprintf(stamp, sizeof(stamp), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		BOOK_APPLICATION_ID, version + 1);
	rc = sqlite3_exec(book->db, stamp, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

static int upgrade(struct book *book, struct error *err)
{
	int r;

	r = book_begin(book, err);
	if (r < 0)
		return r;
	r = book_schema_version(book, err); /* again: another program may just have done it */
	if (r > 0) {
		int wrong = book_schema_check(book, r, err);

		r = wrong < 0 ? wrong : r;
	}
	while (r >= 0 && r < book_schema_newest()) {
		int step = run_step(book, r, err);

		r = step < 0 ? step : r + 1;
	}
	if (r < 0) {
		book_rollback(book);
		return r;
	}
	return book_commit(book, err);
}

/* Foreign keys are off, because dropping a table to replace it would delete the rows that refer to it. SQLite does not
 * change that inside a transaction. */
int book_schema_upgrade(struct book *book, struct error *err)
{
	int r;

	sqlite3_exec(book->db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
	r = upgrade(book, err);
	sqlite3_exec(book->db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
	return r;
}
