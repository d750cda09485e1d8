/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait beside the book, in the file BOOK-pending, until they are stored in it.
 *
 * A transaction takes 50 us between two samples, a tenth of what `true` takes; appending a record takes 3 us. A record
 * survives this process (kill -9), because the kernel has it. Whatever reads or writes the book next stores the
 * records first: this process, or the next that opens the book. flock() tells whether their owner is alive. Records are
 * structs as this process has them in memory: only the same build of EMP reads them. */
#include "lib/book/book_internal.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>

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
	"EMPpen2", {sizeof(struct pending_record), sizeof(struct sample), sizeof(struct counters),
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
	struct pending_record record = {.mark = MARK,
		.n_executions = (uint32_t)n,
		.run = run->id,
		.sample = *sample,
		.changes = *changes};
	struct iovec parts[] = {{&record, sizeof(record)}, {(void *)executions, n * sizeof(*executions)}};

	if (clock_ns(CLOCK_MONOTONIC) - book->synced_ns >= NS_PER_S)
		return false;
	if (p->fd < 0 && !p->tried)
		open_pending(book, O_CREAT);
	p->tried = true;
	if (p->fd < 0)
		return false;
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
		from += length;
		r = sql_row(book, err, "SELECT 1 FROM run WHERE id = ? AND uid = ?", "it", record.run,
			record.uid);
		if (r <= 0) /* of another book */
			continue;
		r = book_add_sample(book, record.run, &record.sample, executions, record.n_executions, err);
		if (r == 0)
			r = sql_insert(book, err, &counters_table, "", &record.changes, 1, "i", record.run);
		if (r == -EEXIST) /* stored by a process that died before it emptied the file */
			r = 0;
	}
	return r;
}

int pending_store(struct book *book, struct error *err)
{
	if (book->pending.stored || book->pending.size <= (off_t)sizeof(struct pending_head))
		return 0;
	return BOOK_ATOMIC(book, store_records(book, err), err);
}

void pending_committed(struct book *book)
{
	struct pending *p = &book->pending;

	if (p->stored && ftruncate(p->fd, sizeof(struct pending_head)) == 0)
		p->size = sizeof(struct pending_head);
	p->stored = false;
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

int pending_end(struct book *book, const char *path, struct error *err)
{
	_cleanup_(freep) char *name = text_format("%s-pending", path);
	int r = pending_store(book, err);

	if (r == 0 && book->pending.fd >= 0)
		unlink(name);
	closep(&book->pending.fd);
	book->pending = (struct pending){.fd = -1};
	return r;
}
