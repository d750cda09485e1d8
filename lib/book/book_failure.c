/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences of failures: see book_failure.h. */
#include "lib/book/book_failure.h"

#include "lib/book/book_internal.h"

/* Whether the file could not be written. */
static bool is_unwritable(int rc, bool no_space)
{
	static const int writing[] = {SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC,
		SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_SHMSIZE};

	for (size_t i = 0; i < ELEMENTS(writing); i++)
		if (rc == writing[i])
			return true;
	return (rc & 0xff) == SQLITE_FULL || no_space;
}

static int say_full(const struct book *book, bool quota, struct error *err)
{
	return error_say(err, quota ? -EDQUOT : -ENOSPC,
		"the lab book '%s' cannot grow: %s; what it has is safe; free some space and "
		"continue",
		book->path,
		quota ? "your quota of disk space is used up" : "its file system is full");
}

static int say_readonly(const struct book *book, int rc, struct error *err)
{
	if (rc == SQLITE_READONLY_DBMOVED)
		return error_say(err, -ESTALE,
			"the lab book '%s' was moved or removed while it was open; put it back, or "
			"start a new one",
			book->path);
	return error_say(err, -EROFS,
		"the lab book '%s' cannot be written; ask for write permission, or name another "
		"with --db or EMP_DB",
		book->path);
}

/* `e`: the errno of the failure; 0: there is none. */
static int say_cannot_open(const struct book *book, int e, struct error *err)
{
	if (e != 0 && e != ENOENT)
		return error_os(err, -e, "cannot open the lab book '%s'", book->path);
	return error_say(err, -EACCES,
		"the lab book '%s' cannot be opened: a user who may write its directory must read "
		"in its log '%s-wal' first, for example with: sqlite3 '%s' .schema",
		book->path, book->path, book->path);
}

/* The file, the cause, the way out. `kind`: of the failure, without what SQLite adds to it. */
static int say_failure(const struct book *book, int rc, int kind, int e, struct error *err)
{
	switch (kind) {
	case SQLITE_FULL:
		return say_full(book, (rc & 0xff) == SQLITE_IOERR && e == EDQUOT, err);
	case SQLITE_READONLY:
		return say_readonly(book, rc, err);
	case SQLITE_CANTOPEN:
		return say_cannot_open(book, e, err);

	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return error_say(err, -EBUSY,
			"the lab book '%s' is being written by another program, and still was "
			"after %g s; try again when that has ended",
			book->path, book->patience_ms / 1e3);
	case SQLITE_CORRUPT:
		return error_say(err, -EBADMSG,
			"the lab book '%s' is damaged (%s); restore an intact copy, or save the "
			"runs that can still be read with: emp-analyze --db '%s' export RUN",
			book->path, sqlite3_errmsg(book->db), book->path);
	case SQLITE_NOTADB:
		return error_say(err, -EINVAL,
			"'%s' is not a lab book: it is not an SQLite database; name another file "
			"with --db or EMP_DB",
			book->path);

	case SQLITE_NOMEM:
	case SQLITE_IOERR:
		if (kind == SQLITE_NOMEM)
			e = ENOMEM;
		return error_os(
			err, -(e ?: EIO), "cannot read or write the lab book '%s'", book->path);
	default:
		return error_say(err, -EIO, "the lab book '%s' failed: %s", book->path,
			sqlite3_errmsg(book->db));
	}
}

int book_failed(struct book *book, int rc, struct error *err)
{
	int e = sqlite3_system_errno(book->db), kind = rc & 0xff, r;
	bool no_space = e == ENOSPC || e == EDQUOT;

	if (kind == SQLITE_IOERR && no_space)
		kind = SQLITE_FULL;
	r = say_failure(book, rc, kind, e, err);
	book->failure = rc;
	book->unwritable = is_unwritable(rc, no_space) ? -r : 0;
	return r;
}
