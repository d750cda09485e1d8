/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions: see book_transaction.h.
 *
 * Every commit is synced to the disk (synchronous = FULL), because a sample of a run of days is
 * worth more than the 0.2 ms that this takes outside the timed interval. For samples of
 * milliseconds that would take longer than the program and disturb the next sample, so those of one
 * second are synced together, and most of them wait in a file beside the book (book_pending.c). A
 * run that has no sample yet, and warnings, which follow from samples, are synced with what comes
 * next.
 *
 * The log is written to the file only by book_checkpoint(), so that no sample pays for the ones
 * before it. */
#include "lib/book/book_transaction.h"

#include "lib/book/book_failure.h"
#include "lib/book/book_internal.h"
#include "lib/book/book_paths.h"
#include "lib/book/book_pending.h"
#include "lib/book/book_sources.h"
#include "lib/book/sql.h"

void book_unsynced(struct book *book)
{
	if (sqlite3_get_autocommit(book->db)) /* SQLite does not change it inside a transaction */
		book->unsynced = sqlite3_exec(book->db, "PRAGMA synchronous = NORMAL", NULL, NULL,
					 NULL) == SQLITE_OK;
}

/* The next commit waits for the disk, as all do but those after book_unsynced(). */
static void end_unsynced(struct book *book)
{
	if (book->unsynced)
		sqlite3_exec(book->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
	book->unsynced = false;
}

int book_enter(struct book *book, bool writes, bool *ret_own, struct error *err)
{
	/* a writer takes its lock at once: a read lock cannot always be upgraded later */
	const char *sql = writes && book->mode == BOOK_WRITE ? "BEGIN IMMEDIATE" : "BEGIN";
	int rc;

	*ret_own = sqlite3_get_autocommit(book->db);
	rc = *ret_own ? sqlite3_exec(book->db, sql, NULL, NULL, NULL) : SQLITE_OK;
	if (rc == SQLITE_OK)
		return 0;
	end_unsynced(book);
	return book_failed(book, rc, err);
}

int book_begin(struct book *book, struct error *err)
{
	bool own;

	return book_enter(book, true, &own, err);
}

void book_sync_by_second(struct book *book)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - book->synced_ns >= NS_PER_S)
		book->synced_ns = now_ns;
	else
		book_unsynced(book);
}

int book_commit(struct book *book, struct error *err)
{
	int rc = sqlite3_exec(book->db, "COMMIT", NULL, NULL, NULL), r, moved = 0;

	if (rc != SQLITE_OK) {
		r = book_failed(book, rc, err);
		book_rollback(book);
		return r;
	}
	end_unsynced(book);
	pending_committed(book);
	if (book->mode == BOOK_WRITE)
		sqlite3_file_control(book->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (!moved)
		return 0;
	/* SQLite goes on writing to a file that has no name any more. */
	if (!book->lost) {
		_cleanup_(freep) char *copy = text_format("%s.saved-%d", book->file, getpid());

		book->lost = true;
		if (book_make_file(copy, NULL) == 0 &&
			sql_row(book, NULL, "VACUUM INTO ?", "t", copy) == 0)
			return error_say(err, -ESTALE,
				"the lab book '%s' was removed or replaced while it was open; all "
				"it held is saved in '%s': move that back",
				book->path, copy);
	}
	return error_say(err, -ESTALE,
		"the lab book '%s' was removed or replaced while it was open; what was stored "
		"since is lost",
		book->path);
}

void book_rollback(struct book *book)
{
	book_forget_sources(book); /* ids given since book_begin are void */
	if (!sqlite3_get_autocommit(book->db))
		sqlite3_exec(book->db, "ROLLBACK", NULL, NULL, NULL);
	end_unsynced(book);
	pending_rolled_back(book);
}

int book_end(struct book *book, int r, struct error *err)
{
	int committed = r >= 0 ? book_commit(book, err) : 0;

	if (r < 0)
		book_rollback(book);
	return committed < 0 ? committed : r;
}

int book_checkpoint(struct book *book, struct error *err)
{
	int rc;

	/* a reader that blocks this is no failure: the log is safe, and the next checkpoint will
	 * do */
	sqlite3_busy_timeout(book->db, 0);
	rc = sqlite3_wal_checkpoint_v2(book->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	book_patience(book, book->patience_ms);
	return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? 0 : book_failed(book, rc, err);
}
