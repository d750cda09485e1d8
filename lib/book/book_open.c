/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the lab book: the checks of its file and of its schema, the upgrade of an older one, and
 * a copy to go on in if the file cannot be written. The file is checked before SQLite opens it,
 * because SQLite reports most of what can be wrong with the same words ("unable to open database
 * file"). */
#include "lib/base/terminal.h"
#include "lib/book/book_internal.h"

#include <endian.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/statvfs.h>

enum {
	PATIENCE_MS = 10000,
	APPLICATION_ID = 0x454d5062, /* "EMPb", in the header of the file */
};

static char *book_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : slash - path);
}

/* Whether a new file can be made at `path`: the directories of the user's own book are made, others
 * must be there. */
static int check_new(const char *path, const char *directory, struct error *err)
{
	_cleanup_(freep) char *by_default = NULL, *part = xstrdup(directory);
	struct stat st;

	if (stat(directory, &st) == 0 || errno != ENOENT)
		return 0;
	if (paths_default_book(&by_default, NULL) < 0 || strcmp(path, by_default))
		return error_say(err, -ENOENT,
			"cannot make the lab book '%s': there is no directory '%s'; make it first, or name another file with --db or EMP_DB",
			path, directory);
	for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) { /* mkdir -p */
		if (slash)
			*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return error_os(err, -errno,
				"cannot make the directory '%s' for the lab book", part);
		if (!slash)
			return 0;
		*slash = '/';
	}
}

int book_make_file(const char *path, struct error *err)
{
	bool root = geteuid() == 0;
	const struct group *group;
	_cleanup_(closep) int fd = -1;

	if (access(path, F_OK) == 0)
		return 0;
	group = root ? getgrnam("emp") : NULL;
	/* root's has the command lines of all users; SQLite gives its other files the same mode and
	 * group */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, root ? 0600 : 0644);
	if (fd < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make the lab book '%s'", path);
	if (fd >= 0 && group && fchown(fd, (uid_t)-1, group->gr_gid) == 0)
		fchmod(fd, 0660);
	return 0;
}

static off_t file_size(const char *path, const char *suffix)
{
	_cleanup_(freep) char *name = text_format("%s%s", path, suffix);
	struct stat st;

	return stat(name, &st) == 0 ? st.st_size : 0;
}

/* Finds the file of the book, and checks it and the files that SQLite and EMP keep with it, as both
 * open any file of these names, and SQLite applies what is in them, also for a reader. Those of the
 * book's owner are as good as the book. */
static int check_paths(struct book *book, struct error *err)
{
	static const char *const beside[] = {"-wal", "-shm", "-journal", "-pending", ".copying"};
	enum path_use use = book->mode == BOOK_WRITE ? PATH_WRITE : PATH_READ;
	_cleanup_(freep) char *file = NULL;
	struct stat st, its;
	int r = paths_check(book->path, use, &file, err);

	for (size_t i = 0; r == 0 && i < ELEMENTS(beside); i++) {
		_cleanup_(freep) char *name = text_format("%s%s", file, beside[i]);
		bool owners = stat(file, &st) == 0 && lstat(name, &its) == 0 &&
			      st.st_uid == its.st_uid;

		r = paths_check(name, use == PATH_READ && !owners ? PATH_FIND : use, NULL, err);
		if (r == 0)
			r = paths_check_kind(name, err);
	}
	if (r < 0)
		return error_prefix(err, r, "the lab book");
	free(book->file);
	book->file = TAKE(file);
	paths_keep_apart(book->file);
	return 0;
}

/* Checks the file before SQLite opens it, and makes it if it is missing and to be written. */
static int check_file(struct book *book, struct error *err)
{
	const char *path = book->path;
	enum book_mode mode = book->mode;
	_cleanup_(freep) char *directory = book_directory(path);
	struct stat st;
	bool there = stat(path, &st) == 0;
	int r;

	if (!there && errno != ENOENT)
		return error_os(err, -errno, "cannot open the lab book '%s'", path);
	if (!there && mode == BOOK_READ)
		return error_say(err, -ENOENT,
			"there is no lab book '%s' yet; emp-calibrate, emp-measure or emp-analyze import makes it, and --db FILE or EMP_DB names another",
			path);
	r = there ? 0 : check_new(path, directory, err);
	if (r >= 0)
		r = check_paths(book, err);
	if (r < 0)
		return r;
	free(directory);
	directory = book_directory(book->file);
	if (there && S_ISDIR(st.st_mode))
		return error_say(err, -EISDIR,
			"'%s' is a directory; name the lab book in it, such as '%s%semp.db'", path,
			path, path[strlen(path) - 1] == '/' ? "" : "/");
	if (there && !S_ISREG(st.st_mode))
		return error_say(err, -EINVAL,
			"'%s' is not a regular file, and so not a lab book; name another with --db or EMP_DB",
			path);
	if (there && st.st_size == 1) /* SQLite takes it for an empty file */
		return error_say(err, -EINVAL,
			"'%s' is not a lab book: it is not an SQLite database; name another file with --db or EMP_DB",
			path);
	if (there && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return error_os(err, -errno, "cannot read the lab book '%s'", path);
	if (mode == BOOK_READ)
		return 0;
	if (there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
		return error_os(err, -errno,
			"the lab book '%s' cannot be written; ask for write permission, or name another with --db or EMP_DB",
			path);
	if (faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0)
		return error_os(err, -errno,
			"the directory '%s' of the lab book '%s' cannot be written, and SQLite keeps the book's log there; ask for write permission, or name another file with --db or EMP_DB",
			directory, path);
	r = there ? 0 : book_make_file(path, err);
	/* again: somebody else may just have made what was missing */
	return r < 0 ? r : check_paths(book, err);
}

/* The schema and its versions. The application id of a file proves nothing: another user may have
 * made it, with a view in place of a table. So all tables are compared with those that the steps in
 * schema/ make in memory. */

/* The SQL that makes version 1 of an empty file, and each later one of the version before. */
static const char *const schema_steps[] = {
#include "lib/book/schema.h"
};
enum { NEWEST_VERSION = ELEMENTS(schema_steps) };

const uint32_t book_schema_newest_version = NEWEST_VERSION;
/* A new step changes it: tests/unit/test_book_schema.c says to what. Until then, opening a book
 * only takes longer. */
const char *const book_schema_newest_digest =
	"dd78eb1ceaeb1878149647229a326b80d1e4996856cc44ee46b5fe59d86c4f02";

/* The version of the file, 0 for an empty one, once it is known to be a lab book. */
static int schema_version(struct book *book, struct error *err)
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
			"'%s' is the database of another program; name another file with --db or EMP_DB",
			book->path);
	if (version < 0)
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged: it says that it is of version %d; restore an intact copy",
			book->path, (int)version);
	if (version > NEWEST_VERSION)
		return error_say(err, -EPROTONOSUPPORT,
			"the lab book '%s' was written by a newer EMP (version %d of the book, this one reads "
			"%d); "
			"use that version, or name another file with --db or EMP_DB",
			book->path, (int)version, NEWEST_VERSION);
	return (int)version;
}

/* The tables, views, indexes and triggers, each with a line that describes it: its SQL without
 * blanks, and without quotes around names, which depend on the version of SQLite that changed a
 * table. Statistics (ANALYZE) change no result. */
#define OBJECTS                                                                                        \
	"SELECT type, name, type || ' ' || name || ' ' || tbl_name || ' ' || replace(replace(replace(" \
	" ifnull(sql, ''), ' ', ''), char(10), ''), '\"', '') || char(10) AS line FROM sqlite_schema"  \
	" WHERE type <> 'table' OR name NOT IN ('sqlite_stat1', 'sqlite_stat4') ORDER BY name, type"

enum { OBJECT_TYPE, OBJECT_NAME, OBJECT_LINE };

static const char *object_text(sqlite3_stmt *object, int column)
{
	return (const char *)sqlite3_column_text(object, column) ?: "";
}

int book_schema_digest(sqlite3 *db, char ret[DIGEST_SIZE])
{
	sqlite3_stmt *all = NULL;
	int rc = sqlite3_prepare_v2(
		db, "SELECT group_concat(line, '') FROM (" OBJECTS ")", -1, &all, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(all);
	if (rc == SQLITE_ROW)
		digest_of(object_text(all, 0), (size_t)sqlite3_column_bytes(all, 0), ret);
	sqlite3_finalize(all);
	return rc == SQLITE_ROW ? 0 : -EIO;
}

/* -EBADMSG, naming the first table, view, index or trigger that is not as that version has it. */
static int check_schema(struct book *book, int version, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	sqlite3 *model = NULL;
	sqlite3_stmt *its = NULL, *ours = NULL;
	int rc, its_rc, ours_rc, order, r;

	if (book_schema_digest(book->db, digest) == 0 && !strcmp(digest, book_schema_newest_digest))
		return 0;
	rc = sqlite3_open(":memory:", &model);
	for (int i = 0; rc == SQLITE_OK && i < version; i++)
		rc = sqlite3_exec(model, schema_steps[i], NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(model, OBJECTS, -1, &ours, NULL);
	if (rc != SQLITE_OK) /* nothing else can fail in memory */
		xalloc_fail();
	its_rc = sqlite3_prepare_v2(book->db, OBJECTS, -1, &its, NULL);
	do { /* up to the first difference */
		its_rc = its_rc == SQLITE_OK || its_rc == SQLITE_ROW ? sqlite3_step(its) : its_rc;
		ours_rc = sqlite3_step(ours);
	} while (its_rc == SQLITE_ROW && ours_rc == SQLITE_ROW &&
		 !strcmp(object_text(its, OBJECT_LINE), object_text(ours, OBJECT_LINE)));
	order = its_rc == SQLITE_ROW ? -1 : 1;
	if (its_rc == SQLITE_ROW && ours_rc == SQLITE_ROW)
		order = strcmp(object_text(its, OBJECT_NAME), object_text(ours, OBJECT_NAME))
				?: strcmp(object_text(its, OBJECT_TYPE),
					   object_text(ours, OBJECT_TYPE));
	if (its_rc != SQLITE_ROW && its_rc != SQLITE_DONE)
		r = book_failed(book, its_rc, err);
	else if (its_rc == SQLITE_DONE && ours_rc == SQLITE_DONE)
		r = 0;
	else if (order < 0)
		r = error_say(err, -EBADMSG,
			"the lab book '%s' has the %s '%s', which EMP does not make; remove it with sqlite3, or restore an intact copy",
			book->path, object_text(its, OBJECT_TYPE), object_text(its, OBJECT_NAME));
	else if (order > 0)
		r = error_say(err, -EBADMSG,
			"the lab book '%s' lacks its %s '%s'; restore an intact copy", book->path,
			object_text(ours, OBJECT_TYPE), object_text(ours, OBJECT_NAME));
	else
		r = error_say(err, -EBADMSG,
			"the lab book '%s' has a %s '%s' that differs from the one that EMP makes; restore an intact copy",
			book->path, object_text(its, OBJECT_TYPE), object_text(its, OBJECT_NAME));
	sqlite3_finalize(its);
	sqlite3_finalize(ours);
	sqlite3_close(model);
	return r;
}

/* The whole of a database into an empty one. An SQLite result code. */
static int copy_database(sqlite3 *from, sqlite3 *to)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

	if (!backup)
		return sqlite3_errcode(to);
	sqlite3_backup_step(backup, -1);
	return sqlite3_backup_finish(backup);
}

char *book_free_name(const char *beginning)
{
	char *name = xstrdup(beginning);
	struct stat st;

	for (int i = 2; lstat(name, &st) == 0; i++) {
		free(name);
		name = text_format("%s-%d", beginning, i);
	}
	return name;
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
			rc = copy_database(from, to);
		sqlite3_close(from);
		sqlite3_close(to);
	}
	if (rc != SQLITE_OK || rename(fresh, name) < 0) {
		unlink(fresh);
		return error_say(err, -EIO,
			"the lab book '%s' was written by an older EMP, and must be copied before it is upgraded: %s; nothing was changed",
			book->path, rc == SQLITE_OK ? strerror(errno) : sqlite3_errstr(rc));
	}
	*ret_copy = TAKE(name);
	return 0;
}

/* In a transaction. *ret_copy: of the old file; NULL: there is none. *ret_pending: of the samples
 * that wait to be stored in the old file, locked; -1: there are none. */
static int take_steps(struct book *book, char **ret_copy, int *ret_pending, struct error *err)
{
	int version = schema_version(book, err); /* again: another program may just have done it */
	int r = version > 0 ? check_schema(book, version, err) : version;

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

/* Upgrades the file to the newest version, and keeps a copy of the old one beside it, which a
 * notice names; an empty file becomes a book. A reader's copy is upgraded without that. Foreign
 * keys are off, because dropping a table to replace it would delete the rows that refer to it.
 * SQLite does not change that inside a transaction. */
static int upgrade_schema(struct book *book, struct error *err)
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
			"the lab book '%s' is upgraded; older versions of EMP can read its copy '%s'",
			book->path, copy);
	if (r == 0 && pending >= 0)
		pending_put_aside(book, copy);
	return r;
}

/* The file may come from another user: its schema must not run our functions, or anything of its
 * own. */
static void configure_connection(struct book *book)
{
	sqlite3_extended_result_codes(book->db, 1);
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	book_patience(book, book->patience_ms);
}

static int open_database(struct book *book, bool immutable, struct error *err)
{
	_cleanup_(freep) char *uri = xmalloc(3 * strlen(book->path) + 32);
	int rc, flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
	char *to = stpcpy(uri, *book->path == '/' ? "file://" : "file:./");

	/* a URI, because only there is "immutable", and ":memory:" is an ordinary name */
	for (const char *c = book->path; *c; c++)
		to += sprintf(to, strchr("%?#", *c) ? "%%%02X" : "%c", (unsigned char)*c);
	strcpy(to, immutable ? "?immutable=1" : "");
	/* A reader that may write does not (query_only), but it removes the log if it is the last
	 * to close the book; where it may not, SQLite opens the file to be read. */
	flags |= book->mode == BOOK_WRITE ? SQLITE_OPEN_CREATE : 0;
	rc = sqlite3_open_v2(uri, &book->db, flags, NULL);
	if (rc != SQLITE_OK)
		return book_failed(book, rc, err);
	configure_connection(book);
	/* The log of another program must not be moved into its file: until it is known to be a lab
	 * book. */
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return schema_version(book, err); /* before anything is changed */
}

/* Makes the settings that SQLite does not keep in the file. When several processes make a new book
 * at once, SQLite does not wait for the change of its journal in all of them: in some it reports at
 * once that the book is busy. */
static int configure(struct book *book, struct error *err)
{
	enum { PAUSE_US = 5000 };
	const char *settings = book->mode == BOOK_READ
				       ? "PRAGMA cell_size_check = ON; PRAGMA query_only = ON"
				       : "PRAGMA cell_size_check = ON;"
					 "PRAGMA journal_mode = WAL;"
					 "PRAGMA wal_autocheckpoint = 0;"
					 "PRAGMA synchronous = FULL;"
					 "PRAGMA foreign_keys = ON";
	int64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + book->patience_ms * NS_PER_MS;
	int rc;

	book->ours = true;
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	while (((rc = sqlite3_exec(book->db, settings, NULL, NULL, NULL)) & 0xff) == SQLITE_BUSY &&
		clock_ns(CLOCK_MONOTONIC) < give_up_ns)
		usleep(PAUSE_US);
	return rc == SQLITE_OK ? book_walk_register(book, err) : book_failed(book, rc, err);
}

static int check_version(struct book *book, struct error *err)
{
	int version = schema_version(book, err), rc, r;
	sqlite3 *copy = NULL;

	if (version < 0)
		return version;
	if (version == NEWEST_VERSION) {
		_cleanup_(freep) char *path = text_format("%s-pending", book->file);
		_cleanup_(book_freep) struct book *writer = NULL;
		_cleanup_(closep) int fd = -1;

		r = BOOK_AT_ONCE(book, check_schema(book, version, err), err);
		if (r != 0)
			return r;
		if (book->mode == BOOK_WRITE)
			return pending_recover(book, err);
		/* What a writer left that was killed. It is no failure that this process may not
		 * write to the book. */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
			closep(&fd);
			book_open(&writer, book->path, BOOK_WRITE, NULL);
		}
		return 0;
	}
	if (book->mode == BOOK_WRITE)
		return upgrade_schema(book, err);
	if (version == 0)
		return error_say(err, -ENOENT,
			"the lab book '%s' is empty; emp-calibrate, emp-measure or emp-analyze import writes to it, and --db FILE or EMP_DB names another",
			book->path);
	/* A reader leaves an older file as it is, and upgrades a copy that SQLite keeps in memory
	 * or in a file without a name. */
	rc = sqlite3_open("", &copy);
	if (rc == SQLITE_OK)
		rc = copy_database(book->db, copy);
	if (rc != SQLITE_OK) {
		r = book_failed(book, rc, err);
		sqlite3_close(copy);
		return r;
	}
	book_disconnect(book);
	book->db = copy;
	configure_connection(book);
	r = upgrade_schema(book, err);
	return r < 0 ? r : configure(book, err);
}

/* Opens book->path in the mode of the handle, which has no file. */
static int book_connect(struct book *book, struct error *err)
{
	_cleanup_(freep) char *directory = NULL;
	bool reader = book->mode == BOOK_READ;
	int r = check_file(book, err);

	if (r < 0)
		return r;
	directory = book_directory(book->file);
	/* Even reading needs another file, the index of the log. As long as the log is empty, the
	 * book can be read without it, as "immutable": in a directory that is not writable, or on a
	 * disk that is full. */
	reader &= file_size(book->file, "-wal") == 0;
	r = open_database(
		book, reader && faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0, err);
	if (r == -ENOSPC && reader) {
		book_disconnect(book);
		r = open_database(book, true, err);
	}
	if (r >= 0)
		r = configure(book, err);
	return r < 0 ? r : check_version(book, err);
}

/* For a file that is not open yet. */
static struct book *book_new(const char *path, enum book_mode mode)
{
	struct book *book = xcalloc(1, sizeof(*book));

	book->path = xstrdup(path);
	book->file = xstrdup(path);
	book->mode = mode == BOOK_MEASURE ? BOOK_WRITE : mode;
	book->may_leave = mode == BOOK_MEASURE;
	book->patience_ms = PATIENCE_MS;
	book->pending.fd = -1;
	return book;
}

/* Going on in a copy when the file of the book cannot be written any more, because its file system
 * is full or fails: a measurement ends with its figures, and they can be saved. The copy is a whole
 * book, in a folder of its own on another file system, and is kept. */

/* Once only. `e`: why the file cannot be written. The copy is open then, and has the samples that
 * waited beside the file. */
static bool go_elsewhere(struct book *book, int e)
{
	enum { SPARE_BYTES = 16 << 20 };
	const char *const places[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm"};
	off_t size = file_size(book->file, "") + file_size(book->file, "-wal") + SPARE_BYTES;
	_cleanup_(freep) char *folder = NULL, *path = NULL;
	_cleanup_(book_freep) struct book *copy = NULL;
	struct stat here = {}, there;
	struct statvfs fs;
	sqlite3 *to = NULL;
	bool is_there;
	int rc;

	book->may_leave = false;
	/* A new folder that only this user can read, "…/emp-book-XXXXXX", where a copy of the book
	 * can grow. */
	is_there = stat(book->path, &here) == 0;
	for (size_t i = 0; !folder && i < ELEMENTS(places); i++) {
		if (!places[i] || *places[i] != '/' || stat(places[i], &there) < 0 ||
			statvfs(places[i], &fs) < 0 || (is_there && here.st_dev == there.st_dev) ||
			(off_t)(fs.f_bavail * fs.f_frsize) < size)
			continue;
		folder = text_format("%s/emp-book-XXXXXX", places[i]);
		if (!mkdtemp(folder))
			free(TAKE(folder));
	}
	if (!folder)
		return false;
	path = text_format("%s/book.db", folder);
	rc = book_make_file(path, NULL) < 0 ? SQLITE_CANTOPEN : sqlite3_open(path, &to);
	if (rc == SQLITE_OK && book->db)
		rc = copy_database(book->db, to);
	sqlite3_close(to);
	copy = book_new(path, BOOK_WRITE);
	if (rc == SQLITE_OK && book_connect(copy, NULL) < 0)
		rc = SQLITE_CANTOPEN;
	if (rc == SQLITE_OK) {
		copy->pending = book->pending;
		book->pending = (struct pending){.fd = -1};
		rc = pending_end(copy, book->file, NULL) < 0 ? SQLITE_CANTOPEN : SQLITE_OK;
	}
	if (rc != SQLITE_OK) { /* then the old file stays in use */
		book_free(TAKE(copy));
		unlink(path);
		rmdir(folder);
		return false;
	}
	book_disconnect(book);
	book->left = book->path;
	book->path = TAKE(path);
	free(book->file);
	book->file = TAKE(copy->file);
	book->mode = BOOK_WRITE;
	book->ours = true;
	book->db = TAKE(copy->db);
	book->n_statements = copy->n_statements;
	memcpy(book->statements, copy->statements, sizeof(book->statements));
	copy->n_statements = 0;
	copy->ours = false;
	book_patience(book, book->patience_ms); /* these call back with the handle */
	book_walk_register(book, NULL);
	terminal_remark(
		"the lab book '%s' cannot be written (%s); the measurement goes on in %s, '%s'",
		book->left, strerror(e), is_there ? "a copy of it" : "a new one", book->path);
	return true;
}

/* Whether the user's own book cannot be made: HOME is read-only, or is not theirs. No file was
 * named, so there is none to wait for. */
static bool cannot_be_made(const char *path, int r)
{
	_cleanup_(freep) char *by_default = NULL;

	return (r == -EROFS || r == -EACCES || r == -EPERM) && access(path, F_OK) < 0 &&
	       paths_default_book(&by_default, NULL) == 0 && !strcmp(path, by_default);
}

/* That the runs stay where they are is no failure then. */
static void say_how_to_keep(struct book *book)
{
	terminal_remark("to keep the runs in another lab book, name it with --db FILE or EMP_DB");
	free(TAKE(book->left));
}

bool book_again(struct book *book, int r, struct error *err)
{
	if (r >= 0 || !book->may_leave || r != -book->unwritable ||
		!sqlite3_get_autocommit(book->db))
		return false;
	for (sqlite3_stmt *s = sqlite3_next_stmt(book->db, NULL); s;
		s = sqlite3_next_stmt(book->db, s))
		if (sqlite3_stmt_busy(s))
			return false;
	if (!go_elsewhere(book, -r))
		return false;
	if (err)
		*err = (struct error){};
	return true;
}

int book_open(struct book **ret, const char *name, enum book_mode mode, struct error *err)
{
	enum { ATTEMPTS = 10, PAUSE_US = 20000 };
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *path = NULL;
	struct error seen = {};
	bool is_new;
	int r = paths_book(name, &path, err);

	if (r < 0)
		return r;
	/* The last process that closes the book removes its log; another that opens it then may
	 * find the file without it. */
	for (int i = 0; i == 0 || (r == -ENOENT && i <= ATTEMPTS && !access(path, F_OK)); i++) {
		if (i > 0)
			usleep(PAUSE_US);
		book_free(TAKE(book));
		book = book_new(path, mode);
		r = book_connect(book, &seen);
	}
	is_new = cannot_be_made(path, r);
	if (mode == BOOK_MEASURE && (is_new || r == -ENOSPC || r == -EDQUOT || r == -EIO)) {
		/* A book of which there is something is copied if it can be read. */
		int e = -r;

		book_free(TAKE(book));
		r = book_open(&book, path, BOOK_READ, NULL);
		if (r == -ENOENT) { /* or it is empty */
			book = book_new(path, BOOK_READ);
			r = 0;
		}
		if (r < 0 || !go_elsewhere(book, e))
			r = -e;
		else if (is_new)
			say_how_to_keep(book);
	}
	if (r < 0)
		return error_say(err, r, "%s", seen.text);
	*ret = TAKE(book);
	return 0;
}

int book_say_elsewhere(
	const struct book *book, int64_t first, int64_t last, int r, struct error *err)
{
	struct error before = *err;
	char runs[64];

	if (!book->left || first <= 0)
		return r;
	snprintf(runs, sizeof(runs),
		first == last ? "run %" PRId64 : "runs %" PRId64 " to %" PRId64, first, last);
	r = error_say(err, r ?: -ENOSPC,
		"%s%s%s %s stored in '%s' only; when '%s' can be written again: emp-analyze --db '%s' export %s | emp-analyze --db '%s' import -",
		r ? before.text : "", r && *before.text ? "; " : "", runs,
		first == last ? "is" : "are", book->path, book->left, book->path,
		first == last ? runs + 4 : "RUN", book->left);
	memcpy(err->lines, before.lines, sizeof(err->lines));
	return r;
}
