/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock, and processes that are remembered. */
#include "tests/unit/scratch.h"

#include "lib/host/system/lock.h"
#include "lib/host/process/process_ref.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that takes the lock and then waits to be killed. */
static pid_t hold_in_child(const char *path)
{
	int pipes[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		struct error err;
		struct lock lock;

		if (lock_take(&lock, path, "emp-calibrate run", &err) == 0 && write(pipes[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &c, 1), 1);
	close(pipes[0]);
	return pid;
}

TEST_IN_DIRECTORY(the_message_names_the_holder)
{
	struct scratch *s = *state;
	struct lock lock;
	char words[64];
	pid_t pid = hold_in_child(s->path);

	assert_int_equal(lock_take(&lock, s->path, "emp-calibrate resume", &s->err), -EBUSY);
	snprintf(words, sizeof(words), "process %d has locked this machine since ", pid);
	assert_says(s, words);
	assert_says(s, "(emp-calibrate run)");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_IN_DIRECTORY(after_kill_9_it_is_free_and_its_end_leaves_no_file)
{
	struct scratch *s = *state;
	struct lock lock;
	pid_t pid = hold_in_child(s->path);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_done(s, lock_take(&lock, s->path, "emp-calibrate run", &s->err));
	assert_int_equal(access(s->path, F_OK), 0);
	lock_release(&lock);
	assert_int_equal(access(s->path, F_OK), -1);
	lock_release(&lock);
}

TEST_IN_DIRECTORY(what_is_no_file_is_refused)
{
	struct scratch *s = *state;
	struct lock lock;

	assert_int_equal(mkfifo(s->path, 0600), 0);
	assert_true(lock_take(&lock, s->path, "emp-calibrate run", &s->err) < 0);
	assert_says(s, "is not a regular file; remove it");
	unlink(s->path);
	assert_int_equal(symlink("/etc/passwd", s->path), 0);
	assert_true(lock_take(&lock, s->path, "emp-calibrate run", &s->err) < 0);
	assert_says(s, "cannot open the host's lock");
}

TEST_IN_DIRECTORY(the_environment_may_name_it)
{
	struct scratch *s = *state;
	char *path;

	setenv("EMP_LOCK", "/somewhere/lock", 1);
	assert_done(s, lock_path("/book.db", &path, &s->err));
	unsetenv("EMP_LOCK");
	assert_string_equal(path, "/somewhere/lock");
	free(path);
}

TEST(a_process_is_known_again_until_it_ends)
{
	char self[PROCESS_REF_SIZE];
	pid_t pid;

	process_ref_self(self);
	assert_int_equal(process_ref_pid(self), getpid());
	pid = fork();
	if (pid == 0) {
		_exit(process_ref_pid(process_ref_self(self)) != getpid());
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_ref_pid(NULL), 0);
	assert_int_equal(process_ref_pid(""), 0);
	assert_int_equal(process_ref_pid("00000000-0000-0000-0000-000000000000 1 7"), 0);
	self[0] ^= 1; /* another boot */
	assert_int_equal(process_ref_pid(self), 0);
}

TEST(one_that_has_ended_and_is_waited_for_is_gone)
{
	char owner[PROCESS_REF_SIZE] = "";
	int pipes[2];
	siginfo_t info;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		process_ref_self(owner);
		_exit(write(pipes[1], owner, sizeof(owner)) != sizeof(owner));
	}
	assert_int_equal(read(pipes[0], owner, sizeof(owner)), sizeof(owner));
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_ref_pid(owner), 0);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
}
