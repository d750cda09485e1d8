/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab book as a file: transactions, waiting for other writers, and the messages for failures.
 *
 * Every commit is synced to the disk (synchronous = FULL), because a sample of a run of days is
 * worth more than the 0.2 ms that this takes outside the timed interval. For samples of
 * milliseconds that would take longer than the program and disturb the next sample, so those of one
 * second are synced together, and most of them wait in a file beside the book (book_pending.c). A
 * run that has no sample yet, and warnings, which follow from samples, are synced with what comes
 * next. The log is written to the file only by book_checkpoint(), so that no sample pays for the
 * ones before it. */
#include "lib/book/book_internal.h"

#include <sys/stat.h>

const char *book_file(const struct book *book)
{
	return book->path;
}

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

/* The process that has a write lock on the file, 0: not known. */
static int book_lock_holder(const char *path, const char *locks)
{
	struct stat st;
	uint64_t inode;
	int pid;

	if (stat(path, &st) < 0)
		return 0;
	for (const char *line = locks; line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (sscanf(line, "%*s POSIX %*s WRITE %d %*x:%*x:%" SCNu64, &pid, &inode) == 2 &&
			inode == st.st_ino && pid > 0 && pid != getpid())
			return pid;
	return 0;
}

/* SQLite's busy handler, called for the nth time: 1 to try again. */
static int wait_for_lock(void *data, int n)
{
	enum { PAUSE_US = 1000, LONGEST_US = 100000 };
	struct book *book = data;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC), waited_ns;
	bool over;

	if (n == 0) {
		book->waits_since_ns = now_ns;
		book->wait_said = false;
	}
	waited_ns = now_ns - book->waits_since_ns;
	over = waited_ns >= book->patience_ms * NS_PER_MS;
	if (!book->go_on && over)
		return 0;
	if (book->go_on && waited_ns >= NS_PER_S && !book->go_on(NULL, book->go_on_data))
		return 0;
	if (book->go_on && over && !book->wait_said) {
		_cleanup_(freep) char *locks = path_text(AT_FDCWD, "/proc/locks"), *sentence = NULL,
				      *index = text_format("%s-shm", book->file);
		char who[64] = "another program";
		int pid = 0;

		/* a writer locks the index of the log; a program that knows no log, the book
		 * itself */
		if (locks)
			pid = book_lock_holder(index, locks) ?: book_lock_holder(book->file, locks);
		if (pid)
			snprintf(who, sizeof(who), "process %d", pid);
		sentence = text_format(
			"waiting for the lab book '%s', which %s has locked", book->path, who);
		book->go_on(sentence, book->go_on_data);
		book->wait_said = true;
	}
	usleep(n < LONGEST_US / PAUSE_US ? (useconds_t)(n + 1) * PAUSE_US : LONGEST_US);
	return 1;
}

void book_patience(struct book *book, int ms)
{
	book->patience_ms = ms;
	sqlite3_busy_handler(book->db, wait_for_lock, book);
}

void book_on_wait(struct book *book, book_wait *go_on, void *data)
{
	book->go_on = go_on;
	book->go_on_data = data;
}

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
				"the lab book '%s' was removed or replaced while it was open; all it held is saved in '%s': move that back",
				book->path, copy);
	}
	return error_say(err, -ESTALE,
		"the lab book '%s' was removed or replaced while it was open; what was stored since is lost",
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

void book_disconnect(struct book *book)
{
	for (size_t i = 0; i < book->n_statements; i++)
		sqlite3_finalize(book->statements[i].stmt);
	book->n_statements = 0;
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
