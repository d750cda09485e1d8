/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences of failures: see book_failure.h. */
#include "lib/book/book_failure.h"

#include "lib/book/book_internal.h"

/* The file, the cause, the way out. */
int book_failed(struct book *book, int rc, struct error *err)
{
	static const int writing[] = {SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC,
		SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_SHMSIZE};
	int e = sqlite3_system_errno(book->db), kind = rc & 0xff, r;
	bool no_space = e == ENOSPC || e == EDQUOT, unwritable = kind == SQLITE_FULL || no_space;
	bool quota = kind == SQLITE_IOERR && e == EDQUOT;

	for (size_t i = 0; i < ELEMENTS(writing); i++)
		unwritable |= rc == writing[i];
	if (kind == SQLITE_IOERR && no_space)
		kind = SQLITE_FULL;
	switch (kind) {
	case SQLITE_FULL:
		r = error_say(err, quota ? -EDQUOT : -ENOSPC,
			"the lab book '%s' cannot grow: %s; what it has is safe; free some space and continue",
			book->path,
			quota ? "your quota of disk space is used up" : "its file system is full");
		break;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		r = error_say(err, -EBUSY,
			"the lab book '%s' is being written by another program, and still was after %g s; try again when that has ended",
			book->path, book->patience_ms / 1e3);
		break;
	case SQLITE_CORRUPT:
		r = error_say(err, -EBADMSG,
			"the lab book '%s' is damaged (%s); restore an intact copy, or save the runs that can still be read with: emp-analyze --db '%s' export RUN",
			book->path, sqlite3_errmsg(book->db), book->path);
		break;
	case SQLITE_NOTADB:
		r = error_say(err, -EINVAL,
			"'%s' is not a lab book: it is not an SQLite database; name another file with --db or EMP_DB",
			book->path);
		break;
	case SQLITE_READONLY:
		r = rc == SQLITE_READONLY_DBMOVED
			    ? error_say(err, -ESTALE,
				      "the lab book '%s' was moved or removed while it was open; put it back, or start a new one",
				      book->path)
			    : error_say(err, -EROFS,
				      "the lab book '%s' cannot be written; ask for write permission, or name another with --db or EMP_DB",
				      book->path);
		break;
	case SQLITE_CANTOPEN:
		r = e == 0 || e == ENOENT
			    ? error_say(err, -EACCES,
				      "the lab book '%s' cannot be opened: a user who may write its directory must read in its log '%s-wal' first, for example with: sqlite3 '%s' .schema",
				      book->path, book->path, book->path)
			    : error_os(err, -e, "cannot open the lab book '%s'", book->path);
		break;
	case SQLITE_NOMEM:
	case SQLITE_IOERR:
		r = error_os(err, kind == SQLITE_NOMEM ? -ENOMEM : -(e ?: EIO),
			"cannot read or write the lab book '%s'", book->path);
		break;
	default:
		r = error_say(err, -EIO, "the lab book '%s' failed: %s", book->path,
			sqlite3_errmsg(book->db));
	}
	book->failure = rc;
	book->unwritable = unwritable ? -r : 0;
	return r;
}
