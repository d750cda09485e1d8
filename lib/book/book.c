/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab book as a file: its path, transactions, and the write-ahead log.
 *
 * Every commit is synced to the disk (synchronous = FULL), because a sample of a run of days is worth more
 * than the 0.2 ms that this takes outside the timed interval. For samples of milliseconds that would take longer than
 * the program and disturb the next sample, so those of one second are synced together, and most of them wait in a file beside
 * the book (book_pending.c). A run that has no sample yet, and warnings, which follow from samples, are synced with what comes next.
 * The log is written to the file only by book_checkpoint(), so that no sample pays for the ones before it. */
#include "lib/book/query.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>

const char *book_file(const struct book *book)
{
	return book->path;
}

void book_unsynced(struct book *book)
{
	if (sqlite3_get_autocommit(book->db)) /* SQLite does not change it inside a transaction */
		book->unsynced = sqlite3_exec(book->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL) ==
				 SQLITE_OK;
}

/* The next commit waits for the disk, as all do but those after book_unsynced(). */
static void end_unsynced(struct book *book)
{
	if (book->unsynced)
		sqlite3_exec(book->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
	book->unsynced = false;
}

int book_begin(struct book *book, struct error *err)
{
	/* a writer takes its lock at once: a read lock cannot always be upgraded later */
	int rc = sqlite3_exec(
		book->db, book->mode == BOOK_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return 0;
	end_unsynced(book);
	return book_failed(book, rc, err);
}

int book_begin_sample(struct book *book, struct error *err)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - book->synced_ns >= NS_PER_S)
		book->synced_ns = now_ns;
	else
		book_unsynced(book);
	return book_begin(book, err);
}

static int save(struct book *book, const char *copy)
{
	_cleanup_(query_end) struct query q = {};
	struct error ignored;
	int r = book_make_file(copy, &ignored);

	if (r < 0)
		return r;
	query_begin(&q, book, "VACUUM INTO ?", &ignored);
	query_text(&q, copy);
	return query_run(&q, &ignored);
}

/* SQLite goes on writing to a file that has no name any more. */
static int say_lost(struct book *book, struct error *err)
{
	_cleanup_(freep) char *copy = text_format("%s.saved-%d", book->path, getpid());
	bool saved = !book->lost && copy && save(book, copy) == 0;

	book->lost = true;
	return saved ? error_say(err, -ESTALE,
			       "the lab book '%s' was removed or replaced while it was open; all it held is saved in '%s': move that back",
			       book->path, copy)
		     : error_say(err, -ESTALE,
			       "the lab book '%s' was removed or replaced while it was open; what was stored since is lost",
			       book->path);
}

static int check_there(struct book *book, struct error *err)
{
	int moved = 0;

	if (book->mode == BOOK_WRITE)
		sqlite3_file_control(book->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return moved ? say_lost(book, err) : 0;
}

int book_commit(struct book *book, struct error *err)
{
	int rc = sqlite3_exec(book->db, "COMMIT", NULL, NULL, NULL), r;

	if (rc == SQLITE_OK) {
		end_unsynced(book);
		pending_ended(book, true);
		return check_there(book, err);
	}
	r = book_failed(book, rc, err);
	book_rollback(book);
	return r;
}

void book_rollback(struct book *book)
{
	source_cache_clear(&book->sources); /* ids given since book_begin are void */
	if (!sqlite3_get_autocommit(book->db))
		sqlite3_exec(book->db, "ROLLBACK", NULL, NULL, NULL);
	end_unsynced(book);
	pending_ended(book, false);
}

int book_join(struct book *book, bool *ret_own, struct error *err)
{
	*ret_own = sqlite3_get_autocommit(book->db);
	return *ret_own ? book_begin(book, err) : 0;
}

int book_view(struct book *book, bool *ret_own, struct error *err)
{
	int rc = SQLITE_OK;

	*ret_own = sqlite3_get_autocommit(book->db);
	if (*ret_own)
		rc = sqlite3_exec(book->db, "BEGIN", NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

int book_leave(struct book *book, bool own, int r, struct error *err)
{
	int committed;

	if (!own)
		return r;
	if (r < 0) {
		book_rollback(book);
		return r;
	}
	committed = book_commit(book, err);
	return committed < 0 ? committed : r;
}

int book_checkpoint(struct book *book, struct error *err)
{
	int rc;

	/* a reader that blocks this is no failure: the log is safe, and the next checkpoint will do */
	sqlite3_busy_timeout(book->db, 0);
	rc = sqlite3_wal_checkpoint_v2(book->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	book_be_patient(book);
	return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? 0 : book_failed(book, rc, err);
}

void book_disconnect(struct book *book)
{
	for (size_t i = 0; i < book->n_statements; i++)
		sqlite3_finalize(book->statements[i].stmt);
	book->n_statements = 0;
	sqlite3_close(book->db);
	book->db = NULL;
}

void book_free(struct book *book)
{
	if (!book)
		return;
	if (book->ours && book->mode == BOOK_WRITE) {
		struct error ignored;

		book_rollback(book);
		pending_close(book);
		book_checkpoint(book, &ignored);
	}
	book_disconnect(book);
	source_cache_clear(&book->sources);
	free(book->path);
	free(book->left);
	free(book);
}
