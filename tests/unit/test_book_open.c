/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the lab book: where it is, what versions it may have, and a sentence for everything that
 * is not one. */
#include "tests/unit/book_file.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* What a book_open() in another process answered. */
struct answer {
	int r;
	struct error err;
	char path[256];
};

/* Opens `path` (NULL: the default) as an ordinary user. The caller unmaps nothing: it is a test. */
static struct answer *open_as_user(const char *path, enum book_mode mode)
{
	struct answer *answer = mmap(
		NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	assert_true(answer != MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		struct book *book = NULL;
		char *named = NULL;

		if (geteuid() == 0 &&
			(setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
				setresuid(65534, 65534, 65534) < 0))
			_exit(1);
		answer->r = paths_book(path, &named, &answer->err);
		if (answer->r == 0) {
			snprintf(answer->path, sizeof(answer->path), "%s", named);
			answer->r = book_open(&book, named, mode, &answer->err);
		}
		book_free(book);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &(int){0}, 0), pid);
	return answer;
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
}

static void expect_answer(const char *path, enum book_mode mode, int r, const char *words)
{
	struct answer *answer = open_as_user(path, mode);

	assert_int_equal(answer->r, r);
	if (!strstr(answer->err.text, words))
		fail_msg("'%s' is not in: %s", words, answer->err.text);
}

/* Work of another process, which is killed then. */
static void killed_after(bool (*work)(struct scratch *s), struct scratch *s)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (work(s))
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &(int){0}, 0), pid);
}

static void expect(struct scratch *s, enum book_mode mode, int r, const char *words)
{
	struct book *book = (struct book *)0x77;

	assert_int_equal(book_open(&book, s->path, mode, &s->err), r);
	assert_ptr_equal(book, 0x77);
	assert_says(s, words);
	assert_says(s, s->path);
}

TEST_IN_DIRECTORY(option_then_environment_then_default_name_the_book)
{
	_cleanup_(freep) char *a = NULL, *b = NULL, *c = NULL;

	setenv("EMP_DB", "/from/environment", 1);
	assert_done(s, paths_book("/from/option", &a, &s->err));
	assert_string_equal(a, "/from/option");
	assert_done(s, paths_book(NULL, &b, &s->err));
	assert_string_equal(b, "/from/environment");
	unsetenv("EMP_DB");
	if (geteuid() == 0) {
		assert_done(s, paths_book(NULL, &c, &s->err));
		assert_string_equal(c, "/var/lib/emp/emp.db");
	}
}

TEST_IN_DIRECTORY(a_users_default_is_made_with_its_directories)
{
	struct answer *answer;
	char data[128];
	struct stat st;

	unsetenv("EMP_DB");
	chmod(s->directory, 0777);
	snprintf(data, sizeof(data), "%s/a/b", s->directory);
	setenv("XDG_DATA_HOME", data, 1);
	expect_answer(NULL, BOOK_READ, -ENOENT, "there is no lab book");
	assert_int_equal(stat(data, &st), -1); /* reading makes nothing */
	answer = open_as_user(NULL, BOOK_WRITE);
	assert_string_equal(answer->err.text, "");
	assert_non_null(strstr(answer->path, "/a/b/emp/emp.db"));
	assert_int_equal(stat(answer->path, &st), 0);
	assert_int_equal(open_as_user(NULL, BOOK_READ)->r, 0);

	setenv("XDG_DATA_HOME", "not/absolute", 1); /* to be ignored, as its specification says */
	setenv("HOME", s->directory, 1);
	answer = open_as_user(NULL, BOOK_WRITE);
	assert_string_equal(answer->err.text, "");
	assert_non_null(strstr(answer->path, "/.local/share/emp/emp.db"));
	assert_int_equal(stat(answer->path, &st), 0);
	assert_int_equal(st.st_mode & 0777 & ~0644, 0);
}

TEST_IN_DIRECTORY(a_book_that_is_not_there_is_made_to_write_and_missed_to_read)
{
	struct stat st;

	expect(s, BOOK_READ, -ENOENT, "there is no lab book");
	assert_int_equal(stat(s->path, &st), -1);
	scratch_open(s, BOOK_WRITE);
	assert_int_equal(stat(s->path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

TEST_IN_DIRECTORY(a_missing_directory_is_named_and_not_made)
{
	struct stat st;

	strcat(s->directory, "/no");
	snprintf(s->path, sizeof(s->path), "%s/emp.db", s->directory);
	expect(s, BOOK_WRITE, -ENOENT, "there is no directory");
	assert_says(s, s->directory);
	assert_int_equal(stat(s->directory, &st), -1);
	*strrchr(s->directory, '/') = '\0';
}

TEST_IN_DIRECTORY(what_is_no_database_is_left_alone)
{
	char text[] = "daemon:x:1:1:daemon:/usr/sbin:/bin/false\n", back[sizeof(text)] = "";
	_cleanup_(fclosep) FILE *file = NULL;

	write_file(s->path, text, strlen(text));
	expect(s, BOOK_READ, -EINVAL,
		"it is not an SQLite database; name another file with --db or EMP_DB");
	expect(s, BOOK_WRITE, -EINVAL, "it is not an SQLite database");
	write_file(s->path, "S", 1);
	expect(s, BOOK_WRITE, -EINVAL, "it is not an SQLite database");
	write_file(s->path, text, strlen(text));
	expect(s, BOOK_WRITE, -EINVAL, "it is not an SQLite database");
	file = fopen(s->path, "r");
	assert_non_null(fgets(back, sizeof(back), file));
	assert_string_equal(back, text);
}

TEST_IN_DIRECTORY(a_directory_and_a_pipe_are_called_what_they_are)
{
	assert_int_equal(mkdir(s->path, 0755), 0);
	expect(s, BOOK_WRITE, -EISDIR, "is a directory; name the lab book in it, such as");
	rmdir(s->path);
	assert_int_equal(mkfifo(s->path, 0644), 0);
	expect(s, BOOK_READ, -EINVAL, "is not a regular file");
}

/* Puts something there that is no file: none of these may be opened, since that may wait for ever.
 */
static void make_odd(const char *path, size_t kind)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_(closep) int fd = -1;

	switch (kind) {
	case 0:
		assert_int_equal(mkfifo(path, 0600), 0);
		break;
	case 1:
		assert_int_equal(mkdir(path, 0700), 0);
		break;
	case 2:
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s",
				    path) < sizeof(address.sun_path));
		assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
		break;
	default:
		assert_int_equal(symlink("/dev/zero", path), 0);
	}
}

TEST_IN_BOOK(what_is_no_file_beside_a_book_is_named_and_not_opened)
{
	static const char *const beside[] = {"-wal", "-shm", "-journal", "-pending", ".copying"};
	static const char *const kinds[] = {
		"a named pipe", "a directory", "a socket", "a symbolic link"};

	book_free(TAKE(s->book));
	for (size_t i = 0; i < ELEMENTS(beside) * ELEMENTS(kinds) * 3; i++) {
		size_t kind = i / 3 % ELEMENTS(kinds);
		_cleanup_(freep) char *path = text_format(
			"%s%s", s->path, beside[i / 3 / ELEMENTS(kinds)]);
		_cleanup_(freep) char *words = text_format("'%s' is %s", path, kinds[kind]);

		make_odd(path, kind);
		assert_int_equal(
			book_open(&s->book, s->path,
				(enum book_mode[]){BOOK_READ, BOOK_WRITE, BOOK_MEASURE}[i % 3],
				&s->err),
			-EINVAL);
		assert_says(s, words);
		assert_int_equal(remove(path), 0);
	}
	scratch_open(s, BOOK_READ);
}

TEST_IN_DIRECTORY(the_database_of_another_program_is_left_alone)
{
	sql(s->path, "CREATE TABLE bookmarks(url TEXT)");
	expect(s, BOOK_WRITE, -EINVAL, "is the database of another program; name another");
	expect(s, BOOK_READ, -EINVAL, "is the database of another program; name another");
	unlink(s->path);
	sql(s->path, "PRAGMA application_id = 1234");
	expect(s, BOOK_WRITE, -EINVAL, "is the database of another program; name another");
}

/* The bytes of a file, for comparison. */
static char *bytes_of(const char *path, size_t *ret_n)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "r");
	char *bytes = calloc(1, 1 << 20);

	assert_non_null(file);
	*ret_n = fread(bytes, 1, 1 << 20, file);
	return bytes;
}

/* Tables in the log only, and nobody who has it open. */
static bool make_bookmarks(struct scratch *s)
{
	return sqlite3_exec(open_file(s->path),
		       "PRAGMA journal_mode = WAL; CREATE TABLE bookmarks(url TEXT)", NULL, NULL,
		       NULL) == SQLITE_OK;
}

TEST_IN_DIRECTORY(the_log_of_another_program_is_left_alone)
{
	_cleanup_(freep) char *log = text_format("%s-wal", s->path);

	killed_after(make_bookmarks, s);
	for (int mode = BOOK_READ; mode <= BOOK_WRITE; mode++) {
		size_t n, n_log, n_after, n_log_after;
		_cleanup_(freep) char *before = bytes_of(s->path, &n),
				      *log_before = bytes_of(log, &n_log);
		_cleanup_(freep) char *after = NULL, *log_after = NULL;

		expect(s, mode, -EINVAL, "is the database of another program; name another");
		after = bytes_of(s->path, &n_after);
		log_after = bytes_of(log, &n_log_after);
		assert_true(n == n_after && n_log == n_log_after && n_log > 0);
		assert_memory_equal(before, after, n);
		assert_memory_equal(log_before, log_after, n_log);
	}
}

static bool make_book(struct scratch *s)
{
	return book_open(&s->book, s->path, BOOK_WRITE, &s->err) == 0;
}

TEST_IN_DIRECTORY(a_book_killed_while_it_was_made_is_gone_on_with)
{
	struct stat st;

	killed_after(make_book, s);
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_size, 4096); /* the rest is in the log */
	scratch_open(s, BOOK_READ);
	scratch_open(s, BOOK_WRITE);
}

TEST_IN_DIRECTORY(a_newer_book_is_refused_by_its_version)
{
	scratch_open(s, BOOK_WRITE);
	book_free(TAKE(s->book));
	sql(s->path, "PRAGMA user_version = 99");
	expect(s, BOOK_WRITE, -EPROTONOSUPPORT,
		"was written by a newer EMP (version 99 of the book, this one reads");
	expect(s, BOOK_READ, -EPROTONOSUPPORT, "was written by a newer EMP");
	sql(s->path, "PRAGMA user_version = -1");
	expect(s, BOOK_WRITE, -EBADMSG, "is damaged: it says that it is of version -1");
	expect(s, BOOK_READ, -EBADMSG, "is damaged: it says that it is of version -1");
}

TEST_IN_DIRECTORY(a_file_of_version_0_is_brought_up_to_date)
{
	_cleanup_(run_clear) struct run run = {};

	write_file(s->path, "", 0); /* as touch leaves it, or a kill between two steps */
	expect(s, BOOK_READ, -ENOENT,
		"is empty; emp-calibrate, emp-measure or emp-analyze import writes to it");
	scratch_open(s, BOOK_WRITE);
	run = scratch_begin(s, "xz");
	scratch_open(s, BOOK_READ);
	book_free(TAKE(s->book));

	unlink(s->path);
	sql(s->path, "PRAGMA journal_mode = WAL"); /* a database, and nothing in it */
	scratch_open(s, BOOK_WRITE);
}

TEST_IN_DIRECTORY(an_older_book_that_cannot_be_written_can_be_read)
{
	load(s, "book-v1.sql");
	chmod(s->path, 0444);
	assert_int_equal(open_as_user(s->path, BOOK_READ)->r, 0);
}

TEST_IN_DIRECTORY(names_with_odd_characters_are_names)
{
	static const char *const odd[] = {":memory:", "file:x?mode=ro", "a%20b#c", "ü '\"; x"};
	struct stat st;

	assert_int_equal(chdir(s->directory), 0);
	for (size_t i = 0; i < ELEMENTS(odd); i++) {
		assert_done(s, book_open(&s->book, odd[i], BOOK_WRITE, &s->err));
		book_free(TAKE(s->book));
		assert_int_equal(stat(odd[i], &st), 0);
		assert_done(s, book_open(&s->book, odd[i], BOOK_READ, &s->err));
		book_free(TAKE(s->book));
	}
	assert_int_equal(chdir("/"), 0);
}

/* A book keeps the mode of the file that was there. */
static void make_readable_by_all(const struct scratch *s)
{
	int fd = open(s->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_int_equal(fchmod(fd, 0644), 0);
	close(fd);
}

TEST_IN_DIRECTORY(a_book_of_somebody_else_can_be_read_and_not_written)
{
	make_readable_by_all(s);
	scratch_open(s, BOOK_WRITE);
	assert_int_equal(open_as_user(s->path, BOOK_READ)->r, 0); /* while its owner writes */
	book_free(TAKE(s->book));
	chmod(s->path, 0444);
	chmod(s->directory, 0555);
	/* and after: no log beside it, and none can be made */
	assert_string_equal(open_as_user(s->path, BOOK_READ)->err.text, "");
	expect_answer(s->path, BOOK_WRITE, -EACCES,
		"cannot be written; ask for write permission, or name another");
	chmod(s->path, 0666);
	expect_answer(s->path, BOOK_WRITE, -EACCES, "the directory");
	chmod(s->path, 0);
	expect_answer(s->path, BOOK_READ, -EACCES, "cannot read the lab book");
	chmod(s->directory, 0755);
}

static bool make_run(struct scratch *s)
{
	struct run run = scratch_run("xz");

	return make_book(s) && book_begin_run(s->book, &run, &s->err) == 0;
}

TEST_IN_DIRECTORY(a_log_left_by_a_crash_is_read_by_others_as_well)
{
	_cleanup_(freep) char *index = text_format("%s-shm", s->path);

	make_readable_by_all(s);
	killed_after(make_run, s);
	assert_string_equal(open_as_user(s->path, BOOK_READ)->err.text, "");
	unlink(index); /* without it nobody can who may not make one */
	chmod(s->directory, 0555);
	expect_answer(s->path, BOOK_READ, -EACCES,
		"a user who may write its directory must read in its log");
	chmod(s->directory, 0755);
	scratch_open(s, BOOK_WRITE);
}

TEST_IN_DIRECTORY(a_second_writer_is_told_to_wait)
{
	_cleanup_(book_freep) struct book *second = NULL;
	_cleanup_(run_clear) struct run run = scratch_run("xz");

	scratch_open(s, BOOK_WRITE);
	assert_done(s, book_open(&second, s->path, BOOK_WRITE, &s->err));
	book_patience(second, 200);
	assert_done(s, book_begin(s->book, &s->err));
	assert_int_equal(book_begin_run(second, &run, &s->err), -EBUSY);
	assert_says(s, "is being written by another program, and still was after 0.2 s");
	assert_done(s, book_commit(s->book, &s->err));
	assert_done(s, book_begin_run(second, &run, &s->err));
}

/* Overwrites pages as a disk may: the one where a table begins, or all but the first. */
static void spoil(const char *path, const char *table)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY);
	char noise[4096];
	struct stat st;
	int first = 2, last;

	assert_int_equal(fstat(fd, &st), 0);
	last = (int)(st.st_size / 4096);
	if (table) {
		_cleanup_(freep) char *page = ask(path,
			text_brief("SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table));

		first = last = atoi(page);
	}
	memset(noise, 0xa5, sizeof(noise));
	for (int page = first; page <= last; page++)
		assert_int_equal(
			pwrite(fd, noise, sizeof(noise), 4096L * (page - 1)), sizeof(noise));
}

TEST_IN_DIRECTORY(a_damaged_book_says_so_and_how_to_save_it)
{
	_cleanup_(run_clear) struct run run = {};
	struct run *runs;
	size_t n;

	scratch_open(s, BOOK_WRITE);
	run = scratch_begin(s, "xz");
	book_free(TAKE(s->book));
	spoil(s->path, "run");
	scratch_open(s, BOOK_READ);
	assert_int_equal(book_runs(s->book, &runs, &n, &s->err), -EBADMSG);
	assert_says(s, "is damaged (database disk image is malformed)");
	assert_says(s, "save the runs that can still be read with: emp-analyze --db");
	book_free(TAKE(s->book));
	spoil(s->path, NULL);
	expect(s, BOOK_READ, -EBADMSG, "is damaged");
	expect(s, BOOK_WRITE, -EBADMSG, "is damaged");
	assert_int_equal(truncate(s->path, 5000), 0);
	expect(s, BOOK_WRITE, -EBADMSG, "is damaged");
}
