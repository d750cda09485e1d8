/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait beside the book: whatever happens to their process, each is stored once. */
#include "tests/unit/frozen_clock.h"
#include "tests/unit/scratch.h"

#include "lib/base/text.h"
#include "lib/book/book.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static bool keep(struct book *book, const struct run *run, uint32_t n)
{
	struct sample sample = scratch_sample(n);
	struct execution e = {.source = 1, .pid = 17, .pt_ns = n, .tick_ns = -1};
	struct counters changes = COUNTERS_NONE;

	changes.sample = n;
	changes.value[COUNTER_MAJOR_FAULTS] = 7;
	return book_keep_sample(book, run, &sample, &e, 1, &changes);
}

/* A run whose first sample is stored, so that the next may wait. */
static struct run begin(struct scratch *s)
{
	struct run run = scratch_begin(s, "true");

	book_sync_by_second(s->book);
	assert_done(s, book_begin(s->book, &s->err));
	scratch_source(s, "cron", SOURCE_PROCESS);
	scratch_add(s, run.id, 1, NULL, 0);
	assert_done(s, book_commit(s->book, &s->err));
	return run;
}

static size_t count_samples(struct scratch *s, const struct run *run, enum book_mode mode)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) struct execution *executions = NULL;
	size_t n, n_executions;

	assert_done(s, book_open(&book, s->path, mode, &s->err));
	assert_done(s, book_rows(book, run->id, &sample_table, &samples, &n, &s->err));
	for (size_t i = 1; i < n; i++) {
		freep(&executions);
		assert_int_equal(samples[i].n, i + 1);
		assert_int_equal(samples[i].et_ns, scratch_sample((uint32_t)i + 1).et_ns);
		assert_done(
			s, book_executions(book, run->id, samples[i].n, &executions, &n_executions, &s->err));
		assert_int_equal(n_executions, 1);
		assert_int_equal(executions[0].pt_ns, i + 1);
	}
	return n;
}

/* Samples 2 to 4 are left by a process that is killed. */
static struct run leave(struct scratch *s)
{
	struct run run = begin(s);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (uint32_t n = 2; n <= 4; n++)
			if (!keep(s->book, &run, n))
				_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	book_free(TAKE(s->book));
	return run;
}

static char *beside(const struct scratch *s, const char *ending)
{
	return text_format("%s%s", s->path, ending);
}

TEST_IN_BOOK(a_sample_that_waits_is_stored_before_the_book_is_used)
{
	_cleanup_(run_clear) struct run run = begin(s);
	_cleanup_(freep) struct counters *counters = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	_cleanup_(freep) char *path = beside(s, "-pending");
	size_t n;

	assert_true(keep(s->book, &run, 2));
	assert_true(keep(s->book, &run, 3));
	assert_done(s, book_rows(s->book, run.id, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 3);
	assert_done(s, book_rows(s->book, run.id, &counters_table, &counters, &n, &s->err));
	assert_int_equal(n, 2);
	assert_int_equal(counters[1].value[COUNTER_MAJOR_FAULTS], 7);
	assert_true(keep(s->book, &run, 4));
	book_free(TAKE(s->book));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(count_samples(s, &run, BOOK_READ), 4);
}

TEST_IN_BOOK(a_transaction_stores_it_too_and_a_rollback_does_not_lose_it)
{
	_cleanup_(run_clear) struct run run = begin(s);
	struct execution e = {.source = 1, .pt_ns = 3, .tick_ns = -1};

	assert_true(keep(s->book, &run, 2));
	assert_done(s, book_begin(s->book, &s->err));
	scratch_add(s, run.id, 3, &e, 1);
	book_rollback(s->book);
	assert_done(s, book_begin(s->book, &s->err));
	scratch_add(s, run.id, 3, &e, 1);
	assert_done(s, book_commit(s->book, &s->err));
	book_free(TAKE(s->book));
	assert_int_equal(count_samples(s, &run, BOOK_READ), 3);
}

TEST_IN_BOOK(after_a_second_a_sample_does_not_wait)
{
	_cleanup_(run_clear) struct run run = {};

	frozen_ns = clock_ns(CLOCK_MONOTONIC);
	run = begin(s);
	frozen_ns += NS_PER_S - 1;
	assert_true(keep(s->book, &run, 2));
	frozen_ns++;
	assert_false(keep(s->book, &run, 3));
	frozen_ns = 0;
}

TEST_IN_BOOK(what_a_killed_process_left_is_stored_by_the_next_writer)
{
	_cleanup_(run_clear) struct run run = leave(s);

	assert_int_equal(count_samples(s, &run, BOOK_WRITE), 4);
}

TEST_IN_BOOK(and_by_the_next_reader)
{
	_cleanup_(run_clear) struct run run = leave(s);

	assert_int_equal(count_samples(s, &run, BOOK_READ), 4);
	assert_int_equal(count_samples(s, &run, BOOK_READ), 4);
}

static void copy(const char *from, const char *to)
{
	_cleanup_(freep) char *command = text_format("cp '%s' '%s'", from, to);

	assert_non_null(command);
	assert_int_equal(system(command), 0);
}

TEST_IN_BOOK(a_process_killed_after_the_commit_stores_nothing_twice)
{
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *saved = beside(s, ".saved");

	copy(path, saved);
	assert_int_equal(count_samples(s, &run, BOOK_WRITE), 4);
	assert_int_equal(access(path, F_OK), -1);
	copy(saved, path);
	assert_int_equal(count_samples(s, &run, BOOK_WRITE), 4);
}

TEST_IN_BOOK(a_torn_record_is_dropped_wherever_it_ends)
{
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *saved = beside(s, ".saved");
	_cleanup_(freep) char *empty = beside(s, ".empty");
	struct stat st;

	copy(path, saved);
	copy(s->path, empty);
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size - 1; size > 0; size -= 13) {
		size_t n;

		copy(saved, path);
		copy(empty, s->path);
		assert_int_equal(truncate(path, size), 0);
		if (size < 24)
			break;
		n = count_samples(s, &run, BOOK_WRITE);
		assert_true(n < 4 && n >= (size_t)(1 + (size - 24) * 3 / st.st_size));
	}
}

TEST_IN_BOOK(samples_of_another_book_are_not_stored_in_this_one)
{
	_cleanup_(run_clear) struct run left = leave(s), run = {};

	assert_int_equal(unlink(s->path), 0);
	scratch_open(s, BOOK_WRITE);
	run = begin(s);
	assert_int_equal(run.id, left.id);
	book_free(TAKE(s->book));
	assert_int_equal(count_samples(s, &run, BOOK_READ), 1);
}

TEST_IN_BOOK(another_file_of_that_name_is_left_alone)
{
	_cleanup_(freep) char *path = beside(s, "-pending");
	char there[32] = "";
	int fd;

	book_free(TAKE(s->book));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "a letter", 8), 8);
	assert_int_equal(book_open(&s->book, s->path, BOOK_WRITE, &s->err), -EPROTONOSUPPORT);
	assert_non_null(strstr(s->err.text, "emp.db-pending'"));
	assert_int_equal(pread(fd, there, sizeof(there), 0), 8);
	assert_string_equal(there, "a letter");
	close(fd);
	scratch_open(s, BOOK_READ);
}

TEST_IN_BOOK(of_two_processes_only_one_keeps_samples)
{
	_cleanup_(book_freep) struct book *other = NULL;
	_cleanup_(run_clear) struct run run = begin(s);
	_cleanup_(run_clear) struct run second = {};
	struct scratch t = *s;

	assert_true(keep(s->book, &run, 2));
	assert_done(s, book_open(&other, s->path, BOOK_WRITE, &s->err));
	t.book = other;
	second = begin(&t);
	assert_false(keep(other, &second, 2));
	assert_true(keep(s->book, &run, 3));
}
