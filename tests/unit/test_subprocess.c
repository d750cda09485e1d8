/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helper programs: their output and status, and every way in which they fail. */
#include "tests/unit/check.h"

#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct error err;

#define SHELL(script) ((char *[]){(char *)"sh", (char *)"-c", (char *)(script), NULL})

TEST(a_question_is_answered_with_output_and_status)
{
	static const char *const argv[] = {"sh", "-c", "echo to; echo nobody >&2; exit 3", NULL};
	_cleanup_(freep) char *output = NULL;
	int status = 0;

	assert_int_equal(subprocess_ask(argv, 60000, &output, &status, &err), 0);
	assert_string_equal(output, "to\n");
	assert_int_equal(status, 3);
}

TEST(what_hangs_is_killed_and_named)
{
	static const char *const argv[] = {"sleep", "1000", NULL};
	char *output = NULL;
	int status = 0;

	assert_int_equal(subprocess_ask(argv, 50, &output, &status, &err), -ETIMEDOUT);
	assert_null(output);
	assert_non_null(strstr(err.text, "/sleep did not end within 50 ms"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(what_writes_too_much_is_killed_and_named)
{
	const struct subprocess yes = {
		.argv = SHELL("yes"), .path = "/bin/sh", .output_max = 100000};
	char *output = NULL;
	int status = 0;

	assert_int_equal(subprocess_run(&yes, &output, &status, &err), -EMSGSIZE);
	assert_null(output);
	assert_string_equal(err.text, "/bin/sh wrote more than 100000 bytes");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(output_of_just_the_limit_is_whole)
{
	const struct subprocess head = {
		.argv = SHELL("head -c 100000 /dev/zero | tr '\\0' x"), .output_max = 100000};
	_cleanup_(freep) char *output = NULL;
	int status = 1;

	assert_int_equal(subprocess_run(&head, &output, &status, &err), 0);
	assert_int_equal(strlen(output), 100000);
	assert_int_equal(status, 0);
}

TEST(what_is_not_there_is_named)
{
	static const char *const argv[] = {"emp-no-such-program", NULL};
	const struct subprocess missing = {.argv = (char *const *)argv};
	const struct subprocess no_program = {.argv = (char *const *)argv, .path = "/etc/passwd"};
	char *output = NULL;
	int status = 0;

	assert_int_equal(subprocess_ask(argv, 60000, &output, &status, &err), -ENOENT);
	assert_string_equal(err.text, "emp-no-such-program is not installed");
	assert_int_equal(subprocess_run(&missing, NULL, &status, &err), -ENOENT);
	assert_string_equal(err.text, "cannot run emp-no-such-program: No such file or directory");
	assert_int_equal(subprocess_run(&no_program, NULL, &status, &err), -EACCES);
	assert_string_equal(err.text, "cannot run /etc/passwd: Permission denied");
}

TEST(a_signal_shows_in_the_status)
{
	const struct subprocess dies = {
		.argv = SHELL("echo before; kill -KILL $$"), .output_max = 100};
	_cleanup_(freep) char *output = NULL;
	int status = 0;

	assert_int_equal(subprocess_run(&dies, &output, &status, &err), 0);
	assert_string_equal(output, "before\n");
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

TEST(input_comes_from_a_descriptor)
{
	_cleanup_(closep) int fd = memfd_create("input", MFD_CLOEXEC);
	const struct subprocess reads = {.argv = SHELL("cat"), .stdin_fd = fd, .output_max = 100};
	_cleanup_(freep) char *output = NULL;
	int status = 1;

	assert_int_equal(write(fd, "text", 4), 4);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(subprocess_run(&reads, &output, &status, &err), 0);
	assert_string_equal(output, "text");
}

/* It holds the pipe open, and this process is a child subreaper as while programs run. */
TEST(a_server_that_it_leaves_is_neither_waited_for_nor_ours)
{
	const struct subprocess starts = {.argv = SHELL("sleep 1000 & echo $!"), .output_max = 100};
	_cleanup_(freep) char *output = NULL;
	int status = 1, subreaper = 0;
	pid_t server;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	assert_int_equal(subprocess_run(&starts, &output, &status, &err), 0);
	server = atoi(output);
	assert_true(server > 0);
	assert_int_equal(kill(server, 0), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	kill(server, SIGKILL);
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
	assert_int_equal(subreaper, 1);
}

TEST(hooks_that_fail_are_named)
{
	char *const shell[] = {(char *)"emp-no-shell", NULL};

	assert_int_equal(hook_run("true", NULL, false, "--prepare", &err), 0);
	assert_int_equal(hook_run("exit 3", NULL, false, "--prepare", &err), -ECANCELED);
	assert_string_equal(err.text, "--prepare 'exit 3' ended with exit status 3");
	assert_int_equal(hook_run("kill -TERM $$", NULL, false, "--setup", &err), -ECANCELED);
	assert_string_equal(err.text, "--setup 'kill -TERM $$' was killed by signal 15 (SIGTERM)");
	assert_int_equal(hook_run("true", shell, false, "--setup", &err), -ENOENT);
	assert_string_equal(
		err.text, "--setup: cannot run emp-no-shell: No such file or directory");
}

/* Last: from here on, signals wait to be read. */
TEST(signals_for_this_process_are_forwarded)
{
	const struct subprocess sleeps = {
		.argv = SHELL("exec sleep 1000"), .forward_signals = true};
	int status = 0;

	assert_int_equal(interrupt_init(), 0);
	kill(getpid(), SIGTERM);
	assert_int_equal(subprocess_run(&sleeps, NULL, &status, &err), 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	kill(getpid(), SIGINT); /* from a process; a typed one comes from the kernel, to both */
	assert_int_equal(subprocess_run(&sleeps, NULL, &status, &err), 0);
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_int_equal(interrupt_pending(), 0);
}
