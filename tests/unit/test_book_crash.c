/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers that are killed, and several at once: what was committed is there, and the file is sound. */
#include "tests/unit/scratch.h"

#include "lib/base/text.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static struct error err;

enum { ROUNDS = 20, MOST_ROUNDS = 120, EXECUTIONS = 20 };

static void assert_sound(const char *path)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

/* Stores samples from `next` on until it is killed, most of them without a transaction; *stored is the last one that was
 * stored for certain. */
static int write_on(const char *path, const struct run *run, uint32_t next, volatile uint32_t *stored)
{
	const struct counters nothing = {};
	struct book *book = NULL;
	struct execution e[EXECUTIONS];

	if (book_open(&book, path, BOOK_WRITE, &err) < 0)
		return 1;
	for (uint32_t n = next;; n++) {
		struct sample sample = scratch_sample(n);

		if (n % 5 == 0) {
			book_sync_by_second(book);
			if (book_begin(book, &err) < 0)
				return 1;
		}
		for (int i = 0; i < EXECUTIONS; i++) {
			char name[32];

			snprintf(name, sizeof(name), "daemon-%d",
				i + (int)(n / 5 % 50)); /* now and then a new one */
			e[i] = (struct execution){.pt_ns = n, .tick_ns = -1};
			if (book_source(book, name, NULL, NULL, SOURCE_PROCESS, &e[i].source, &err) < 0)
				return 1;
		}
		if ((n % 5 == 0 || !book_keep_sample(book, run, &sample, e, EXECUTIONS, &nothing)) &&
			book_add_sample(book, run->id, &sample, e, EXECUTIONS, &err) < 0)
			return 1;
		if (n % 5 == 0 && book_commit(book, &err) < 0)
			return 1;
		*stored = n;
		if (n % 37 == 0 && book_checkpoint(book, &err) < 0)
			return 1;
	}
}

static int count(const struct execution *e, void *data)
{
	assert_int_equal(e->pt_ns, e->sample);
	++*(size_t *)data;
	return 0;
}

/* All of 1, 2, 3 … is there, each whole; nothing is missing that was said to be stored. */
static uint32_t check(struct scratch *s, int64_t run, uint32_t stored)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n, executions = 0;

	assert_done(s, book_open(&book, s->path, BOOK_WRITE, &s->err));
	assert_done(s, book_samples(book, run, &samples, &n, &s->err));
	assert_true(n == stored || n == stored + 1); /* the last one's commit may have come back to nobody */
	for (size_t i = 0; i < n; i++)
		assert_int_equal(samples[i].n, i + 1);
	assert_done(s, book_each_execution(book, run, count, &executions, &s->err));
	assert_int_equal(executions, n * EXECUTIONS);
	return (uint32_t)n;
}

TEST_IN_DIRECTORY(kill_9_loses_no_sample_that_was_stored)
{
	_cleanup_(run_clear) struct run run = scratch_run("INC128");
	volatile uint32_t *stored = mmap(
		NULL, sizeof(*stored), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned seed = (unsigned)check_seed((unsigned long)time(NULL));

	assert_true(stored != MAP_FAILED);
	assert_done(s, book_open(&s->book, s->path, BOOK_WRITE, &s->err));
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	book_free(TAKE(s->book));
	for (int round = 0; round < ROUNDS || (*stored == 0 && round < MOST_ROUNDS); round++) {
		uint32_t there = *stored;
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(write_on(s->path, &run, there + 1, stored));
		usleep(1000 + rand_r(&seed) % (60000 << (round / ROUNDS))); /* a busy disk is slow */
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status)); /* it did not fail before */
		*stored = check(s, run.id, *stored);
		assert_sound(s->path);
	}
	print_message("%u samples outlived %d kills\n", *stored, ROUNDS);
	assert_true(*stored > 0);
	munmap((void *)stored, sizeof(*stored));
}

static int write_100(const char *path)
{
	struct book *book = NULL;
	struct run run = scratch_run("xz");
	struct execution e = {.pt_ns = 1, .tick_ns = -1};

	if (book_open(&book, path, BOOK_WRITE, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	book_patience(book, 60000); /* the disk may be busy with other things */
	if (book_begin_run(book, &run, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (uint32_t n = 1; n <= 100; n++) {
		struct sample sample = scratch_sample(n);
		char name[16];

		snprintf(name, sizeof(name), "d%u",
			n % 30); /* the same names as the others, at the same time */
		if (book_source(book, name, NULL, NULL, SOURCE_PROCESS, &e.source, &err) < 0 ||
			book_add_sample(book, run.id, &sample, &e, 1, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
	}
	book_free(book);
	run_clear(&run);
	return 0;
}

TEST_IN_DIRECTORY(programs_that_make_and_fill_one_book_at_once_do_not_disturb_each_other)
{
	_cleanup_(sources_clear) struct sources daemons = {};
	struct run *runs;
	pid_t pids[6];
	size_t n;
	int status;

	for (size_t i = 0; i < ELEMENTS(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(write_100(s->path));
	}
	for (size_t i = 0; i < ELEMENTS(pids); i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_sound(s->path);
	assert_done(s, book_open(&s->book, s->path, BOOK_READ, &s->err));
	assert_done(s, book_runs(s->book, &runs, &n, &s->err));
	assert_int_equal(n, ELEMENTS(pids));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(runs[i].n_samples, 100);
		run_clear(&runs[i]);
	}
	free(runs);
	assert_done(s, book_sources(s->book, &daemons, &s->err));
	assert_int_equal(daemons.n, 30);
}

static int open_new(const char *path)
{
	struct book *book = NULL;
	int r = book_open(&book, path, BOOK_WRITE, &err);

	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	book_free(book);
	return r < 0;
}

TEST_IN_DIRECTORY(many_that_make_a_book_at_once_all_have_it)
{
	pid_t pids[6];
	int status;

	for (int round = 0; round < 60; round++) {
		_cleanup_(freep) char *path = text_format("%s-%d", s->path, round);

		for (size_t i = 0; i < ELEMENTS(pids); i++) {
			pids[i] = fork();
			if (pids[i] == 0)
				_exit(open_new(path));
		}
		for (size_t i = 0; i < ELEMENTS(pids); i++) {
			assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
			assert_int_equal(status, 0);
		}
	}
}
