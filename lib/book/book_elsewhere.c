/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Going on in a copy when the file of the book cannot be written any more, because its file system is full or fails: a
 * measurement ends with its figures, and they can be saved. The copy is a whole book, in a folder of its own on another
 * file system, and is kept. */
#include "lib/book/book_internal.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static off_t file_size(const char *path, const char *suffix)
{
	_cleanup_(freep) char *name = text_format("%s%s", path, suffix);
	struct stat st;

	return stat(name, &st) == 0 ? st.st_size : 0;
}

/* Whether a copy of the book can grow there. */
static bool copy_has_room(const char *folder, const char *book)
{
	enum { SPARE_BYTES = 16 << 20 };
	struct stat here = {}, there;
	struct statvfs fs;

	if (stat(folder, &there) < 0 || statvfs(folder, &fs) < 0)
		return false;
	if (stat(book, &here) == 0 && here.st_dev == there.st_dev)
		return false;
	return (off_t)(fs.f_bavail * fs.f_frsize) >=
	       file_size(book, "") + file_size(book, "-wal") + SPARE_BYTES;
}

/* A new folder that only this user can read, "…/emp-book-XXXXXX". */
static char *make_copy_folder(const char *book)
{
	const char *const places[] = {secure_getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm"};

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		_cleanup_(freep) char *folder = NULL;

		if (!places[i] || *places[i] != '/' || !copy_has_room(places[i], book))
			continue;
		folder = text_format("%s/emp-book-XXXXXX", places[i]);
		if (mkdtemp(folder))
			return TAKE(folder);
	}
	return NULL;
}

/* The copy is open then, and has the samples that waited beside the file. */
static int move_to(struct book *book, const char *path)
{
	struct pending pending = book->pending;
	struct error ignored;
	sqlite3 *to = NULL;
	int rc = book_make_file(path, &ignored) < 0 ? SQLITE_CANTOPEN : sqlite3_open(path, &to);

	if (rc == SQLITE_OK && book->db)
		rc = book_copy_to(book->db, to);
	sqlite3_close(to);
	if (rc != SQLITE_OK)
		return -EIO;
	book_disconnect(book);
	book->left = book->path;
	book->path = xstrdup(path);
	book->mode = BOOK_WRITE;
	book->pending = (struct pending){.fd = -1};
	return book_connect(book, &ignored) ?: pending_move(book, &pending, book->left, &ignored);
}

/* Once only. `e`: why the file cannot be written. */
static bool go_elsewhere(struct book *book, int e)
{
	_cleanup_(freep) char *folder = make_copy_folder(book->path), *path = NULL, *notice = NULL;

	book->may_leave = false;
	if (!folder)
		return false;
	path = text_format("%s/book.db", folder);
	if (move_to(book, path) < 0) {
		unlink(path);
		rmdir(folder);
		return false;
	}
	notice = text_format(
		"the lab book '%s' cannot be written (%s); the measurement goes on in a copy of it, '%s'",
		book->left, strerror(e), book->path);
	tool_notice(notice);
	return true;
}

/* Whether a statement or a transaction is open. */
static bool book_is_busy(const struct book *book)
{
	for (sqlite3_stmt *s = sqlite3_next_stmt(book->db, NULL); s; s = sqlite3_next_stmt(book->db, s))
		if (sqlite3_stmt_busy(s))
			return true;
	return !sqlite3_get_autocommit(book->db);
}

bool book_again(struct book *book, int r, struct error *err)
{
	if (r >= 0 || !book->may_leave || r != -book->unwritable || book_is_busy(book) ||
		!go_elsewhere(book, -r))
		return false;
	*err = (struct error){};
	return true;
}

/* A book of which there is something is copied if it can be read. */
int book_open_elsewhere(struct book **ret, const char *path, int e, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	struct error ignored;
	int r = book_open(&book, path, BOOK_READ, &ignored);

	if (r == -ENOENT) { /* or it is empty */
		book = xcalloc(1, sizeof(*book));
		book->path = xstrdup(path);
		book->pending.fd = -1;
	} else if (r < 0)
		return -e;
	if (!go_elsewhere(book, e))
		return -e;
	*ret = TAKE(book);
	return 0;
}

int book_say_elsewhere(const struct book *book, int64_t first, int64_t last, int r, struct error *err)
{
	struct error before = *err;
	char runs[64];

	if (!book->left || first <= 0)
		return r;
	snprintf(runs, sizeof(runs), first == last ? "run %" PRId64 : "runs %" PRId64 " to %" PRId64, first,
		last);
	r = error_say(err, r ?: -ENOSPC,
		"%s%s%s %s stored in '%s' only; when '%s' can be written again: emp-analyze --db '%s' export %s | emp-analyze --db '%s' import -",
		r ? before.text : "", r && *before.text ? "; " : "", runs, first == last ? "is" : "are",
		book->path, book->left, book->path, first == last ? runs + 4 : "RUN", book->left);
	memcpy(err->lines, before.lines, sizeof(err->lines));
	return r;
}
