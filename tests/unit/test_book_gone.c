/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Books that other processes remove, replace or lock while they are open, and who may read them. */
#include "tests/unit/holder.h"
#include "tests/unit/scratch.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sqlite3.h>

static int add(struct scratch *s, const struct run *run, uint32_t n)
{
	struct sample sample = scratch_sample(n);

	return book_add_sample(s->book, run->id, &sample, NULL, 0, &s->err);
}

/* The copy that the sentence names. */
static void copy_has_samples(struct scratch *s, uint32_t n)
{
	_cleanup_(freep) char *path = text_format("%s.saved-%d", s->path, getpid());
	_cleanup_(book_freep) struct book *copy = NULL;
	_cleanup_(run_clear) struct run run = {};

	assert_says(s, "was removed or replaced while it was open; all it held is saved in '");
	assert_says(s, path);
	assert_done(s, book_open(&copy, path, BOOK_READ, &s->err));
	assert_done(s, book_get_run(copy, 1, &run, &s->err));
	assert_int_equal(run.n_samples, n);
}

TEST_IN_BOOK(a_removed_book_is_noticed_and_saved_at_the_next_commit)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC");

	assert_done(s, add(s, &run, 1));
	unlink(s->path);
	assert_int_equal(add(s, &run, 2), -ESTALE);
	copy_has_samples(s, 2);
	assert_int_equal(add(s, &run, 3), -ESTALE); /* once */
	assert_says(s, "what was stored since is lost");
}

TEST_IN_BOOK(so_is_one_that_was_replaced)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC");
	_cleanup_(freep) char *other = text_format("%s.other", s->path);
	_cleanup_(book_freep) struct book *book = NULL;

	assert_done(s, book_open(&book, other, BOOK_WRITE, &s->err));
	book_free(TAKE(book));
	assert_int_equal(rename(other, s->path), 0);
	assert_int_equal(book_end_run(s->book, run.id, RUN_DONE, NULL, &s->err), -ESTALE);
	copy_has_samples(s, 0);
}

static bool take_lock(const void *path)
{
	sqlite3 *db;

	return sqlite3_open(path, &db) == SQLITE_OK &&
	       sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
}

struct waiting {
	pid_t holder;
	int asked;
	char said[512];
	bool interrupted;
};

/* Once it was said who holds the lock, that process ends. */
static bool wait_until_said(const char *sentence, void *data)
{
	struct waiting *w = data;

	w->asked++;
	if (!sentence)
		return !w->interrupted;
	assert_string_equal(w->said, "");
	snprintf(w->said, sizeof(w->said), "%s", sentence);
	kill(w->holder, SIGKILL);
	return true;
}

TEST_IN_BOOK(a_lock_is_waited_for_beyond_the_patience_with_a_sentence)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC");
	_cleanup_(freep) char *words = NULL;
	struct waiting w = {};

	w.holder = holder_start(take_lock, s->path);
	book_patience(s->book, 10);
	book_on_wait(s->book, wait_until_said, &w);
	assert_done(s, add(s, &run, 1));
	words = text_format(
		"waiting for the lab book '%s', which process %d has locked", s->path, w.holder);
	assert_string_equal(w.said, words);
	assert_int_equal(waitpid(w.holder, NULL, 0), w.holder);
}

TEST_IN_BOOK(waiting_can_be_ended)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC");
	struct waiting w = {.interrupted = true};

	w.holder = holder_start(take_lock, s->path);
	book_on_wait(s->book, wait_until_said, &w);
	assert_int_equal(add(s, &run, 1), -EBUSY);
	assert_string_equal(w.said, "");
	holder_kill(w.holder);
	assert_done(s, add(s, &run, 1));
}

/* Its files too: the log is there while the book is open. */
TEST_IN_BOOK(roots_book_is_for_root_and_its_group_alone)
{
	static const char *const endings[] = {"", "-wal", "-shm"};
	const struct group *group = getgrnam("emp");
	_cleanup_(run_clear) struct run run = scratch_begin(s, "INC");
	mode_t mask = umask(0), mode = group ? 0660 : 0600;

	umask(mask);
	if (geteuid())
		mode = 0644 & ~mask;
	for (size_t i = 0; i < ELEMENTS(endings); i++) {
		_cleanup_(freep) char *path = text_format("%s%s", s->path, endings[i]);
		struct stat st;

		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, mode);
		assert_int_equal(st.st_gid, group && !geteuid() ? group->gr_gid : getegid());
	}
}

/* Of SQLite's system calls: there is no room for what begins with this path; and no log of a copy
 * can be opened. */
static const char *full;
static bool no_copy;

static ssize_t write_at(int fd, const void *bytes, size_t n, off_t at)
{
	_cleanup_(freep) char *name = text_format("/proc/self/fd/%d", fd);
	char path[4096] = "";

	if (full && readlink(name, path, sizeof(path) - 1) > 0 &&
		!strncmp(path, full, strlen(full))) {
		errno = ENOSPC;
		return -1;
	}
	return pwrite(fd, bytes, n, at);
}

static int open_file(const char *path, int flags, int mode)
{
	if (no_copy && strstr(path, "/emp-book-") && strstr(path, "-wal")) {
		errno = EACCES;
		return -1;
	}
	return open(path, flags, mode);
}

/* Opens the book as a measurement does, and begins a run in it. */
static struct run begin_to_measure(struct scratch *s)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	full = NULL;
	no_copy = false;
	vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_at);
	vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_at);
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_file);
	book_free(TAKE(s->book));
	assert_done(s, book_open(&s->book, s->path, BOOK_MEASURE, &s->err));
	return scratch_begin(s, "INC");
}

TEST_IN_BOOK(a_book_stays_in_use_if_its_copy_cannot_be_opened)
{
	_cleanup_(run_clear) struct run run = begin_to_measure(s);

	full = s->path;
	no_copy = true;
	assert_int_equal(add(s, &run, 1), -ENOSPC);
	assert_string_equal(book_file(s->book), s->path);
	assert_int_equal(book_end_run(s->book, run.id, RUN_FAILED, NULL, &s->err), -ENOSPC);
	full = NULL;
	no_copy = false;
	assert_done(s, add(s, &run, 1));
	assert_done(s, book_end_run(s->book, run.id, RUN_DONE, NULL, &s->err));
}

TEST_IN_BOOK(a_book_whose_disk_is_full_goes_on_in_a_copy)
{
	_cleanup_(run_clear) struct run run = begin_to_measure(s), ended = {};
	_cleanup_(freep) char *copy = NULL;
	struct stat here, there;

	if (stat(s->path, &here) < 0 || stat("/dev/shm", &there) < 0 || here.st_dev == there.st_dev)
		skip();
	assert_done(s, add(s, &run, 1));
	full = s->path;
	assert_done(s, add(s, &run, 2));
	full = NULL;
	assert_done(s, book_end_run(s->book, run.id, RUN_DONE, NULL, &s->err));
	assert_done(s, book_get_run(s->book, 1, &ended, &s->err));
	assert_int_equal(ended.n_samples, 2);
	copy = strdup(book_file(s->book));
	assert_non_null(strstr(copy, "/emp-book-"));
	book_free(TAKE(s->book));
	assert_int_equal(unlink(copy), 0);
	*strrchr(copy, '/') = '\0';
	assert_int_equal(rmdir(copy), 0);
}
