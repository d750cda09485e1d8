/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing the book: see book_open.h. */
#include "lib/book/book_open.h"

#include "lib/base/terminal.h"
#include "lib/book/book_failure.h"
#include "lib/book/book_internal.h"
#include "lib/book/book_paths.h"
#include "lib/book/book_pending.h"
#include "lib/book/book_samples.h"
#include "lib/book/book_schema.h"
#include "lib/book/book_sources.h"
#include "lib/book/book_transaction.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { PATIENCE_MS = 10000 };

const char *book_file(const struct book *book)
{
	return book->path;
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
	return book_schema_version(book, err); /* before anything is changed */
}

/* Makes the settings that SQLite does not keep in the file. When several processes make a new book
 * at once, SQLite does not wait for the change of its journal in all of them: in some it reports at
 * once that the book is busy. */
static int configure(struct book *book, struct error *err)
{
	enum { PAUSE_US = 5000 };
	static const char to_read[] = "PRAGMA cell_size_check = ON; PRAGMA query_only = ON";
	static const char to_write[] = "PRAGMA cell_size_check = ON;"
				       "PRAGMA journal_mode = WAL;"
				       "PRAGMA wal_autocheckpoint = 0;"
				       "PRAGMA synchronous = FULL;"
				       "PRAGMA foreign_keys = ON";
	const char *settings = book->mode == BOOK_READ ? to_read : to_write;
	int64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + book->patience_ms * NS_PER_MS;
	int rc;

	book->ours = true;
	sqlite3_db_config(book->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	while (((rc = sqlite3_exec(book->db, settings, NULL, NULL, NULL)) & 0xff) == SQLITE_BUSY &&
		clock_ns(CLOCK_MONOTONIC) < give_up_ns)
		usleep(PAUSE_US);
	return rc == SQLITE_OK ? book_walk_register(book, err) : book_failed(book, rc, err);
}

/* Stores the samples that a writer left that was killed. It is no failure that this process, a
 * reader, may not write to the book. */
static void recover_as_reader(const struct book *book)
{
	_cleanup_(freep) char *path = text_format("%s-pending", book->file);
	_cleanup_(book_freep) struct book *writer = NULL;
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	closep(&fd);
	book_open(&writer, book->path, BOOK_WRITE, NULL);
}

/* A reader leaves an older file as it is, and upgrades a copy that SQLite keeps in memory or in a
 * file without a name. */
static int upgrade_for_reader(struct book *book, struct error *err)
{
	sqlite3 *copy = NULL;
	int rc = sqlite3_open("", &copy), r;

	if (rc == SQLITE_OK)
		rc = book_copy_database(book->db, copy);
	if (rc != SQLITE_OK) {
		r = book_failed(book, rc, err);
		sqlite3_close(copy);
		return r;
	}
	book_disconnect(book);
	book->db = copy;
	configure_connection(book);
	r = book_schema_upgrade(book, err);
	return r < 0 ? r : configure(book, err);
}

static int check_version(struct book *book, struct error *err)
{
	int version = book_schema_version(book, err), r;

	if (version < 0)
		return version;
	if (version == (int)book_schema_newest_version) {
		r = BOOK_AT_ONCE_RETRIED(book, book_schema_check(book, version, err), err);
		if (r != 0)
			return r;
		if (book->mode == BOOK_WRITE)
			return pending_recover(book, err);
		recover_as_reader(book);
		return 0;
	}
	if (book->mode == BOOK_WRITE)
		return book_schema_upgrade(book, err);
	if (version == 0)
		return error_say(err, -ENOENT,
			"the lab book '%s' is empty; emp-calibrate, emp-measure or emp-analyze "
			"import writes to it, and --db FILE or EMP_DB names another",
			book->path);
	return upgrade_for_reader(book, err);
}

/* Opens book->path in the mode of the handle, which has no file. */
static int book_connect(struct book *book, struct error *err)
{
	_cleanup_(freep) char *directory = NULL;
	bool reader = book->mode == BOOK_READ;
	int r = book_check_file(book, err);

	if (r < 0)
		return r;
	directory = book_directory(book->file);
	/* Even reading needs another file, the index of the log. As long as the log is empty, the
	 * book can be read without it, as "immutable": in a directory that is not writable, or on a
	 * disk that is full. */
	reader &= book_file_size(book->file, "-wal") == 0;
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

/* Makes a folder that only this user can read, "…/emp-book-XXXXXX", on a file system with room for
 * `size` bytes that is not the book's. NULL: there is none. */
static char *make_folder_elsewhere(const struct book *book, off_t size)
{
	const char *const places[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm"};
	struct stat here, there;
	struct statvfs fs;
	bool is_there = stat(book->path, &here) == 0;

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		_cleanup_(freep) char *folder = NULL;

		if (!places[i] || *places[i] != '/' || stat(places[i], &there) < 0 ||
			statvfs(places[i], &fs) < 0)
			continue;
		if (is_there && here.st_dev == there.st_dev)
			continue;
		if ((off_t)(fs.f_bavail * fs.f_frsize) < size)
			continue;
		folder = text_format("%s/emp-book-XXXXXX", places[i]);
		if (mkdtemp(folder))
			return TAKE(folder);
	}
	return NULL;
}

/* Copies the book to `path`, and moves the samples there that wait beside its file. NULL: that is
 * not possible, and the old file stays in use. */
static struct book *copy_elsewhere(struct book *book, const char *path)
{
	_cleanup_(book_freep) struct book *copy = NULL;
	sqlite3 *to = NULL;
	int rc = book_make_file(path, NULL) < 0 ? SQLITE_CANTOPEN : sqlite3_open(path, &to);

	if (rc == SQLITE_OK && book->db)
		rc = book_copy_database(book->db, to);
	sqlite3_close(to);
	if (rc != SQLITE_OK)
		return NULL;
	copy = book_new(path, BOOK_WRITE);
	if (book_connect(copy, NULL) < 0)
		return NULL;
	copy->pending = book->pending;
	book->pending = (struct pending){.fd = -1};
	return pending_end(copy, book->file, NULL) < 0 ? NULL : TAKE(copy);
}

/* Once only. `e`: why the file cannot be written. True: the book is the copy now. */
static bool go_elsewhere(struct book *book, int e)
{
	enum { SPARE_BYTES = 16 << 20 };
	off_t size = book_file_size(book->file, "") + book_file_size(book->file, "-wal") +
		     SPARE_BYTES;
	_cleanup_(freep) char *folder = make_folder_elsewhere(book, size), *path = NULL;
	_cleanup_(book_freep) struct book *copy = NULL;
	bool is_there = access(book->path, F_OK) == 0;

	book->may_leave = false;
	if (!folder)
		return false;
	path = text_format("%s/book.db", folder);
	copy = copy_elsewhere(book, path);
	if (!copy) {
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
	book->statements = TAKE_STRUCT(copy->statements);
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
		"%s%s%s %s stored in '%s' only; when '%s' can be written again: emp-analyze --db "
		"'%s' export %s | emp-analyze --db '%s' import -",
		r ? before.text : "", r && *before.text ? "; " : "", runs,
		first == last ? "is" : "are", book->path, book->left, book->path,
		first == last ? runs + 4 : "RUN", book->left);
	memcpy(err->lines, before.lines, sizeof(err->lines));
	return r;
}

void book_disconnect(struct book *book)
{
	statements_free(&book->statements);
	sqlite3_close(book->db);
	book->db = NULL;
	book->ours = false;
}

void book_free(struct book *book)
{
	if (!book)
		return;
	if (book->ours && book->mode == BOOK_WRITE) {
		book_rollback(book);
		pending_end(book, book->file, NULL);
		book_checkpoint(book, NULL);
	}
	closep(&book->pending.fd);
	book_disconnect(book);
	book_forget_sources(book);
	free(book->path);
	free(book->file);
	free(book->left);
	free(book);
}
