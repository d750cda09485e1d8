/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writers that are killed, and several at once: what was committed is there, and the file is
 * sound. */
#include "tests/unit/book_file.h"

#include "lib/base/text.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static struct error err;

enum { ROUNDS = 20, MOST_ROUNDS = 120, EXECUTIONS = 20 };

/* Stores samples from `next` on until it is killed, most of them without a transaction; *stored is
 * the last one that was stored for certain. */
static int write_on(
	const char *path, const struct run *run, uint32_t next, volatile uint32_t *stored)
{
	struct counters nothing = COUNTERS_NONE;
	struct book *book = NULL;
	struct execution e[EXECUTIONS];

	if (book_open(&book, path, BOOK_WRITE, &err) < 0)
		return 1;
	for (uint32_t n = next;; n++) {
		struct sample sample = scratch_sample(n);

		nothing.sample = n;
		if (n % 5 == 0) {
			book_sync_by_second(book);
			if (book_begin(book, &err) < 0)
				return 1;
		}
		for (int i = 0; i < EXECUTIONS; i++) {
			const char *name = text_brief(
				"daemon-%d", i + (int)(n / 5 % 50)); /* now and then a new one */

			e[i] = (struct execution){.pt_ns = n, .tick_ns = -1};
			if (book_source(book, &(struct source){.name = (char *)name}, &e[i].source,
				    &err) < 0)
				return 1;
		}
		if ((n % 5 == 0 ||
			    !book_keep_sample(book, run, &sample, e, EXECUTIONS, &nothing)) &&
			book_add_sample(book, run->id, &sample, e, EXECUTIONS, &err) < 0)
			return 1;
		if (n % 5 == 0 && book_commit(book, &err) < 0)
			return 1;
		*stored = n;
		if (n % 37 == 0 && book_checkpoint(book, &err) < 0)
			return 1;
	}
}

static int count(void *data, const struct execution *e, struct error *unused)
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
	assert_done(s, book_rows(book, run, &sample_table, &samples, &n, &s->err));
	/* the last one's commit may have come back to nobody */
	assert_true(n == stored || n == stored + 1);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(samples[i].n, i + 1);
	assert_done(s, book_each_execution(book, run, count, &executions, &s->err));
	assert_int_equal(executions, n * EXECUTIONS);
	return (uint32_t)n;
}

TEST_IN_DIRECTORY(kill_9_loses_no_sample_that_was_stored)
{
	_cleanup_(run_clear) struct run run = {};
	volatile uint32_t *stored = mmap(
		NULL, sizeof(*stored), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned seed = (unsigned)check_seed((unsigned long)time(NULL));

	assert_true(stored != MAP_FAILED);
	scratch_open(s, BOOK_WRITE);
	run = scratch_begin(s, "INC128");
	book_free(TAKE(s->book));
	for (int round = 0; round < ROUNDS || (*stored == 0 && round < MOST_ROUNDS); round++) {
		uint32_t there = *stored;
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(write_on(s->path, &run, there + 1, stored));
		/* a busy disk is slow */
		usleep(1000 + rand_r(&seed) % (60000 << (round / ROUNDS)));
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
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(run_clear) struct run run = scratch_run("xz");
	struct execution e = {.pt_ns = 1, .tick_ns = -1};
	int r = book_open(&book, path, BOOK_WRITE, &err);

	if (r == 0) {
		book_patience(book, 60000); /* the disk may be busy with other things */
		r = book_begin_run(book, &run, &err);
	}
	for (uint32_t n = 1; r == 0 && n <= 100; n++) {
		struct sample sample = scratch_sample(n);

		/* the same names as the others, at the same time */
		r = book_source(book, &(struct source){.name = (char *)text_brief("d%u", n % 30)},
			&e.source, &err);
		if (r == 0)
			r = book_add_sample(book, run.id, &sample, &e, 1, &err);
	}
	return r;
}

/* What six processes do at once, and all of them well. */
static void assert_six(int (*work)(const char *path), const char *path)
{
	pid_t pids[6];
	int status;

	for (size_t i = 0; i < ELEMENTS(pids); i++) {
		pids[i] = fork();
		if (pids[i] > 0)
			continue;
		if (work(path) == 0)
			_exit(0);
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	for (size_t i = 0; i < ELEMENTS(pids); i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

TEST_IN_DIRECTORY(programs_that_make_and_fill_one_book_at_once_do_not_disturb_each_other)
{
	_cleanup_(sources_clear) struct sources daemons = {};
	struct run *runs;
	size_t n;

	assert_six(write_100, s->path);
	assert_sound(s->path);
	scratch_open(s, BOOK_READ);
	assert_done(s, book_runs(s->book, &runs, &n, &s->err));
	assert_int_equal(n, 6);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(runs[i].n_samples, 100);
	fields_free(&run_table, runs, n);
	assert_done(s, book_sources(s->book, &daemons, &s->err));
	assert_int_equal(daemons.n, 30);
}

static int open_new(const char *path)
{
	_cleanup_(book_freep) struct book *book = NULL;

	return book_open(&book, path, BOOK_WRITE, &err);
}

TEST_IN_DIRECTORY(many_that_make_a_book_at_once_all_have_it)
{
	for (int round = 0; round < 60; round++)
		assert_six(open_new, text_brief("%s-%d", s->path, round));
}
