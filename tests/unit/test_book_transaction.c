/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A transaction is done again if the book moves to a copy, because its file cannot be written any
 * more. */
#include "tests/unit/scratch.h"

#include "lib/book/sql.h"

#include <errno.h>
#include <sys/syscall.h>

static dev_t full; /* the file system that is full; 0: none */

/* SQLite's writes come by here. */
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	struct stat st;

	if (full && fstat(fd, &st) == 0 && st.st_dev == full) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, n, at);
}

static int count_and_store(struct scratch *s, int *count)
{
	(*count)++;
	return sql_row(s->book, &s->err, "INSERT INTO machine(name) VALUES ('here')", "");
}

static int64_t count_machines(struct scratch *s)
{
	int64_t n = 0;

	assert_done(s, sql_row(s->book, &s->err, "SELECT count(*) FROM machine", ":I", &n));
	return n;
}

TEST_IN_BOOK(a_transaction_is_evaluated_once_while_the_file_can_be_written)
{
	int count = 0;

	assert_done(s, BOOK_ATOMIC_RETRIED(s->book, count_and_store(s, &count), &s->err));
	assert_int_equal(count, 1);
	assert_int_equal(count_machines(s), 1);
}

TEST_IN_DIRECTORY(a_transaction_is_evaluated_again_when_the_book_moves_to_a_copy)
{
	_cleanup_(freep) char *folder = NULL;
	struct stat here, there;
	int count = 0;

	if (stat(s->directory, &here) < 0 || stat("/dev/shm", &there) < 0 ||
		here.st_dev == there.st_dev)
		skip(); /* there is no other file system */
	unsetenv("TMPDIR");
	scratch_open(s, BOOK_MEASURE);
	full = here.st_dev;
	assert_done(s, BOOK_ATOMIC_RETRIED(s->book, count_and_store(s, &count), &s->err));
	full = 0;
	assert_string_not_equal(book_file(s->book), s->path);
	assert_int_equal(count, 2);
	assert_int_equal(count_machines(s), 1);

	folder = xstrndup(book_file(s->book), strlen(book_file(s->book)) - strlen("/book.db"));
	book_free(TAKE(s->book));
	assert_int_equal(nftw(folder, scratch_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}
