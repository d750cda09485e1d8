/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Books of older versions: brought up to date whole or not at all, with all that they hold; and the
 * tables that have no functions yet. */
#include "tests/unit/book_file.h"

#include "lib/base/text.h"
#include "lib/book/book.h"
#include "lib/record/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/file.h>
#include <sys/wait.h>

static int writes_left = -1; /* then the process is killed; -1: never */

/* SQLite's writes come by here. */
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	if (writes_left == 0)
		raise(SIGKILL);
	if (writes_left > 0)
		writes_left--;
	return syscall(SYS_pwrite64, fd, bytes, n, at);
}

/* The sentence of SQLite must have these words. */
static void refused(const char *path, const char *text, const char *words)
{
	sqlite3 *db = open_file(path);
	char *message = NULL;

	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, &message) & 0xff, SQLITE_CONSTRAINT);
	if (!strstr(message, words))
		fail_msg("'%s' is not in: %s", words, message);
	sqlite3_free(message);
	sqlite3_close(db);
}

static void upgrade(struct scratch *s)
{
	scratch_open(s, BOOK_WRITE);
	book_free(TAKE(s->book));
}

TEST_IN_DIRECTORY(a_book_of_version_1_has_all_that_it_held)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(sources_clear) struct sources sources = {};
	_cleanup_(freep) struct execution *executions = NULL;
	size_t n;

	load(s, "book-v1.sql");
	scratch_open(s, BOOK_READ); /* even to read it */
	assert_done(s, book_get_run(s->book, 1, &run, &s->err));
	assert_string_equal(run.program, "xz");
	assert_string_equal(run.command, "[\"xz\",\"-9\"]");
	assert_int_equal(run.kind, RUN_MEASURE);
	assert_int_equal(run.state, RUN_INTERRUPTED);
	assert_int_equal(strlen(run.uid), UID_SIZE - 1);
	assert_int_equal(run.n_samples, 2);
	assert_done(s, book_sources(s->book, &sources, &s->err));
	assert_string_equal(sources.items[0].unit, "cron.service");
	assert_int_equal(sources.items[0].kind, SOURCE_PROCESS);
	assert_int_equal(sources.items[1].kind, SOURCE_KERNEL);
	assert_done(s, book_executions(s->book, 1, 1, &executions, &n, &s->err));
	assert_int_equal(n, 2);
	assert_int_equal(executions[0].pt_ns, 7);
	assert_int_equal(executions[0].pid, 12);
	scratch_open(s, BOOK_WRITE);
	run.program[0] = 'X';
	assert_done(s, book_begin_run(s->book, &run, &s->err));
	assert_int_equal(run.id, 2);
}

TEST_IN_DIRECTORY(reading_an_older_book_changes_nothing_and_writing_keeps_a_copy)
{
	_cleanup_(freep) char *copy = text_format("%s.version2", s->path),
			      *second = text_format("%s-2", copy),
			      *half = text_format("%s.copying", s->path);
	struct run *runs = NULL;
	size_t n = 0;

	load(s, "0.1.0/book.sql");
	for (int i = 0; i < 2; i++) {
		scratch_open(s, BOOK_READ);
		assert_done(s, book_runs(s->book, &runs, &n, &s->err));
		assert_int_equal(n, 11);
		fields_free(&run_table, runs, n);
		book_free(TAKE(s->book));
		assert_answer(s->path, "PRAGMA user_version", "2");
		assert_int_equal(access(copy, F_OK), -1);
	}
	upgrade(s);
	assert_answer(s->path, "SELECT count(*) FROM sample JOIN run ON id = run", "205");
	assert_answer(copy, "PRAGMA user_version", "2");
	assert_answer(copy, "PRAGMA integrity_check", "ok");
	assert_answer(copy, "SELECT count(*) FROM sentinels", "125");
	assert_int_equal(access(half, F_OK), -1);
	upgrade(s); /* it is the newest now */
	assert_int_equal(access(second, F_OK), -1);
	unlink(s->path);
	load(s, "0.1.0/book.sql");
	upgrade(s); /* a copy is never overwritten */
	assert_answer(second, "PRAGMA user_version", "2");
}

static const char *const counts[] = {"run", "sample", "execution", "calibration", "profile",
	"profile_run", "profile_l_sample", "cutoff", "environment", "machine"};

TEST_IN_DIRECTORY(a_book_of_0_1_0_has_all_that_it_held)
{
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(freep) struct counters *counters = NULL;
	struct resume_point *points;
	char *before[ELEMENTS(counts)];
	double per_second = 0;
	size_t n;

	load(s, "0.1.0/book.sql");
	for (size_t i = 0; i < ELEMENTS(counts); i++)
		before[i] = ask(s->path, text_brief("SELECT count(*) FROM %s", counts[i]));
	upgrade(s);
	for (size_t i = 0; i < ELEMENTS(counts); i++) {
		assert_answer(s->path, text_brief("SELECT count(*) FROM %s", counts[i]), before[i]);
		free(before[i]);
	}
	assert_sound(s->path);
	assert_answer(s->path, "SELECT count(DISTINCT uid) FROM run", "11");
	assert_answer(s->path, "SELECT group_concat(kind) FROM (SELECT kind FROM run ORDER BY id)",
		"short,long,measure,import,import,measure,measure,measure,short,long,short");
	assert_answer(s->path,
		"SELECT group_concat(kind) FROM (SELECT DISTINCT kind FROM source ORDER BY 1)",
		"kernel,process");

	scratch_open(s, BOOK_READ);
	assert_int_equal(book_get_inc(s->book, 1, NULL, &per_second, &s->err), 1);
	assert_true(per_second == 3694390776);
	assert_done(s, book_rows(s->book, 3, &counters_table, &counters, &n, &s->err));
	assert_int_equal(n, 5);
	assert_done(s, book_rows(s->book, 11, &resume_point_table, &points, &n, &s->err));
	assert_int_equal(n, 1);
	assert_int_equal(points[0].n, 7);
	fields_free(&resume_point_table, points, n);
	assert_done(s, book_get_profile(s->book, 0, "old", &profile, &s->err));
	assert_int_equal(profile.cpu, 1); /* its short run's */
}

TEST_IN_DIRECTORY(what_a_book_of_version_3_did_not_record_is_unknown)
{
	_cleanup_(freep) struct execution *executions = NULL;
	_cleanup_(freep) struct counters *counters = NULL;
	_cleanup_(freep) struct sample *samples = NULL;
	size_t n;

	load(s, "book-v3.sql");
	scratch_open(s, BOOK_READ);
	assert_done(s, book_rows(s->book, 1, &sample_table, &samples, &n, &s->err));
	assert_int_equal(n, 2);
	assert_true(samples[0].et_ns > 110000000 && samples[0].pt_ns > 0);
	assert_int_equal(samples[0].wait_ns, -1);
	assert_done(s, book_executions(s->book, 1, 1, &executions, &n, &s->err));
	assert_int_equal(n, 2);
	assert_true(executions[0].pt_ns > 0);
	assert_int_equal(executions[0].cpu, -1);
	assert_int_equal(executions[0].same_cpu_ns, -1);
	assert_done(s, book_rows(s->book, 1, &counters_table, &counters, &n, &s->err));
	assert_int_equal(n, 2);
	assert_true(counters_know(&counters[0], COUNTER_VOLUNTARY));
	assert_false(counters_know(&counters[0], COUNTER_INTERRUPTS));
}

TEST_IN_DIRECTORY(a_book_of_version_6_has_all_that_it_held)
{
	load(s, "book-v6.sql");
	upgrade(s);
	assert_answer(s->path, "SELECT count(*) FROM run", "2");
	assert_answer(s->path, "SELECT sum(et_ns) FROM sample", "623994922");
	assert_answer(s->path, "SELECT count(*) FROM execution", "8");
}

TEST_IN_DIRECTORY(the_number_of_a_removed_run_is_not_given_again)
{
	_cleanup_(run_clear) struct run run = {};

	load(s, "0.1.0/book.sql");
	sql(s->path, "DELETE FROM run WHERE id = 11");
	scratch_open(s, BOOK_WRITE);
	run = scratch_begin(s, "xz");
	assert_int_equal(run.id, 12);
}

TEST_IN_DIRECTORY(a_purpose_that_is_no_kind_becomes_an_import)
{
	_cleanup_(run_clear) struct run run = {};

	load(s, "0.1.0/book.sql");
	sql(s->path, "UPDATE run SET purpose = 'my own' WHERE id = 4");
	scratch_open(s, BOOK_WRITE);
	assert_done(s, book_get_run(s->book, 4, &run, &s->err));
	assert_int_equal(run.kind, RUN_IMPORT);
}

TEST_IN_DIRECTORY(an_upgrade_that_fails_leaves_the_book_as_it_was)
{
	_cleanup_(freep) char *copy = text_format("%s.version2", s->path);

	load(s, "0.1.0/book.sql");
	sql(s->path, "PRAGMA ignore_check_constraints = ON; UPDATE run SET resolution_ns = 0 "
		     "WHERE id = 4");
	assert_true(book_open(&s->book, s->path, BOOK_WRITE, &s->err) < 0);
	assert_says(s, "CHECK constraint failed");
	assert_int_equal(access(copy, F_OK), -1);
	assert_answer(s->path, "PRAGMA user_version", "2");
	assert_answer(s->path, "SELECT count(*) FROM run WHERE purpose = 'measure'", "4");
	assert_answer(s->path, "SELECT count(*) FROM sentinels", "125");
	sql(s->path, "UPDATE run SET resolution_ns = 1 WHERE id = 4");
	upgrade(s);
	assert_answer(s->path, "SELECT count(*) FROM run WHERE kind = 'measure'", "4");
}

TEST_IN_DIRECTORY(samples_that_an_older_version_left_are_kept_beside_the_copy_of_its_book)
{
	static const char left[] = "EMPpend\0 and the samples of a run that was killed";
	_cleanup_(freep) char *path = text_format("%s-pending", s->path);
	_cleanup_(freep) char *kept = text_format("%s.version3-pending", s->path);
	_cleanup_(freep) char *copy = text_format("%s.version3", s->path);
	char there[sizeof(left)] = "";
	int fd;

	load(s, "book-v3.sql");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, left, sizeof(left)), sizeof(left));
	scratch_open(s, BOOK_READ); /* leaves all as it is */
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(book_open(&s->book, s->path, BOOK_WRITE, &s->err), -EBUSY);
	assert_says(s, "is upgraded when that has ended");
	assert_answer(s->path, "PRAGMA user_version", "3");
	assert_int_equal(access(copy, F_OK), -1);
	close(fd);
	upgrade(s);
	assert_int_equal(access(path, F_OK), -1);
	fd = open(kept, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, there, sizeof(there)), sizeof(there));
	assert_memory_equal(there, left, sizeof(left));
	close(fd);
	assert_answer(copy, "PRAGMA user_version", "3");
	upgrade(s);
}

TEST_IN_DIRECTORY(a_file_for_samples_without_any_is_removed_by_an_upgrade)
{
	static const char heads[][24] = {"EMPpend", "EMPpen2", ""};
	_cleanup_(freep) char *path = text_format("%s-pending", s->path);
	_cleanup_(freep) char *kept = text_format("%s.version3-pending", s->path);

	for (size_t i = 0; i < ELEMENTS(heads); i++) {
		size_t n = heads[i][0] ? sizeof(heads[i]) : 0;
		int fd;

		unlink(s->path);
		load(s, "book-v3.sql");
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, heads[i], n), n);
		close(fd);
		upgrade(s);
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(access(kept, F_OK), -1);
	}
}

TEST_IN_DIRECTORY(a_kill_at_any_write_of_an_upgrade_loses_nothing)
{
	_cleanup_(freep) char *wal = text_format("%s-wal", s->path),
			      *shm = text_format("%s-shm", s->path);
	int n = 0;

	for (bool killed = true; killed; n += 3) {
		int status;
		pid_t pid;

		unlink(s->path);
		unlink(wal);
		unlink(shm);
		load(s, "0.1.0/book.sql");
		pid = fork();
		if (pid == 0) { /* is killed at its nth write */
			writes_left = n;
			_exit(book_open(&s->book, s->path, BOOK_WRITE, &s->err) < 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
		killed = WIFSIGNALED(status);
		upgrade(s);
		assert_answer(s->path, "PRAGMA integrity_check", "ok");
		assert_answer(s->path, "SELECT count(*) FROM run JOIN sample ON run = id", "205");
		assert_answer(s->path, "SELECT count(*) FROM executions_readable", "588");
	}
	assert_true(n > 9);
}

/* Run 1 has a sample 1, and source 1 is a timer. */
static void begin(struct scratch *s)
{
	_cleanup_(run_clear) struct run run = scratch_begin(s, "xz");

	scratch_add(s, run.id, 1, NULL, 0);
	assert_int_equal(run.id, 1);
	assert_int_equal(scratch_source(s, "timer", SOURCE_IRQ), 1);
}

#define PROGRAM_INTO \
	"INSERT INTO sample_program(run, sample, program, start_ns, et_ns, pt_ns) VALUES "

TEST_IN_BOOK(what_belongs_to_a_run_keeps_to_its_rules_and_goes_with_it)
{
	static const struct {
		const char *made;          /* these rows may be made, */
		const char *refused[6][2]; /* these changes not, for that reason, */
		const char *tables[2];     /* and without the run these are empty */
	} cases[] = {
		/* interruptions belong to a run and a source */
		{"INSERT INTO interruption VALUES (1, 0, 100, 5, 1), (1, 1, 100, 5, NULL), "
		 "(1, 0, 200, 0, 1);"
		 "INSERT INTO interruption_part VALUES (1, 0, 100, 1, 0, 5, 4, 1)",
			{{"INSERT INTO interruption VALUES (1, 0, 100, 7, 1)", "UNIQUE"},
				{"INSERT INTO interruption VALUES (1, 0, 300, 7, 2)",
					"FOREIGN KEY"},
				{"INSERT INTO interruption VALUES (2, 0, 300, 7, 1)",
					"FOREIGN KEY"},
				{"INSERT INTO interruption VALUES (1, -1, 300, 7, 1)", "cpu >= 0"},
				{"INSERT INTO interruption VALUES (1, 0, 300, -7, 1)",
					"length_ns >= 0"},
				{"INSERT INTO interruption_part VALUES (1, 0, 300, 1, 0, 5, 4, 1)",
					"FOREIGN KEY"}},
			{"interruption", "interruption_part"}},
		/* a sample may have several programs */
		{"INSERT INTO program VALUES (1, 1, 'xz', '[\"xz\"]'), (1, 2, 'gzip', NULL);" PROGRAM_INTO
		 "(1, 1, 1, 0, 9, 8), (1, 1, 2, 5, 9, 8); UPDATE sample_program "
		 "SET exit_status = 143 * (program - 1)",
			{{"INSERT INTO program VALUES (1, 0, 'xz', NULL)", "n >= 1"},
				{"INSERT INTO program VALUES (7, 1, 'xz', NULL)", "FOREIGN KEY"},
				{PROGRAM_INTO "(1, 1, 3, 0, 9, 8)", "FOREIGN KEY"},
				{PROGRAM_INTO "(1, 2, 1, 0, 9, 8)", "FOREIGN KEY"},
				{"UPDATE sample_program SET exit_status = 256",
					"exit_status BETWEEN 0 AND 255"},
				{"UPDATE sample_program SET pt_ns = -1", "pt_ns >= 0"}},
			{"program", "sample_program"}},
		/* page waits belong to a sample */
		{"INSERT INTO page_wait VALUES (1, 1, 'slave', 3, 900, 50, 0), "
		 "(1, 1, 'read', 0, 0, NULL, 0);"
		 "INSERT INTO page_wait_bin VALUES (1, 1, 'slave', 0, 10000, 2, 500), "
		 "(1, 1, 'slave', 10000, NULL, 1, 400)",
			{{"INSERT INTO page_wait VALUES (1, 2, 'slave', 3, 900, 50, 0)",
				 "FOREIGN KEY"},
				{"INSERT INTO page_wait VALUES (1, 1, 'fault', 3, 900, 50, 0)",
					"kind IN"},
				{"INSERT INTO page_wait_bin VALUES (1, 1, "
				 "'write', 0, 10000, 2, 500)",
					"FOREIGN KEY"},
				{"INSERT INTO page_wait_bin VALUES (1, 1, 'read', 9, 9, 2, 500)",
					"high_ns > low_ns"},
				{"INSERT INTO page_wait_bin VALUES (1, 1, 'read', 9, 10, 0, 500)",
					"count > 0"}},
			{"page_wait", "page_wait_bin"}},
		/* a load belongs to a run */
		{"INSERT INTO load VALUES (1, 'before', NULL, '[a]', NULL);"
		 "INSERT INTO load_sample VALUES (1, 1, 5, 6, 7, 8)",
			{{"INSERT INTO load VALUES (1, 'before', NULL, '[b]', NULL)", "UNIQUE"},
				{"INSERT INTO load VALUES (2, 'before', NULL, '[b]', NULL)",
					"FOREIGN KEY"},
				{"UPDATE load SET coordination = 'after'", "coordination IN"},
				{"INSERT INTO load_sample VALUES (1, 2, 5, 6, NULL, NULL)",
					"FOREIGN KEY"},
				{"UPDATE load_sample SET release_ns = -1", "release_ns >= 0"}},
			{"load", "load_sample"}},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		unlink(s->path);
		scratch_open(s, BOOK_WRITE);
		begin(s);
		sql(s->path, cases[i].made);
		for (size_t k = 0; k < ELEMENTS(cases[i].refused) && cases[i].refused[k][0]; k++)
			refused(s->path, cases[i].refused[k][0], cases[i].refused[k][1]);
		assert_done(s, book_remove_run(s->book, 1, false, &s->err));
		for (size_t k = 0; k < ELEMENTS(cases[i].tables); k++)
			assert_answer(s->path,
				text_brief("SELECT count(*) FROM %s", cases[i].tables[k]), "0");
	}
}

TEST_IN_BOOK(a_program_takes_its_part_of_samples_along)
{
	begin(s);
	sql(s->path,
		"INSERT INTO program VALUES (1, 1, 'xz', NULL), (1, 2, 'gzip', NULL);" PROGRAM_INTO
		"(1, 1, 1, 0, 9, 8), (1, 1, 2, 5, 9, 8); DELETE FROM program WHERE n = 2");
	assert_answer(s->path, "SELECT count(*) FROM sample_program", "1");
}

TEST_IN_BOOK(measurements_are_named_once_in_an_environment)
{
	int64_t environment;

	assert_done(s, book_put_environment(s->book, "d1", "box", "{}", &environment, &s->err));
	sql(s->path, "INSERT INTO measurement VALUES (1, 'clock_lag', 21.5, 'ns', NULL), "
		     "(1, 'ratio', -1, '', NULL)");
	refused(s->path, "INSERT INTO measurement VALUES (1, 'ratio', 2, '', NULL)", "UNIQUE");
	refused(s->path, "INSERT INTO measurement VALUES (2, 'ratio', 2, '', NULL)", "FOREIGN KEY");
	refused(s->path, "INSERT INTO measurement VALUES (1, 'inc_per_second', 0, '1/s', NULL)",
		"inc_per_second");
	sql(s->path, "DELETE FROM environment");
	assert_answer(s->path, "SELECT count(*) FROM measurement", "0");
}

TEST_IN_BOOK(kinds_and_uids_are_checked)
{
	begin(s);
	for (int i = 0; i < N_RUN_KINDS; i++)
		sql(s->path, text_brief("UPDATE run SET kind = '%s'", run_kind_names[i]));
	for (int i = 0; i < N_SOURCE_KINDS; i++)
		sql(s->path, text_brief("UPDATE source SET kind = '%s'", source_kind_names[i]));
	refused(s->path, "UPDATE run SET kind = 'nonsense'", "kind IN");
	refused(s->path, "UPDATE source SET kind = 'nonsense'", "kind IN");
	refused(s->path, "UPDATE run SET uid = 'abc'", "length(uid) = 32");
	refused(s->path, "UPDATE run SET uid = replace(hex(zeroblob(16)), '0', 'X')",
		"length(uid) = 32");
	refused(s->path,
		"INSERT INTO run(uid, kind, program, state, resolution_ns, started_ns)"
		" SELECT uid, kind, program, state, resolution_ns, started_ns FROM run",
		"UNIQUE");
}
