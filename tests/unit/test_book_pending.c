/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that wait beside the book: whatever happens to their process, each is stored once. */
#include "tests/unit/book_file.h"
#include "tests/unit/frozen_clock.h"

#include "lib/base/text.h"
#include "lib/book/book.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

static bool keep_of(struct book *book, const struct run *run, uint32_t n, uint32_t source)
{
	struct sample sample = scratch_sample(n);
	struct execution e = {.source = source, .pid = 17, .pt_ns = n, .tick_ns = -1};
	struct counters changes = COUNTERS_NONE;

	changes.sample = n;
	changes.value[COUNTER_MAJOR_FAULTS] = 7;
	return book_keep_sample(book, run, &sample, &e, 1, &changes);
}

static bool keep(struct book *book, const struct run *run, uint32_t n)
{
	return keep_of(book, run, n, 1);
}

/* A run whose first sample is stored, so that the next may wait. */
static struct run begin(struct scratch *s)
{
	struct run run = scratch_begin(s, "true");

	book_sync_by_second(s->book);
	assert_done(s, book_begin(s->book, &s->err));
	scratch_source(s, "cron", SOURCE_PROCESS);
	scratch_source(s, "backup", SOURCE_PROCESS);
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
		assert_done(s, book_executions(book, run->id, samples[i].n, &executions,
				       &n_executions, &s->err));
		assert_int_equal(n_executions, 1);
		assert_int_equal(executions[0].pt_ns, i + 1);
	}
	return n;
}

/* Samples 2 to 4 are left by a process that is killed. `source`: of the last. */
static struct run leave_of(struct scratch *s, uint32_t source)
{
	struct run run = begin(s);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (uint32_t n = 2; n <= 4; n++)
			if (!keep_of(s->book, &run, n, n == 4 ? source : 1))
				_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	book_free(TAKE(s->book));
	return run;
}

static struct run leave(struct scratch *s)
{
	return leave_of(s, 1);
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
	enum { HEAD = 144 }; /* bytes before the first record */
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *saved = beside(s, ".saved");
	_cleanup_(freep) char *empty = beside(s, ".empty");
	struct stat st;

	copy(path, saved);
	copy(s->path, empty);
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size - 1; size > 0; size -= 13) {
		off_t records = size > HEAD ? size - HEAD : 0;
		size_t n;

		copy(saved, path);
		copy(empty, s->path);
		assert_int_equal(truncate(path, size), 0);
		n = count_samples(s, &run, BOOK_WRITE);
		assert_int_equal(n, 1 + records / ((st.st_size - HEAD) / 3));
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

/* Another process. On request, it adds a run to the book and closes it. */
static pid_t add_later(struct scratch *s, int *ret_tell)
{
	int tell[2];
	char told;
	pid_t pid;

	assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct run run;

		if (read(tell[0], &told, 1) != 1)
			_exit(1);
		scratch_open(s, BOOK_WRITE);
		run = scratch_begin(s, "xz");
		for (uint32_t n = 1; n <= 500; n++)
			scratch_add(s, run.id, n, NULL, 0);
		book_free(s->book);
		_exit(0);
	}
	close(tell[0]);
	*ret_tell = tell[1];
	return pid;
}

TEST_IN_BOOK(a_reader_that_has_recovered_keeps_its_locks_beside_a_writer)
{
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *log = beside(s, "-wal");
	_cleanup_(closep) int tell = -1;
	_cleanup_(freep) struct sample *samples = NULL;
	pid_t writer = add_later(s, &tell);
	int status;
	size_t n;

	scratch_open(s, BOOK_READ);
	assert_done(s, book_begin(s->book, &s->err));
	assert_done(s, book_rows(s->book, run.id, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 4);
	assert_int_equal(write(tell, "", 1), 1);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	assert_int_equal(access(log, F_OK), 0); /* who closes the book last removes it */
	freep(&samples);
	assert_done(s, book_rows(s->book, run.id, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 4);
	freep(&samples);
	assert_done(s, book_rows(s->book, run.id + 1, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 0); /* what it reads is from one moment */
	book_rollback(s->book);
	assert_done(s, book_rows(s->book, run.id + 1, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 500);
}

TEST_IN_BOOK(a_sample_that_the_book_refuses_is_put_aside_and_the_others_are_stored)
{
	_cleanup_(run_clear) struct run run = leave_of(s, 2);
	_cleanup_(freep) char *path = beside(s, "-pending"), *aside = beside(s, "-pending.refused");
	_cleanup_(freep) char *second = beside(s, "-pending.refused-2");

	sql(s->path, "DELETE FROM source WHERE id = 2");
	assert_int_equal(count_samples(s, &run, BOOK_WRITE), 3);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(count_samples(s, &run, BOOK_MEASURE), 3);
	assert_int_equal(access(second, F_OK), -1); /* once */
	sql(s->path, "INSERT INTO source(id, name, kind) VALUES (2, 'backup', 'process')");
	assert_int_equal(rename(aside, path), 0);
	assert_int_equal(count_samples(s, &run, BOOK_READ), 4);
	assert_sound(s->path);
}

TEST_IN_BOOK(a_damaged_record_does_not_make_the_run_unreadable)
{
	static const int64_t impossible = INT64_MAX; /* the schema accepts it */
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *aside = beside(s, "-pending.refused");
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
	off_t last = lseek(fd, 0, SEEK_END) - (off_t)sizeof(struct execution);

	assert_int_equal(pwrite(fd, &impossible, sizeof(impossible),
				 last + (off_t)offsetof(struct execution, pt_ns)),
		sizeof(impossible));
	assert_int_equal(count_samples(s, &run, BOOK_WRITE), 3);
	assert_int_equal(access(aside, F_OK), 0);
	assert_sound(s->path);
}

/* What opening the book says on standard error; the caller frees it. */
static char *say_when_opened(struct scratch *s, enum book_mode mode)
{
	_cleanup_(closep) int before = dup(STDERR_FILENO);
	_cleanup_(closep) int file = memfd_create("said", MFD_CLOEXEC);
	char *said = xcalloc(1, 4096);

	assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
	scratch_open(s, mode);
	book_free(TAKE(s->book));
	assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
	assert_true(pread(file, said, 4095, 0) >= 0);
	return said;
}

TEST_IN_BOOK(what_is_damaged_is_named_and_put_aside_and_the_samples_around_it_are_stored)
{
	enum { HEAD = 144 }; /* bytes before the first record */
	static const struct {
		int at;           /* of the record that is damaged, the mark or the length */
		size_t record, n; /* from 0; samples that are stored, of 4 */
		bool zeros;       /* up to the end of the file, as a power failure leaves them */
	} damages[] = {{0, 0, 3, false}, {0, 1, 3, false}, {0, 2, 3, false}, {4, 1, 3, false},
		{0, 1, 2, true}, {0, 0, 1, true}};
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *aside = beside(s, "-pending.refused");
	_cleanup_(freep) char *saved = beside(s, ".saved"), *empty = beside(s, ".empty");
	struct stat st;

	copy(path, saved);
	copy(s->path, empty);
	assert_int_equal(stat(path, &st), 0);
	for (size_t i = 0; i < ELEMENTS(damages); i++) {
		off_t record = (st.st_size - HEAD) / 3;
		off_t at = HEAD + (off_t)damages[i].record * record, end = at + record;
		_cleanup_(freep) char *said = NULL, *wrong = NULL;
		_cleanup_(book_freep) struct book *book = NULL;
		_cleanup_(freep) struct sample *samples = NULL;
		size_t n;
		int fd;

		copy(saved, path);
		copy(empty, s->path);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(pwrite(fd, "\xff\xff\xff\xff", 4, at + damages[i].at), 4);
		if (damages[i].zeros) {
			end = st.st_size;
			assert_int_equal(ftruncate(fd, at), 0);
			assert_int_equal(ftruncate(fd, end), 0);
		}
		close(fd);
		said = say_when_opened(s, i % 2 ? BOOK_READ : BOOK_WRITE);
		wrong = text_format("%s are damaged; kept in '%s'",
			text_count((uint64_t)(end - at), "byte"), aside);
		if (!strstr(said, wrong))
			fail_msg("%zu: '%s' is not in '%s'", i, wrong, said);
		assert_done(s, book_open(&book, s->path, BOOK_READ, &s->err));
		assert_done(s, book_rows(book, run.id, &sample_table, &samples, &n, &s->err));
		assert_int_equal(n, damages[i].n);
		assert_int_equal(stat(aside, &(struct stat){}), 0);
		assert_int_equal(unlink(aside), 0);
		assert_int_equal(access(path, F_OK), -1);
	}
}

TEST_IN_BOOK(of_a_file_without_samples_nothing_is_said)
{
	enum { HEAD = 144 };
	static const struct {
		const char *magic;
		off_t size;
	} files[] = {{"", 0}, {NULL, HEAD}, {"EMPpend", 24}, {"EMPpen2", 24}, {"EMPpen3", HEAD}};
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *saved = beside(s, ".saved");
	_cleanup_(freep) char *other = beside(s, "-pending.other");

	copy(path, saved);
	for (size_t i = 0; i < ELEMENTS(files); i++) {
		_cleanup_(freep) char *said = NULL;
		int fd;

		copy(saved, path);
		assert_int_equal(truncate(path, files[i].size), 0);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (files[i].size > 0 && files[i].magic) {
			assert_int_equal(pwrite(fd, files[i].magic, 8, 0), 8);
			assert_int_equal(pwrite(fd, "\xff", 1, 20), 1); /* of another version */
		}
		close(fd);
		said = say_when_opened(s, BOOK_WRITE);
		assert_string_equal(said, "");
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(access(other, F_OK), -1);
	}
}

TEST_IN_BOOK(samples_of_a_book_that_was_moved_away_are_put_aside_for_it)
{
	_cleanup_(run_clear) struct run left = leave(s), run = {};
	_cleanup_(freep) char *old = beside(s, ".old"), *its = beside(s, ".old-pending");
	_cleanup_(freep) char *aside = beside(s, "-pending.refused");

	assert_int_equal(rename(s->path, old), 0);
	scratch_open(s, BOOK_WRITE);
	run = begin(s);
	book_free(TAKE(s->book));
	assert_int_equal(count_samples(s, &run, BOOK_READ), 1);
	assert_int_equal(rename(aside, its), 0);
	assert_int_equal(rename(old, s->path), 0);
	assert_int_equal(count_samples(s, &left, BOOK_READ), 1);
	assert_int_equal(rename(s->path, old), 0);
	strcpy(s->path, old);
	assert_int_equal(count_samples(s, &left, BOOK_READ), 4);
}

TEST_IN_BOOK(samples_of_another_version_are_put_aside_whole)
{
	static const size_t changed[] = {
		6, 8, 20, 90}; /* the magic, the version, the schema, the structs */
	_cleanup_(run_clear) struct run run = leave(s);
	_cleanup_(freep) char *path = beside(s, "-pending"), *saved = beside(s, ".saved");
	_cleanup_(freep) char *wanted = beside(s, "-pending.other");

	copy(path, saved);
	for (size_t i = 0; i < ELEMENTS(changed); i++) {
		_cleanup_(freep) char *aside = i ? text_format("%s-%zu", wanted, i + 1)
						 : xstrdup(wanted);
		_cleanup_(freep) char *same = text_format("cmp '%s' '%s'", saved, aside);
		char byte;
		int fd = open(saved, O_RDWR | O_CLOEXEC);

		assert_int_equal(pread(fd, &byte, 1, (off_t)changed[i]), 1);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)changed[i]), 1);
		copy(saved, path);
		assert_int_equal(count_samples(s, &run, i % 2 ? BOOK_READ : BOOK_WRITE), 1);
		assert_int_equal(system(same), 0);
		byte ^= 1;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)changed[i]), 1);
		close(fd);
	}
	copy(saved, path);
	assert_int_equal(count_samples(s, &run, BOOK_READ), 4);
}

TEST_IN_BOOK(samples_that_wait_beside_a_link_are_found_beside_the_book)
{
	_cleanup_(freep) char *real = text_format("%s/real", s->directory);
	_cleanup_(freep) char *link = xstrdup(s->path);
	_cleanup_(run_clear) struct run run = {};

	book_free(TAKE(s->book));
	assert_int_equal(mkdir(real, 0700), 0);
	freep(&real);
	real = text_format("%s/real/emp.db", s->directory);
	assert_int_equal(rename(link, real), 0);
	assert_int_equal(symlink("real/emp.db", link), 0);
	scratch_open(s, BOOK_WRITE);
	run = leave(s);
	strcpy(s->path, real);
	assert_int_equal(count_samples(s, &run, BOOK_READ), 4);
}
