/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait beside the book, in the file BOOK-pending, until they are stored in it.
 *
 * A transaction takes 50 us between two samples, a tenth of what `true` takes; appending a record
 * takes 3 us. A record survives this process (kill -9), because the kernel has it. Whatever reads
 * or writes the book next stores the records first: this process, or the next that opens the book.
 * flock() tells whether their owner is alive. Records are structs as this process has them in
 * memory: only an EMP with the same structs reads them, and the head of the file says which those
 * are. What cannot be stored is put aside in a file like this one, which an EMP that can takes
 * under its old name. */
#include "lib/book/book_pending.h"

#include "lib/base/terminal.h"
#include "lib/book/book_internal.h"
#include "lib/book/book_paths.h"
#include "lib/book/book_samples.h"
#include "lib/book/book_schema.h"
#include "lib/book/sql.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { MARK = 0x53504d45 };

#define MAGIC "EMPpen"

struct pending_head {
	char magic[8];
	uint32_t version; /* of the book */
	char schema[DIGEST_SIZE], structs[DIGEST_SIZE];
};

struct pending_record {
	uint32_t mark, n_executions;
	char uid[UID_SIZE]; /* of its run: the book may have been replaced */
	int64_t run;
	struct sample sample;
	struct counters changes;
}; /* followed by its executions */

/* The head of the files that this EMP writes. */
static struct pending_head right_head(void)
{
	static const struct field_table *const tables[] = {
		&sample_table, &counters_table, &execution_table};
	struct pending_head head = {.magic = MAGIC "3", .version = book_schema_newest_version};
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *stream = xopen_memstream(&text, &size);

	fprintf(stream, "%zu", sizeof(struct pending_record));
	for (size_t i = 0; i < ELEMENTS(tables); i++) {
		fprintf(stream, " %s %zu", tables[i]->table, tables[i]->size);
		for (const struct field *f = tables[i]->fields;
			f < tables[i]->fields + tables[i]->n; f++)
			fprintf(stream, " %s %d %zu %zu", f->name, (int)f->type, f->offset,
				f->size);
	}
	text_stream_close(stream, &text);
	digest_of(text, strlen(text), head.structs);
	memcpy(head.schema, book_schema_newest_digest, sizeof(head.schema));
	return head;
}

/* Whether a file of another version of EMP has a head and no samples. */
static bool has_no_samples(const struct pending_head *head, off_t size)
{
	static const struct {
		const char *magic;
		off_t size;
	} heads[] = {{"EMPpend", 24}, {MAGIC "2", 24}, {MAGIC "3", sizeof(*head)}};

	for (size_t i = 0; i < ELEMENTS(heads); i++)
		if (!memcmp(head->magic, heads[i].magic, sizeof(head->magic)))
			return size <= heads[i].size;
	return false;
}

/* Whether an open file is the one at this path: not just removed or put aside, nor a stranger's. */
static bool is_own_file(const struct stat *st, const char *path)
{
	struct stat named;

	if (!S_ISREG(st->st_mode) || st->st_nlink != 1)
		return false;
	if (st->st_uid && st->st_uid != geteuid())
		return false;
	return stat(path, &named) == 0 && named.st_ino == st->st_ino && named.st_dev == st->st_dev;
}

/* Whether n bytes of a head are of any version of EMP. */
static bool is_head_of_emp(const struct pending_head *head, size_t n)
{
	return n > sizeof(head->magic) && !memcmp(head->magic, MAGIC, strlen(MAGIC));
}

/* Opens and locks the file. *ret_other: another version of EMP made it. -EAGAIN: its owner is
 * alive; -ENOENT: there is none, or it was empty and is removed; -EPROTONOSUPPORT: it is not EMP's;
 * otherwise what open says. */
static int lock_pending(struct book *book, int flags, int *ret_fd, off_t *ret_size, bool *ret_other)
{
	_cleanup_(freep) char *path = text_format("%s-pending", book->file);
	_cleanup_(closep) int fd = -1;
	struct pending_head right = right_head(), there = {};
	bool other, empty;
	struct stat st;
	ssize_t n;

	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!is_own_file(&st, path))
		return -ESTALE;

	n = pread(fd, &there, sizeof(there), 0);
	if (n < 0)
		return -errno;
	other = memcmp(&there, &right, (size_t)n) != 0;
	if (other && !is_head_of_emp(&there, (size_t)n))
		return -EPROTONOSUPPORT;
	empty = n == 0 || (other && has_no_samples(&there, st.st_size));
	if (empty && !(flags & O_CREAT))
		return unlink(path) < 0 ? -errno : -ENOENT;

	/* a head that a full disk has cut off had no records yet */
	if (!other && (size_t)n < sizeof(right) &&
		pwrite(fd, &right, sizeof(right), 0) != sizeof(right))
		return -ENOSPC;
	*ret_other = other;
	*ret_size = st.st_size > (off_t)sizeof(right) ? st.st_size : (off_t)sizeof(right);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Opens it for this process. 1: another version of EMP made it, and it was put aside; 0: it is
 * open. */
static int open_pending(struct book *book, int flags)
{
	_cleanup_(closep) int fd = -1;
	bool other;
	off_t size;
	int r = lock_pending(book, flags, &fd, &size, &other);

	if (r < 0)
		return r;
	if (other) {
		pending_put_aside(book, NULL);
		return 1;
	}
	book->pending.size = size;
	book->pending.fd = TAKE_FD(fd);
	return 0;
}

void pending_put_aside(struct book *book, const char *copy)
{
	_cleanup_(freep) char *path = text_format("%s-pending", book->file);
	_cleanup_(freep) char *wanted = text_format(
		"%s-pending%s", copy ?: book->file, copy ? "" : ".other");
	_cleanup_(freep) char *name = book_free_name(wanted);

	if (rename(path, name) < 0)
		terminal_remark("samples of another version of EMP wait in '%s', "
				"and cannot be put aside: %s",
			path, strerror(errno));
	else if (copy)
		terminal_remark(
			"samples of a run that was killed are kept in '%s'; the version of EMP "
			"that left them stores them in '%s' when it opens that",
			name, copy);
	else
		terminal_remark("samples that another version of EMP left are kept in '%s'; "
				"under its old name, '%s', that version stores them",
			name, path);
}

int pending_lock_older(struct book *book, int *ret_fd, struct error *err)
{
	bool other;
	off_t size;
	int r = lock_pending(book, 0, ret_fd, &size, &other);

	if (r == -EAGAIN)
		return error_say(err, -EBUSY,
			"the lab book '%s' is of an older version of EMP, which is taking samples; "
			"it is upgraded when that has ended",
			book->path);
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
	struct iovec parts[] = {
		{&record, sizeof(record)}, {(void *)executions, n * sizeof(*executions)}};

	if (clock_ns(CLOCK_MONOTONIC) - book->synced_ns >= NS_PER_S)
		return false;
	if (p->fd < 0 && !p->tried)
		open_pending(book, O_CREAT);
	p->tried = true;
	if (p->fd < 0)
		return false;
	memcpy(record.uid, run->uid, sizeof(record.uid));
	if (pwritev(p->fd, parts, 2, p->size) != (ssize_t)(parts[0].iov_len + parts[1].iov_len)) {
		int r = ftruncate(p->fd, p->size);

		(void)r;      /* a part that stays behind is no valid record */
		return false; /* no room: the book says so */
	}
	p->size += (off_t)(parts[0].iov_len + parts[1].iov_len);
	return true;
}

/* Samples that the book refuses, as records, and what is damaged. */
struct refused {
	char *records;
	size_t size;
	FILE *file; /* writes them; NULL: there are none */
	size_t n, damaged_bytes;
	struct error why; /* of the first */
};

static void keep_refused(struct refused *refused, const char *bytes, size_t n)
{
	if (!refused->file)
		refused->file = xopen_memstream(&refused->records, &refused->size);
	fwrite(bytes, 1, n, refused->file);
}

static void refused_clear(struct refused *refused)
{
	fclosep(&refused->file);
	freep(&refused->records);
}

/* A record of a damaged file may hold what the schema accepts and no reader does. NULL: it is
 * fine. */
static const char *wrong_member(const struct field_table *table, const void *object)
{
	for (const struct field *f = table->fields; f < table->fields + table->n; f++) {
		int64_t value;

		if (f->type == FIELD_TEXT || f->type == FIELD_CHARS || f->type == FIELD_REAL)
			continue;
		value = field_get(f, object);
		if ((value < f->min || value > field_max(f)) &&
			(f->presence == FIELD_REQUIRED || value != f->unknown))
			return f->name;
	}
	return NULL;
}

static int store_record(struct book *book, const struct pending_record *record,
	const struct execution *executions, struct error *err)
{
	const char *wrong = wrong_member(&sample_table, &record->sample)
				    ?: wrong_member(&counters_table, &record->changes);
	int r = sql_row(book, err, "SELECT 1 FROM run WHERE id = ? AND uid = ?", "it", record->run,
		record->uid);

	for (uint32_t i = 0; !wrong && i < record->n_executions; i++)
		wrong = wrong_member(&execution_table, &executions[i]);
	if (r == 0)
		return error_say(err, -ENOENT, "their run is not in it");
	if (r > 0 && wrong)
		return error_say(err, -ENOENT, "'%s' is impossible", wrong);
	if (r > 0)
		r = sql_row(book, err, "SAVEPOINT record", "");
	if (r < 0)
		return r;
	r = book_add_sample(
		book, record->run, &record->sample, executions, record->n_executions, err);
	if (r == 0)
		r = sql_insert(
			book, err, &counters_table, "", &record->changes, 1, "i", record->run);
	if (r < 0 && (book->failure & 0xff) == SQLITE_CONSTRAINT) {
		if (r != -EEXIST)
			r = error_say(err, -ENOENT, "%s", sqlite3_errmsg(book->db));
		sql_row(book, NULL, "ROLLBACK TO record", "");
	}
	sql_row(book, NULL, "RELEASE record", "");
	return r == -EEXIST ? 0 : r; /* stored by a process that died before it emptied the file */
}

/* Writes the refused samples to a file of their own, and makes the notice that says so. */
static int put_refused_aside(struct book *book, struct refused *refused, struct error *err)
{
	_cleanup_(freep) char *wanted = text_format("%s-pending.refused", book->file);
	_cleanup_(freep) char *name = book_free_name(wanted);
	_cleanup_(closep) int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct pending_head head = right_head();
	struct iovec parts[] = {{&head, sizeof(head)}, {NULL, 0}};

	text_stream_close(TAKE(refused->file), &refused->records);
	parts[1] = (struct iovec){refused->records, refused->size};
	if (fd < 0 || writev(fd, parts, 2) != (ssize_t)(sizeof(head) + refused->size)) {
		int e = errno ?: ENOSPC;

		if (fd >= 0)
			unlink(name);
		return error_os(err, -e, "cannot write the file '%s'", name);
	}
	if (refused->n > 0)
		book->pending.notice = text_format(
			"%s that waited beside the lab book '%s' cannot be stored in it (%s)",
			text_count(refused->n, "sample"), book->path, refused->why.text);
	if (refused->damaged_bytes > 0)
		text_append(&book->pending.notice, "; ",
			"in the samples that waited beside the lab book '%s', %s are damaged",
			book->path, text_count(refused->damaged_bytes, "byte"));
	text_append(&book->pending.notice, "; ", "kept in '%s'", name);
	book->pending.aside = TAKE(name);
	return 0;
}

/* Reads the record at `at`. False: there is no whole record. */
static bool read_record(
	const char *at, const char *end, struct pending_record *ret, size_t *ret_executions)
{
	if (end - at < (ssize_t)sizeof(*ret))
		return false;
	memcpy(ret, at, sizeof(*ret));
	*ret_executions = ret->n_executions * sizeof(struct execution);
	return ret->mark == MARK && ret->uid[sizeof(ret->uid) - 1] == '\0' &&
	       (size_t)(end - at) - sizeof(*ret) >= *ret_executions;
}

/* The place of the next whole record after bytes that are none; `end`: there is none. *ret_torn:
 * they are the beginning of a record that a process wrote when it was killed, which is not
 * damage. */
static const char *find_record(const char *from, const char *end, bool *ret_torn)
{
	static const uint32_t mark = MARK;
	size_t n = (size_t)(end - from) < sizeof(mark) ? (size_t)(end - from) : sizeof(mark);
	const char *at = from + 1;
	struct pending_record record;
	size_t executions;

	while (at < end && !read_record(at, end, &record, &executions))
		at++;
	*ret_torn = at == end && !memcmp(from, &mark, n);
	return at;
}

static int store_records(struct book *book, struct error *err)
{
	size_t size = (size_t)book->pending.size, length;
	_cleanup_(freep) char *content = xmalloc(size);
	_cleanup_(refused_clear) struct refused refused = {};
	const char *from = content + sizeof(struct pending_head), *end = content + size, *next;
	int r = 0;

	book->pending.stored = true;
	if (size <= sizeof(struct pending_head)) /* the book went on elsewhere, with them */
		return 0;
	if (pread(book->pending.fd, content, size, 0) != (ssize_t)size)
		return error_os(err, -errno, "cannot read the file '%s-pending'", book->file);
	for (; r == 0 && from < end; from = next) {
		_cleanup_(freep) struct execution *executions = NULL;
		struct pending_record record;
		struct error why = {};
		bool torn;

		if (!read_record(from, end, &record, &length)) {
			next = find_record(from, end, &torn);
			if (!torn) {
				keep_refused(&refused, from, (size_t)(next - from));
				refused.damaged_bytes += (size_t)(next - from);
			}
			continue;
		}
		next = from + sizeof(record) + length;
		executions = memcpy(xmalloc(length), from + sizeof(record), length); /* aligned */
		r = store_record(book, &record, executions, &why);
		if (r != -ENOENT) {
			if (r < 0 && err)
				*err = why;
			continue;
		}
		refused.why = refused.n > 0 ? refused.why : why;
		keep_refused(&refused, from, (size_t)(next - from));
		refused.n++;
		r = 0;
	}
	return r == 0 && refused.file ? put_refused_aside(book, &refused, err) : r;
}

int pending_store(struct book *book, struct error *err)
{
	if (book->pending.stored || book->pending.size <= (off_t)sizeof(struct pending_head))
		return 0;
	return BOOK_ATOMIC_RETRIED(book, store_records(book, err), err);
}

void pending_committed(struct book *book)
{
	struct pending *p = &book->pending;

	if (p->stored && ftruncate(p->fd, sizeof(struct pending_head)) == 0)
		p->size = sizeof(struct pending_head);
	p->stored = false;
	if (p->notice)
		terminal_remark("%s", p->notice);
	freep(&p->notice);
	freep(&p->aside);
}

void pending_rolled_back(struct book *book)
{
	book->pending.stored = false;
	if (book->pending.aside)
		unlink(book->pending.aside);
	freep(&book->pending.notice);
	freep(&book->pending.aside);
}

int pending_recover(struct book *book, struct error *err)
{
	int r = open_pending(book, 0);

	if (r == -EPROTONOSUPPORT)
		return error_say(err, r,
			"the file '%s-pending' is not EMP's, which keeps samples under that name; "
			"move it away",
			book->file);
	if (r != 0)
		return 0; /* there is none, its owner is alive, or it was put aside */
	r = pending_store(book, err);
	if (r == 0)
		return 0;
	return error_prefix(err, r,
		"cannot store the samples in '%s-pending'; move the file away to go on without "
		"them",
		book->file);
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
