/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab book as a file: transactions, waiting for other writers, and the messages for failures.
 *
 * Every commit is synced to the disk (synchronous = FULL), because a sample of a run of days is worth more
 * than the 0.2 ms that this takes outside the timed interval. For samples of milliseconds that would take longer than
 * the program and disturb the next sample, so those of one second are synced together, and most of them wait in a file beside
 * the book (book.c). A run that has no sample yet, and warnings, which follow from samples, are synced with what comes next.
 * The log is written to the file only by book_checkpoint(), so that no sample pays for the ones before it. */
#include "lib/book/book.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/book_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Samples that wait beside the book, in the file BOOK-pending, until they are stored in it.
 *
 * A transaction takes 50 us between two samples, a tenth of what `true` takes; appending a record takes 3 us. A record
 * survives this process (kill -9), because the kernel has it. Whatever reads or writes the book next stores the
 * records first: this process, or the next that opens the book. flock() tells whether their owner is alive. Records are
 * structs as this process has them in memory: only the same build of EMP reads them. */

enum { MARK = 0x53504d45 };

struct pending_head {
	char magic[8];
	uint32_t sizes[4];
};

struct pending_record {
	uint32_t mark, n_executions;
	char uid[UID_SIZE]; /* of its run: the book may have been replaced */
	int64_t run;
	struct sample sample;
	struct counters changes;
}; /* followed by its executions */

static const struct pending_head right_head = {
	"EMPpend", {sizeof(struct pending_record), sizeof(struct sample), sizeof(struct counters),
			   sizeof(struct execution)}};

/* Opens the file, locked. -EAGAIN: its owner is alive; -EPROTONOSUPPORT: another version made it; otherwise what
 * open says. */
static int open_pending(struct book *book, int flags)
{
	_cleanup_(freep) char *path = text_format("%s-pending", book->path);
	_cleanup_(closep) int fd = -1;
	struct pending_head there = {};
	struct stat st;

	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || (st.st_uid && st.st_uid != geteuid()))
		return -ESTALE; /* not a file, just removed, or of a stranger */
	if (st.st_size == 0 && pwrite(fd, &right_head, sizeof(right_head), 0) != sizeof(right_head))
		return -ENOSPC;
	if (pread(fd, &there, sizeof(there), 0) != sizeof(there) ||
		memcmp(&there, &right_head, sizeof(right_head)))
		return -EPROTONOSUPPORT;
	book->pending.size = st.st_size ?: (off_t)sizeof(struct pending_head);
	book->pending.fd = TAKE_FD(fd);
	return 0;
}

bool book_keep_sample(struct book *book, const struct run *run, const struct sample *sample,
	const struct execution *executions, size_t n, const struct counters *changes)
{
	struct pending *p = &book->pending;
	struct pending_record record = {
		.mark = MARK, .n_executions = (uint32_t)n, .run = run->id, .sample = *sample};
	struct iovec parts[] = {{&record, sizeof(record)}, {(void *)executions, n * sizeof(*executions)}};

	if (clock_ns(CLOCK_MONOTONIC) - book->synced_ns >= NS_PER_S)
		return false;
	if (p->fd < 0 && !p->tried)
		open_pending(book, O_CREAT);
	p->tried = true;
	if (p->fd < 0)
		return false;
	record.changes = *changes;
	memcpy(record.uid, run->uid, sizeof(record.uid));
	if (pwritev(p->fd, parts, 2, p->size) != (ssize_t)(parts[0].iov_len + parts[1].iov_len))
		return false; /* no room: the book says so; the next record replaces this one */
	p->size += (off_t)(parts[0].iov_len + parts[1].iov_len);
	return true;
}

static int store_records(struct book *book, struct error *err)
{
	size_t size = (size_t)book->pending.size;
	_cleanup_(freep) char *content = xmalloc(size);
	const char *from = content + sizeof(struct pending_head), *end = content + size;
	int r = 0;

	book->pending.stored = true;
	if (size <= sizeof(struct pending_head)) /* the book went on elsewhere, with them */
		return 0;
	if (pread(book->pending.fd, content, size, 0) != (ssize_t)size)
		return error_os(err, -errno, "cannot read the file '%s-pending'", book->path);
	while (r == 0 && end - from >= (ssize_t)sizeof(struct pending_record)) {
		_cleanup_(freep) struct execution *executions = NULL;
		struct pending_record record;
		size_t length;

		memcpy(&record, from, sizeof(record));
		from += sizeof(record);
		length = record.n_executions * sizeof(*executions);
		if (record.mark != MARK || (size_t)(end - from) < length) /* the last one, torn */
			return 0;
		record.uid[sizeof(record.uid) - 1] = '\0';
		executions = memcpy(xmalloc(length), from, length); /* aligned */
		/* If the run is in this book. A sample that is there already was stored by a process that
		 * died before it emptied the file. */
		r = sql_row(book, err, "SELECT 1 FROM run WHERE id = ? AND uid = ?", "it", record.run,
			record.uid);
		if (r > 0) {
			r = book_add_sample(
				book, record.run, &record.sample, executions, record.n_executions, err);
			if (r == 0)
				r = book_add_counters(
					book, record.run, record.sample.n, &record.changes, err);
			r = r == -EEXIST ? 0 : r;
		}
		from += length;
	}
	return r;
}

int pending_store(struct book *book, struct error *err)
{
	if (book->pending.stored || book->pending.size <= (off_t)sizeof(struct pending_head))
		return 0;
	return BOOK_ATOMIC(book, store_records(book, err), err);
}

/* The transaction ended. */
static void pending_ended(struct book *book, bool committed)
{
	struct pending *p = &book->pending;

	if (p->stored && committed && ftruncate(p->fd, sizeof(struct pending_head)) == 0)
		p->size = sizeof(struct pending_head);
	p->stored = false;
}

int pending_move(struct book *book, struct pending *from, const char *path, struct error *err)
{
	_cleanup_(freep) char *old = text_format("%s-pending", path);
	int r;

	book->pending = *from;
	r = pending_store(book, err);
	if (r < 0)
		return r;
	if (book->pending.fd >= 0)
		unlink(old);
	closep(&book->pending.fd);
	book->pending = (struct pending){.fd = -1};
	return 0;
}

int pending_recover(struct book *book, struct error *err)
{
	int r = open_pending(book, 0);

	if (r == -EPROTONOSUPPORT)
		return error_say(err, r,
			"the file '%s-pending' holds samples that another version of EMP left; open the lab book with that version, or move the file away",
			book->path);
	if (r < 0)
		return 0; /* there is none, or its owner is alive */
	r = pending_store(book, err);
	return r == 0 ? 0
		      : error_prefix(err, r,
				"cannot store the samples in '%s-pending'; move the file away to go on without them",
				book->path);
}

const char *book_file(const struct book *book)
{
	return book->path;
}

int book_foreign(const char *path, struct error *err)
{
	return error_say(err, -EINVAL,
		"'%s' is the database of another program; name another file with --db or EMP_DB", path);
}

/* The file, the cause, the way out. */
int book_failed(struct book *book, int rc, struct error *err)
{
	static const int writing[] = {SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC,
		SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_SHMSIZE};
	int e = sqlite3_system_errno(book->db), kind = rc & 0xff, r;
	bool no_space = e == ENOSPC || e == EDQUOT, unwritable = kind == SQLITE_FULL || no_space;

	if (kind == SQLITE_FULL || (kind == SQLITE_IOERR && no_space)) {
		bool quota = kind == SQLITE_IOERR && e == EDQUOT;

		r = error_say(err, quota ? -EDQUOT : -ENOSPC,
			"the lab book '%s' cannot grow: %s; what it has is safe; free some space and continue",
			book->path,
			quota ? "your quota of disk space is used up" : "its file system is full");
	} else if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) {
		r = error_say(err, -EBUSY,
			"the lab book '%s' is being written by another program, and still was after %g s; try again when that has ended",
			book->path, book->patience_ms / 1e3);
	} else if (kind == SQLITE_CORRUPT) {
		r = error_say(err, -EBADMSG,
			"the lab book '%s' is damaged (%s); restore an intact copy, or save the runs that can still be read with: emp-analyze --db '%s' export RUN",
			book->path, sqlite3_errmsg(book->db), book->path);
	} else if (kind == SQLITE_NOTADB) {
		r = error_say(err, -EINVAL,
			"'%s' is not a lab book: it is not an SQLite database; name another file with --db or EMP_DB",
			book->path);
	} else if (rc == SQLITE_READONLY_DBMOVED) {
		r = error_say(err, -ESTALE,
			"the lab book '%s' was moved or removed while it was open; put it back, or start a new one",
			book->path);
	} else if (kind == SQLITE_READONLY) {
		r = error_say(err, -EROFS,
			"the lab book '%s' cannot be written; ask for write permission, or name another with --db or EMP_DB",
			book->path);
	} else if (kind == SQLITE_CANTOPEN && (e == 0 || e == ENOENT)) {
		r = error_say(err, -EACCES,
			"the lab book '%s' cannot be opened: a user who may write its directory must read in its log '%s-wal' first, for example with: sqlite3 '%s' .schema",
			book->path, book->path, book->path);
	} else if (kind == SQLITE_CANTOPEN) {
		r = error_os(err, -e, "cannot open the lab book '%s'", book->path);
	} else if (kind == SQLITE_NOMEM || kind == SQLITE_IOERR) {
		r = error_os(err, kind == SQLITE_NOMEM ? -ENOMEM : -(e ?: EIO),
			"cannot read or write the lab book '%s'", book->path);
	} else {
		r = error_say(
			err, -EIO, "the lab book '%s' failed: %s", book->path, sqlite3_errmsg(book->db));
	}
	for (size_t i = 0; i < ELEMENTS(writing); i++)
		unwritable |= rc == writing[i];
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
	for (const char *line = locks; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
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
		_cleanup_(freep) char *locks = NULL, *index = text_format("%s-shm", book->path),
				      *sentence = NULL;
		char who[64] = "another program";
		int pid = 0;

		/* a writer locks the index of the log; a program that knows no log, the book itself */
		if (text_read_file(AT_FDCWD, "/proc/locks", &locks) == 0)
			pid = book_lock_holder(index, locks) ?: book_lock_holder(book->path, locks);
		if (pid)
			snprintf(who, sizeof(who), "process %d", pid);
		sentence = text_format("waiting for the lab book '%s', which %s has locked", book->path, who);
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

static int begin_transaction(struct book *book, bool writes, struct error *err)
{
	/* a writer takes its lock at once: a read lock cannot always be upgraded later */
	int rc = sqlite3_exec(
		book->db, writes && book->mode == BOOK_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", NULL, NULL, NULL);

	if (rc == SQLITE_OK)
		return 0;
	end_unsynced(book);
	return book_failed(book, rc, err);
}

int book_begin(struct book *book, struct error *err)
{
	return begin_transaction(book, true, err);
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

int book_commit(struct book *book, struct error *err)
{
	int rc = sqlite3_exec(book->db, "COMMIT", NULL, NULL, NULL), r, moved = 0;

	if (rc != SQLITE_OK) {
		r = book_failed(book, rc, err);
		book_rollback(book);
		return r;
	}
	end_unsynced(book);
	pending_ended(book, true);
	if (book->mode == BOOK_WRITE)
		sqlite3_file_control(book->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (!moved)
		return 0;
	/* SQLite goes on writing to a file that has no name any more. */
	if (!book->lost) {
		_cleanup_(freep) char *copy = text_format("%s.saved-%d", book->path, getpid());
		struct error ignored;

		book->lost = true;
		if (book_make_file(copy, &ignored) == 0 &&
			sql_row(book, &ignored, "VACUUM INTO ?", "t", copy) == 0)
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
	source_cache_clear(&book->sources); /* ids given since book_begin are void */
	if (!sqlite3_get_autocommit(book->db))
		sqlite3_exec(book->db, "ROLLBACK", NULL, NULL, NULL);
	end_unsynced(book);
	pending_ended(book, false);
}

int book_enter(struct book *book, bool writes, bool *ret_own, struct error *err)
{
	*ret_own = sqlite3_get_autocommit(book->db);
	return *ret_own ? begin_transaction(book, writes, err) : 0;
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
}

void book_free(struct book *book)
{
	if (!book)
		return;
	if (book->ours && book->mode == BOOK_WRITE) {
		struct error ignored;
		struct error close_ignored;

		book_rollback(book);

		_cleanup_(freep) char *path = text_format("%s-pending", book->path);

		if (book->pending.fd >= 0 && pending_store(book, &close_ignored) == 0)
			unlink(path);
		closep(&book->pending.fd);
		book_checkpoint(book, &ignored);
	}
	book_disconnect(book);
	source_cache_clear(&book->sources);
	free(book->path);
	free(book->left);
	free(book);
}
