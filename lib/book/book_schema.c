/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the book and their versions: see book_schema.h.
 *
 * The application id of a file proves nothing: another user may have made it, with a view in
 * place of a table. So all tables are compared with those that the steps in schema/ make in
 * memory. */
#include "lib/book/book_schema.h"

#include "lib/base/terminal.h"
#include "lib/book/book_failure.h"
#include "lib/book/book_internal.h"
#include "lib/book/book_paths.h"
#include "lib/book/book_pending.h"
#include "lib/book/book_transaction.h"
#include "lib/book/sql.h"

#include <sys/stat.h>

enum { APPLICATION_ID = 0x454d5062 }; /* "EMPb", in the header of the file */

/* schema_steps: the SQL that makes version 1 of an empty file, and each later one of the version
 * before. SCHEMA_OBJECTS: a query for all that they make. SCHEMA_DIGEST: of its lines. */
#include "lib/book/schema.h"

enum { NEWEST_VERSION = ELEMENTS(schema_steps) };

const uint32_t book_schema_newest_version = NEWEST_VERSION;
const char *const book_schema_newest_digest = SCHEMA_DIGEST;

int book_schema_version(struct book *book, struct error *err)
{
	int64_t application = 0, version = 0, tables = 0;
	int r;

	/* application_id is read last: another process may be creating the book meanwhile, in one
	 * transaction. */
	r = sql_row(book, err, "SELECT count(*) FROM sqlite_schema", ":I", &tables);
	if (r >= 0)
		r = sql_row(book, err, "PRAGMA user_version", ":I", &version);
	if (r >= 0)
		r = sql_row(book, err, "PRAGMA application_id", ":I", &application);
	if (r < 0)
		return r;

	if (application != APPLICATION_ID && (application || version || tables))
		return error_say(err, -EINVAL,
			"'%s' is the database of another program; name another file with --db or "
			"EMP_DB",
			book->path);
	if (version < 0)
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: it says that it is of version %d; restore "
			"an intact copy",
			book->path, (int)version);
	if (version > NEWEST_VERSION)
		return error_say(err, -EPROTONOSUPPORT,
			"the lab book '%s' was written by a newer EMP (version %d of the book, "
			"this one reads %d); use that version, or name another file with --db or "
			"EMP_DB",
			book->path, (int)version, NEWEST_VERSION);
	return (int)version;
}

/* The columns of SCHEMA_OBJECTS. */
enum { OBJECT_TYPE, OBJECT_NAME, OBJECT_LINE };

static const char *object_text(sqlite3_stmt *object, int column)
{
	return (const char *)sqlite3_column_text(object, column) ?: "";
}

int book_schema_digest(sqlite3 *db, char ret[DIGEST_SIZE])
{
	sqlite3_stmt *all = NULL;
	int rc = sqlite3_prepare_v2(
		db, "SELECT group_concat(line, '') FROM (" SCHEMA_OBJECTS ")", -1, &all, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(all);
	if (rc == SQLITE_ROW)
		digest_of(object_text(all, 0), (size_t)sqlite3_column_bytes(all, 0), ret);
	sqlite3_finalize(all);
	return rc == SQLITE_ROW ? 0 : -EIO;
}

/* Makes the tables of a version in memory. Only a lack of memory can make that fail. */
static sqlite3 *make_model(int version, sqlite3_stmt **ret_objects)
{
	sqlite3 *model = NULL;
	int rc = sqlite3_open(":memory:", &model);

	for (int i = 0; rc == SQLITE_OK && i < version; i++)
		rc = sqlite3_exec(model, schema_steps[i], NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(model, SCHEMA_OBJECTS, -1, ret_objects, NULL);
	if (rc != SQLITE_OK)
		xalloc_fail();
	return model;
}

/* The order of two objects by name and type; NULL is the last. */
static int compare_objects(sqlite3_stmt *a, sqlite3_stmt *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL);
	return strcmp(object_text(a, OBJECT_NAME), object_text(b, OBJECT_NAME))
		       ?: strcmp(object_text(a, OBJECT_TYPE), object_text(b, OBJECT_TYPE));
}

/* Names the first object that differs. `its`, `ours`: the next object of the file, and of the
 * model; NULL: there are no more. */
static int say_difference(const struct book *book, int version, sqlite3_stmt *its,
	sqlite3_stmt *ours, struct error *err)
{
	int order = compare_objects(its, ours);
	_cleanup_(freep) char *other_build = NULL;

	/* While the newest step is under development, it is edited: each build has its own. */
	if (version == NEWEST_VERSION)
		other_build = text_format(
			"; if another build of this version under development made it, export its "
			"runs with "
			"that build (emp-analyze --db '%s' export RUN), and import them into a new "
			"book with this one",
			book->path);

	if (order < 0)
		return error_say(err, -EBADMSG,
			"the lab book '%s' has the %s '%s', which EMP does not make; remove it "
			"with sqlite3, or restore an intact copy%s",
			book->path, object_text(its, OBJECT_TYPE), object_text(its, OBJECT_NAME),
			other_build ?: "");
	if (order > 0)
		return error_say(err, -EBADMSG,
			"the lab book '%s' lacks its %s '%s'; restore an intact copy%s", book->path,
			object_text(ours, OBJECT_TYPE), object_text(ours, OBJECT_NAME),
			other_build ?: "");
	return error_say(err, -EBADMSG,
		"the lab book '%s' has a %s '%s' that differs from the one that EMP makes; restore "
		"an intact copy%s",
		book->path, object_text(its, OBJECT_TYPE), object_text(its, OBJECT_NAME),
		other_build ?: "");
}

int book_schema_check(struct book *book, int version, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	sqlite3_stmt *its = NULL, *ours = NULL;
	sqlite3 *model;
	int its_rc, ours_rc, r = 0;

	if (book_schema_digest(book->db, digest) == 0 && !strcmp(digest, book_schema_newest_digest))
		return 0;

	model = make_model(version, &ours);
	its_rc = sqlite3_prepare_v2(book->db, SCHEMA_OBJECTS, -1, &its, NULL);
	do { /* up to the first difference */
		if (its_rc == SQLITE_OK || its_rc == SQLITE_ROW)
			its_rc = sqlite3_step(its);
		ours_rc = sqlite3_step(ours);
	} while (its_rc == SQLITE_ROW && ours_rc == SQLITE_ROW &&
		 !strcmp(object_text(its, OBJECT_LINE), object_text(ours, OBJECT_LINE)));

	if (its_rc != SQLITE_ROW && its_rc != SQLITE_DONE)
		r = book_failed(book, its_rc, err);
	else if (its_rc == SQLITE_ROW || ours_rc == SQLITE_ROW)
		r = say_difference(book, version, its_rc == SQLITE_ROW ? its : NULL,
			ours_rc == SQLITE_ROW ? ours : NULL, err);
	sqlite3_finalize(its);
	sqlite3_finalize(ours);
	sqlite3_close(model);
	return r;
}

int book_copy_database(sqlite3 *from, sqlite3 *to)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

	if (!backup)
		return sqlite3_errcode(to);
	sqlite3_backup_step(backup, -1);
	return sqlite3_backup_finish(backup);
}

/* Copies the file before it is upgraded, to "BOOK.version5", or, if there is one,
 * "BOOK.version5-2". The copy is of what another connection sees: this one has the lock to write,
 * and has changed nothing yet. */
static int copy_old_version(struct book *book, int version, char **ret_copy, struct error *err)
{
	_cleanup_(freep) char *fresh = text_format("%s.copying", book->file);
	_cleanup_(freep) char *wanted = text_format("%s.version%d", book->file, version);
	_cleanup_(freep) char *name = book_free_name(wanted);
	sqlite3 *from = NULL, *to = NULL;
	struct stat st;
	int rc = SQLITE_CANTOPEN;

	unlink(fresh);
	if (book_make_file(fresh, NULL) == 0 && stat(book->path, &st) == 0) {
		/* of a book of somebody else only root can keep both */
		if (chown(fresh, st.st_uid, st.st_gid) == 0)
			chmod(fresh, st.st_mode & 0777);
		rc = sqlite3_open_v2(
			sqlite3_db_filename(book->db, "main"), &from, SQLITE_OPEN_READONLY, NULL);
		if (rc == SQLITE_OK)
			rc = sqlite3_open(fresh, &to);
		if (rc == SQLITE_OK)
			rc = book_copy_database(from, to);
		sqlite3_close(from);
		sqlite3_close(to);
	}
	if (rc != SQLITE_OK || rename(fresh, name) < 0) {
		unlink(fresh);
		return error_say(err, -EIO,
			"the lab book '%s' was written by an older EMP, and must be copied before "
			"it is upgraded: %s; nothing was changed",
			book->path, rc == SQLITE_OK ? strerror(errno) : sqlite3_errstr(rc));
	}
	*ret_copy = TAKE(name);
	return 0;
}

/* In a transaction. *ret_copy: of the old file; NULL: there is none. *ret_pending: of the samples
 * that wait to be stored in the old file, locked; -1: there are none. */
static int take_steps(struct book *book, char **ret_copy, int *ret_pending, struct error *err)
{
	int version = book_schema_version(
		book, err); /* again: another program may just have done it */
	int r = version > 0 ? book_schema_check(book, version, err) : version;

	if (r >= 0 && version > 0 && version < NEWEST_VERSION && book->mode == BOOK_WRITE) {
		r = pending_lock_older(book, ret_pending, err);
		if (r >= 0)
			r = copy_old_version(book, version, ret_copy, err);
	}
	for (; r >= 0 && version < NEWEST_VERSION; version++) {
		char stamp[96];
		int rc = sqlite3_exec(book->db, schema_steps[version], NULL, NULL, NULL);

		snprintf(stamp, sizeof(stamp),
			"PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
			version + 1);
		if (rc == SQLITE_OK)
			rc = sqlite3_exec(book->db, stamp, NULL, NULL, NULL);
		if (rc != SQLITE_OK)
			r = book_failed(book, rc, err);
	}
	return r;
}

/* Foreign keys are off, because dropping a table to replace it would delete the rows that refer to
 * it. SQLite does not change that inside a transaction. */
int book_schema_upgrade(struct book *book, struct error *err)
{
	_cleanup_(freep) char *copy = NULL;
	_cleanup_(closep) int pending = -1;
	int r;

	sqlite3_exec(book->db, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
	r = book_begin(book, err);
	if (r == 0)
		r = book_end(book, take_steps(book, &copy, &pending, err), err);
	sqlite3_exec(book->db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
	if (r < 0 && copy)
		unlink(copy);
	if (r == 0 && copy)
		terminal_remark(
			"the lab book '%s' is upgraded; older versions of EMP can read its copy "
			"'%s'",
			book->path, copy);
	if (r == 0 && pending >= 0)
		pending_put_aside(book, copy);
	return r;
}
