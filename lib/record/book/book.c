/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab book as a file: where it is, transactions, and its write-ahead log.
 *
 * Every commit is synced to the disk (synchronous = FULL), because a sample of a run of days is worth more
 * than the 0.2 ms that this takes outside the timed interval. For samples of milliseconds that would take longer than
 * the program and disturb the next sample, so those of one second are synced together, and those of 0.1 s are
 * committed together.
 * The log is written to the file only by book_checkpoint(), so that no sample pays for the ones before it. */
#include "lib/record/book/query.h"

#include "lib/base/clock.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int book_path(const char *option, char **ret, struct error *err)
{
	return paths_book(option, ret, err);
}

static const int64_t TOGETHER_NS = 100 * NS_PER_MS;

/* The next commit waits for the disk, as all do except those of samples. */
static void end_unsynced(struct book *book)
{
	if (book->unsynced)
		sqlite3_exec(book->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
	book->unsynced = false;
}

int book_begin(struct book *book, struct error *err)
{
	int rc, r = book_flush(book, err);

	if (r < 0)
		return r;
	/* a writer takes its lock at once: a read lock cannot always be raised to it later */
	rc = sqlite3_exec(book->db, book->mode == BOOK_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : book_failed(book, rc, err);
}

int book_begin_sample(struct book *book, struct error *err)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (book->left_open) {
		book->left_open = false;
		return 0;
	}
	book->begun_ns = now_ns;
	if (now_ns - book->synced_ns >= NS_PER_S)
		book->synced_ns = now_ns;
	else /* SQLite does not change it inside a transaction */
		book->unsynced = sqlite3_exec(book->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL) ==
				 SQLITE_OK;
	r = book_begin(book, err);
	if (r < 0)
		end_unsynced(book);
	return r;
}

int book_commit_sample(struct book *book, bool others_soon, struct error *err)
{
	if (!others_soon || clock_ns(CLOCK_MONOTONIC) - book->begun_ns >= TOGETHER_NS)
		return book_commit(book, err);
	book->left_open = true;
	return 0;
}

int book_flush(struct book *book, struct error *err)
{
	if (!book->left_open)
		return 0;
	book->left_open = false;
	return book_commit(book, err);
}

int book_commit(struct book *book, struct error *err)
{
	int rc = sqlite3_exec(book->db, "COMMIT", NULL, NULL, NULL), r;

	if (rc == SQLITE_OK) {
		end_unsynced(book);
		return 0;
	}
	r = book_failed(book, rc, err);
	book_rollback(book);
	return r;
}

void book_rollback(struct book *book)
{
	book->left_open = false;
	source_cache_clear(&book->sources); /* ids given since book_begin are void */
	if (!sqlite3_get_autocommit(book->db))
		sqlite3_exec(book->db, "ROLLBACK", NULL, NULL, NULL);
	end_unsynced(book);
}

int book_join(struct book *book, bool *ret_own, struct error *err)
{
	int r = book_flush(book, err);

	*ret_own = sqlite3_get_autocommit(book->db);
	return r == 0 && *ret_own ? book_begin(book, err) : r;
}

int book_view(struct book *book, bool *ret_own, struct error *err)
{
	int rc = SQLITE_OK, r = book_flush(book, err);

	*ret_own = sqlite3_get_autocommit(book->db);
	if (r < 0)
		return r;
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

void book_patience(struct book *book, int ms)
{
	book->patience_ms = ms;
	sqlite3_busy_timeout(book->db, ms);
}

int book_checkpoint(struct book *book, struct error *err)
{
	int rc, r = book_flush(book, err);

	if (r < 0)
		return r;
	/* a reader that blocks this is no failure: the log is safe, and the next checkpoint will do */
	sqlite3_busy_timeout(book->db, 0);
	rc = sqlite3_wal_checkpoint_v2(book->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(book->db, book->patience_ms);
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

		book_flush(book, &ignored);
		book_rollback(book);
		book_checkpoint(book, &ignored);
	}
	book_disconnect(book);
	source_cache_clear(&book->sources);
	free(book->path);
	free(book);
}
