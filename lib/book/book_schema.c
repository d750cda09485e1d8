/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the lab book, as the steps from an empty file to the newest version. A step that has shipped is never
 * changed: a change is a new step.
 *
 * For readers with sqlite3: unknown values are NULL, columns that end in _ns are nanoseconds, and two views show names and
 * milliseconds. */
#include "lib/book/query.h"

#include "lib/base/text.h"
#include "lib/base/tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const char *const steps[] = {book_step_1, book_step_2, book_step_3, book_step_4, book_step_5, book_step_6};

/* A new step changes it: tests/unit/test_book_schema.c says to what. Until then, opening a book only takes longer. */
const char *const book_schema_newest_digest =
	"7f260434dde5e47be1554422126ba681057bc329b65006f0fd9f550f40d00d86";

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

int book_copy_to(sqlite3 *from, sqlite3 *to)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

	if (!backup)
		return sqlite3_errcode(to);
	sqlite3_backup_step(backup, -1);
	return sqlite3_backup_finish(backup);
}

/* Of what another connection sees: this one has the lock to write, and has changed nothing yet. */
static int copy_file(struct book *book, const char *path)
{
	sqlite3 *from = NULL, *to = NULL;
	struct error ignored;
	struct stat st;
	int rc;

	unlink(path);
	if (book_make_file(path, &ignored) < 0 || stat(book->path, &st) < 0)
		return SQLITE_CANTOPEN;
	if (chown(path, st.st_uid, st.st_gid) == 0) /* of a book of somebody else only root can keep both */
		chmod(path, st.st_mode & 0777);
	rc = sqlite3_open_v2(sqlite3_db_filename(book->db, "main"), &from, SQLITE_OPEN_READONLY, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_open(path, &to);
	if (rc == SQLITE_OK)
		rc = book_copy_to(from, to);
	sqlite3_close(from);
	sqlite3_close(to);
	return rc;
}

/* "BOOK.version5", or, if there is one, "BOOK.version5-2". *ret is its name, which the caller frees. */
static int keep_copy(struct book *book, int version, char **ret, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.copying", book->path), *name = NULL;
	int rc = fresh ? copy_file(book, fresh) : SQLITE_NOMEM;

	for (int i = 1; rc == SQLITE_OK && (!name || access(name, F_OK) == 0); i++) {
		free(name);
		name = i == 1 ? text_format("%s.version%d", book->path, version)
			      : text_format("%s.version%d-%d", book->path, version, i);
		rc = name ? SQLITE_OK : SQLITE_NOMEM;
	}
	if (rc != SQLITE_OK || rename(fresh, name) < 0) {
		unlink(fresh ?: "");
		return error_say(err, -EIO,
			"the lab book '%s' was written by an older EMP, and must be copied before it is upgraded: %s; nothing was changed",
			book->path, rc == SQLITE_OK ? strerror(errno) : sqlite3_errstr(rc));
	}
	*ret = TAKE(name);
	return 0;
}

/* In a transaction. *ret_copy: of the old file; NULL: there is none. */
static int take_steps(struct book *book, char **ret_copy, struct error *err)
{
	int r = book_schema_version(book, err); /* again: another program may just have done it */

	if (r > 0) {
		int wrong = book_schema_check(book, r, err);

		r = wrong < 0 ? wrong : r;
	}
	if (r > 0 && r < book_schema_newest() && book->mode == BOOK_WRITE) {
		int copied = keep_copy(book, r, ret_copy, err);

		r = copied < 0 ? copied : r;
	}
	while (r >= 0 && r < book_schema_newest()) {
		int step = run_step(book, r, err);

		r = step < 0 ? step : r + 1;
	}
	return r;
}

static int upgrade(struct book *book, struct error *err)
{
	_cleanup_(freep) char *copy = NULL, *notice = NULL;
	int r = book_begin(book, err);

	if (r < 0)
		return r;
	r = take_steps(book, &copy, err);
	if (r < 0)
		book_rollback(book);
	else
		r = book_commit(book, err);
	if (r < 0 && copy)
		unlink(copy);
	if (r == 0 && copy)
		notice = text_format(
			"the lab book '%s' is upgraded; older versions of EMP can read its copy '%s'", book->path,
			copy);
	if (notice)
		tool_notice(notice);
	return r;
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
