/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for a lock: see book_wait.h. */
#include "lib/book/book_wait.h"

#include "lib/book/book_internal.h"

#include <sys/stat.h>

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
