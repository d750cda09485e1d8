/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for a book that another process has locked. */
#include "lib/book/book_internal.h"

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* The process that has a write lock on the file, 0: not known. */
static int holder_of(const char *path, const char *locks)
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

/* A writer locks the index of the log; a program that knows no log, the book itself. */
static int find_holder(const struct book *book)
{
	_cleanup_(freep) char *locks = NULL, *index = text_format("%s-shm", book->path);

	if (!index || text_read_file(AT_FDCWD, "/proc/locks", &locks) < 0)
		return 0;
	return holder_of(index, locks) ?: holder_of(book->path, locks);
}

static void say(const struct book *book)
{
	char who[64] = "another program";
	_cleanup_(freep) char *sentence = NULL;
	int pid = find_holder(book);

	if (pid)
		snprintf(who, sizeof(who), "process %d", pid);
	sentence = text_format("waiting for the lab book '%s', which %s has locked", book->path, who);
	book->go_on(sentence ?: "waiting for the lab book", book->go_on_data);
}

/* SQLite's busy handler, called for the nth time: 1 to try again. */
static int wait_for_lock(void *data, int n)
{
	enum { PAUSE_US = 1000, LONGEST_US = 100000 };
	struct book *book = data;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC), waited_ns;

	if (n == 0) {
		book->waits_since_ns = now_ns;
		book->wait_said = false;
	}
	waited_ns = now_ns - book->waits_since_ns;
	if (!book->go_on && waited_ns >= book->patience_ms * NS_PER_MS)
		return 0;
	if (book->go_on && waited_ns >= NS_PER_S && !book->go_on(NULL, book->go_on_data))
		return 0;
	if (book->go_on && !book->wait_said && waited_ns >= book->patience_ms * NS_PER_MS) {
		say(book);
		book->wait_said = true;
	}
	usleep(n < LONGEST_US / PAUSE_US ? (useconds_t)(n + 1) * PAUSE_US : LONGEST_US);
	return 1;
}

void book_be_patient(struct book *book)
{
	sqlite3_busy_handler(book->db, wait_for_lock, book);
}

void book_patience(struct book *book, int ms)
{
	book->patience_ms = ms;
	book_be_patient(book);
}

void book_on_wait(struct book *book, book_wait *go_on, void *data)
{
	book->go_on = go_on;
	book->go_on_data = data;
}
