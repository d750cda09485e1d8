/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The message for each failure that SQLite reports: the file, the cause, the way out. */
#include "lib/book/book_internal.h"

#include "lib/base/cleanup.h"

#include <errno.h>

int book_foreign(const char *path, struct error *err)
{
	return error_say(err, -EINVAL,
		"'%s' is the database of another program; name another file with --db or EMP_DB", path);
}

static int no_space(struct book *book, int e, struct error *err)
{
	return error_say(err, -e,
		"the lab book '%s' cannot grow: %s; what it has is safe; free some space and continue",
		book->path, e == EDQUOT ? "your quota of disk space is used up" : "its file system is full");
}

static int locked(struct book *book, struct error *err)
{
	return error_say(err, -EBUSY,
		"the lab book '%s' is being written by another program, and still was after %g s; try again when that has ended",
		book->path, book->patience_ms / 1e3);
}

static int damaged(struct book *book, struct error *err)
{
	return error_say(err, -EBADMSG,
		"the lab book '%s' is damaged (%s); restore an intact copy, or save the runs that can still be read with: emp-analyze --db '%s' export RUN",
		book->path, sqlite3_errmsg(book->db), book->path);
}

static int not_writable(struct book *book, int rc, struct error *err)
{
	if (rc == SQLITE_READONLY_DBMOVED)
		return error_say(err, -ESTALE,
			"the lab book '%s' was moved or removed while it was open; put it back, or start a new one",
			book->path);
	return error_say(err, -EROFS,
		"the lab book '%s' cannot be written; ask for write permission, or name another with --db or EMP_DB",
		book->path);
}

static int not_opened(struct book *book, int e, struct error *err)
{
	if (e == 0 || e == ENOENT)
		return error_say(err, -EACCES,
			"the lab book '%s' cannot be opened: a user who may write its directory must read in its log '%s-wal' first, for example with: sqlite3 '%s' .schema",
			book->path, book->path, book->path);
	return error_os(err, -e, "cannot open the lab book '%s'", book->path);
}

/* Whether it was the file that could not be written, rather than read. */
static bool is_unwritable(int rc, int e)
{
	static const int codes[] = {SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_TRUNCATE,
		SQLITE_IOERR_SHMSIZE};
	bool found = (rc & 0xff) == SQLITE_FULL || e == ENOSPC || e == EDQUOT;

	for (size_t i = 0; i < ELEMENTS(codes); i++)
		found |= rc == codes[i];
	return found;
}

static int say_failed(struct book *book, int rc, int e, struct error *err)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
		return no_space(book, ENOSPC, err);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return locked(book, err);
	case SQLITE_CORRUPT:
		return damaged(book, err);
	case SQLITE_NOTADB:
		return error_say(err, -EINVAL,
			"'%s' is not a lab book: it is not an SQLite database; name another file with --db or EMP_DB",
			book->path);
	case SQLITE_READONLY:
		return not_writable(book, rc, err);
	case SQLITE_CANTOPEN:
		return not_opened(book, e, err);
	case SQLITE_NOMEM:
		return error_os(err, -ENOMEM, "cannot read or write the lab book '%s'", book->path);
	case SQLITE_IOERR:
		if (e == ENOSPC || e == EDQUOT)
			return no_space(book, e, err);
		return error_os(err, -(e ?: EIO), "cannot read or write the lab book '%s'", book->path);
	default:
		return error_say(
			err, -EIO, "the lab book '%s' failed: %s", book->path, sqlite3_errmsg(book->db));
	}
}

int book_failed(struct book *book, int rc, struct error *err)
{
	int e = sqlite3_system_errno(book->db), r = say_failed(book, rc, e, err);

	book->unwritable = is_unwritable(rc, e) ? -r : 0;
	return r;
}
