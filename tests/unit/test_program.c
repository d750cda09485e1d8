/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs under test as anybody may start them, without a cgroup: how they end, where they run,
 * what fails; and what they waited for a CPU, by their first thread. */
#include "tests/unit/check.h"

#include "lib/host/process/process.h"
#include "lib/host/process/program.h"
#include "lib/host/process/subprocess.h"

#include <signal.h>
#include <sys/stat.h>

static struct error err;

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

static struct command_spec spec_of(char **argv, const char *path)
{
	return (struct command_spec){.argv = argv,
		.path = path,
		.cpu = -1,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1};
}

#define SHELL(script) spec_of(ARGV((char *)"sh", (char *)"-c", (char *)(script)), "/bin/sh")

static struct exec_result run_ok(const struct command_spec *spec)
{
	struct exec_result exec = {};

	if (program_run(spec, &exec, &err) < 0)
		fail_msg("%s", err.text);
	return exec;
}

TEST(an_exit_status_and_a_signal_are_told_apart)
{
	struct command_spec fails = SHELL("exit 3"), dies = SHELL("kill -SEGV $$");

	assert_int_equal(process_exit_status(run_ok(&fails).wait_status), 3);
	assert_int_equal(process_exit_status(run_ok(&dies).wait_status), 128 + SIGSEGV);
}

TEST(a_file_that_is_no_program_is_an_error_with_a_sentence)
{
	char file[] = "/tmp/emp-test-XXXXXX";
	struct command_spec spec = spec_of(ARGV(file), file);
	struct exec_result s = {.et_ns = 77};
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "\177ELF", 4), 4);
	fchmod(fd, 0755);
	close(fd);
	assert_int_equal(program_run(&spec, &s, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "cannot execute it: Exec format error"));
	assert_int_equal(s.et_ns, 77);
	unlink(file);
}

TEST(commands_are_found_as_a_shell_finds_them)
{
	_cleanup_(freep) char *path = NULL, *none = NULL;

	assert_int_equal(executable_find("sh", &path, &err), 0);
	assert_true(path[0] == '/');
	assert_int_equal(executable_find("no-such-command", &none, &err), -ENOENT);
	assert_string_equal(err.text, "command 'no-such-command' not found in PATH");
	assert_int_equal(executable_find("/etc", &none, &err), -EISDIR);
	assert_int_equal(executable_find("/etc/passwd", &none, &err), -EACCES);
	assert_int_equal(executable_find("", &none, &err), -ENOENT);
}

TEST(a_pinned_program_runs_on_its_cpu_only)
{
	_cleanup_(closep) int in = -1, out = -1;
	struct command_spec spec = SHELL("exec grep Cpus_allowed_list /proc/self/status");
	char text[128] = "";
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	in = pipes[0];
	out = pipes[1];
	spec.cpu = 0;
	spec.stdout_fd = out;
	assert_int_equal(run_ok(&spec).wait_status, 0);
	assert_true(read(in, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "Cpus_allowed_list:\t0\n");
}

TEST(a_session_of_its_own_is_given_when_asked_for)
{
	struct command_spec spec = SHELL(
		"read pid comm state ppid pgrp session rest < /proc/self/stat; test $session = $$");

	assert_int_not_equal(run_ok(&spec).wait_status, 0);
	spec.new_session = true;
	assert_int_equal(run_ok(&spec).wait_status, 0);
}

TEST(several_without_cgroups_are_refused)
{
	struct command_spec spec = SHELL("exec sleep 1000");
	struct program *programs[2] = {};
	size_t over;

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(program_start(&programs[i], &spec, &err), 0);
	assert_int_equal(program_wait_any(programs, 2, 0, &over, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "need a cgroup each"));
	for (size_t i = 0; i < 2; i++)
		program_free(programs[i]);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(what_it_leaves_behind_is_killed_and_counted)
{
	struct command_spec spec = SHELL("sleep 1000 & sleep 1000 & exit 0");
	struct exec_result s = run_ok(&spec);

	assert_int_equal(s.end, PROGRAM_ENDED);
	assert_int_equal(s.left_behind, 2);
	assert_int_equal(s.killed, 2);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(a_time_out_kills_what_it_started_too)
{
	struct command_spec spec = SHELL("(sleep 1000; :) & sleep 1000");
	struct exec_result s;

	spec.timeout_ns = 50000000;
	s = run_ok(&spec);
	assert_int_equal(s.end, PROGRAM_TIMED_OUT);
	assert_int_equal(process_exit_status(s.wait_status), 128 + SIGKILL);
	assert_int_equal(s.left_behind, 0); /* it did not outlive the program: both were killed */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(schedstat_is_read_where_the_kernel_counts)
{
	struct schedstat s;

	assert_true(schedstat_parse("171273 20 2\n", &s));
	assert_int_equal(s.run_ns, 171273);
	assert_int_equal(s.wait_ns, 20);
	assert_true(schedstat_parse("0 20 1\n", &s)); /* it has not been switched away from yet */
	assert_false(schedstat_parse("0 0 0\n", &s));
	assert_false(schedstat_parse("", &s));
	assert_false(schedstat_parse("1 -2 3", &s));
	assert_true(schedstat_read(getpid(), &s));
	assert_false(schedstat_read(-1, &s));
}

TEST(work_before_the_program_was_executed_is_not_its_own)
{
	struct exec_result exec = {
		.pt_ns = 900, .user_ns = 700, .system_ns = 200, .before_ns = 250};

	program_times(&exec, NULL);
	assert_int_equal(exec.pt_ns, 650);
	assert_int_equal(exec.user_ns, 650);
	assert_int_equal(exec.system_ns, 0);
	assert_int_equal(exec.before_ns, 250);
	assert_int_equal(exec.wait_ns, -1);
	exec.before_ns = 1000;
	program_times(&exec, NULL); /* no less than 0 */
	assert_int_equal(exec.pt_ns, 0);
	assert_int_equal(exec.before_ns, 650);
}

/* How long such a program waited for a CPU. */
static int64_t wait_of(struct exec_result exec, const struct schedstat *first)
{
	program_times(&exec, first);
	return exec.wait_ns;
}

TEST(the_wait_of_the_first_thread_is_the_programs_if_no_other_ran)
{
	struct exec_result exec = {.pt_ns = 5 * NS_PER_MS, .wait_before_ns = 100};
	const struct schedstat all = {5 * NS_PER_MS + 300, NS_PER_MS + 100},
			       part = {4 * NS_PER_MS, NS_PER_MS}, none = {5 * NS_PER_MS, 99};

	assert_int_equal(wait_of(exec, &all), NS_PER_MS);
	assert_int_equal(wait_of(exec, &none), 0);
	assert_int_equal(wait_of(exec, &part), -1);
	exec.escaped = true;
	assert_int_equal(wait_of(exec, &all), -1);
	exec = (struct exec_result){.pt_ns = 5 * NS_PER_MS, .wait_before_ns = -1};
	assert_int_equal(wait_of(exec, &all), -1);
}
