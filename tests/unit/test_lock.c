/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock, and processes that are remembered. */
#include "tests/unit/holder.h"
#include "tests/unit/scratch.h"

#include "lib/host/system/lock.h"
#include "lib/host/process/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int lock_fd = -1;

/* The host's lock is a file of the test's. */
static int make(void **state)
{
	int r = scratch_make(state);

	return r == 0 ? setenv("EMP_LOCK", ((struct scratch *)*state)->path, 1) : r;
}

#define TEST_OF_LOCK(name) TEST_IN_SCRATCH(name, make)

/* The lock, by a process of that name. */
static bool take_lock_as(const void *name)
{
	struct error err;

	prctl(PR_SET_NAME, name);
	return lock_take(&lock_fd, "", &err) == 0;
}

TEST_OF_LOCK(the_message_names_the_holder)
{
	char words[64];
	pid_t pid = holder_start(take_lock_as, "emp-calibrate");

	assert_int_equal(lock_take(&lock_fd, "", &s->err), -EBUSY);
	snprintf(words, sizeof(words), "emp-calibrate (process %d, since 20", pid);
	assert_says(s, words);
	assert_says(s, "see 'emp-calibrate status'");
	assert_int_equal(lock_look("", &s->err), -EBUSY);
	assert_says(s, words);
	holder_kill(pid);
}

TEST_OF_LOCK(what_a_holder_calls_itself_does_not_reach_the_terminal)
{
	pid_t pid = holder_start(take_lock_as, "\033]0;PWN\a\xff");

	assert_int_equal(lock_take(&lock_fd, "", &s->err), -EBUSY);
	assert_says(s, "?]0;PWN?? (process ");
	holder_kill(pid);
}

TEST_OF_LOCK(after_kill_9_it_is_free)
{
	holder_kill(holder_start(take_lock_as, "holder"));
	assert_done(s, lock_look("", &s->err));
	assert_done(s, lock_take(&lock_fd, "", &s->err));
	close(lock_fd);
}

TEST_OF_LOCK(a_file_that_is_no_lock_stays_as_it_is)
{
	_cleanup_(freep) char *text = NULL;
	FILE *file = fopen(s->path, "w");

	assert_true(file && fputs("my thesis\n", file) >= 0 && fclose(file) == 0);
	assert_done(s, lock_take(&lock_fd, "", &s->err));
	close(lock_fd);
	assert_int_equal(path_read_text(AT_FDCWD, NULL, &text, "%s", s->path), 0);
	assert_string_equal(text, "my thesis");
}

TEST_OF_LOCK(what_is_no_file_is_refused)
{
	assert_int_equal(mkfifo(s->path, 0600), 0);
	assert_true(lock_take(&lock_fd, "", &s->err) < 0);
	assert_says(s, "is not a regular file; name another");
	unlink(s->path);
	assert_int_equal(symlink("/etc/passwd", s->path), 0);
	assert_true(lock_take(&lock_fd, "", &s->err) < 0);
	assert_says(s, "cannot open the host's lock");
}

TEST_OF_LOCK(a_process_that_only_looks_does_not_make_it_busy)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			lock_look("", &(struct error){});
	}
	for (int i = 0; i < 200; i++) {
		assert_done(s, lock_take(&lock_fd, "", &s->err));
		close(lock_fd);
	}
	holder_kill(pid);
}

TEST(a_process_is_known_again_until_it_ends)
{
	_cleanup_(freep) char *self = xstrdup(process_ref(getpid()));
	pid_t pid;

	assert_int_equal(process_ref_pid(self), getpid());
	pid = fork();
	if (pid == 0) {
		_exit(process_ref_pid(process_ref(getpid())) != getpid());
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
	char owner[TEXT_BRIEF_SIZE] = "";
	int pipes[2];
	siginfo_t info;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		snprintf(owner, sizeof(owner), "%s", process_ref(getpid()));
		_exit(write(pipes[1], owner, sizeof(owner)) != sizeof(owner));
	}
	assert_int_equal(read(pipes[0], owner, sizeof(owner)), sizeof(owner));
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_ref_pid(owner), 0);
	waitpid(pid, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
}
