/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cgroup for a program: made, read, killed, replaced, removed. Needs a cgroup v2 in which others
 * may be made. */
#include "tests/unit/check.h"

#include "lib/host/process/program.h"

#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct error err;

static struct cgroup *make(void)
{
	struct cgroup *cgroup = NULL;

	if (cgroup_new(&cgroup, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return cgroup;
}

static struct program *start_in(struct cgroup *cgroup, const char *script)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	const struct command_spec spec = {
		.argv = argv,
		.path = "/bin/sh",
		.cpu = -1,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = cgroup,
	};
	struct program *program = NULL;

	if (program_start(&program, &spec, &err) < 0)
		fail_msg("%s", err.text);
	return program;
}

TEST(a_fresh_one_is_empty_and_has_used_nothing)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = make();
	struct cgroup_usage usage = {1, 1, 1};
	struct stat st;

	assert_int_equal(cgroup_is(cgroup, "populated", &err), 0);
	assert_int_equal(cgroup_signal(cgroup, 0, &err), 0);
	assert_int_equal(cgroup_usage(cgroup, &usage, &err), 0);
	assert_int_equal(usage.usage_ns, 0);
	assert_int_equal(cgroup_wait_empty(cgroup, 0, &err), 1);
	assert_int_equal(stat(cgroup->path, &st), 0);
	assert_int_equal(st.st_ino, cgroup->id);
}

TEST(several_have_places_of_their_own)
{
	_cleanup_(cgroup_freep) struct cgroup *a = make(), *b = make();

	assert_string_not_equal(a->path, b->path);
}

TEST(one_inside_another_counts_there_too)
{
	_cleanup_(cgroup_freep) struct cgroup *outer = make(), *inner = NULL;
	_cleanup_(program_freep) struct program *program = NULL;
	struct cgroup_usage of_inner, of_outer;
	size_t over;

	assert_int_equal(cgroup_new_in(&inner, outer->path, &err), 0);
	program = start_in(inner, "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done");
	assert_int_equal(cgroup_is(outer, "populated", &err), 1);
	assert_int_equal(program_wait_any(&program, 1, 0, &over, &err), 0);
	assert_int_equal(cgroup_usage(inner, &of_inner, &err), 0);
	assert_int_equal(cgroup_usage(outer, &of_outer, &err), 0);
	assert_true(of_inner.usage_ns > 0 && of_outer.usage_ns >= of_inner.usage_ns);
}

TEST(it_knows_its_processes_also_when_they_have_ended)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = make(), *other = make();
	struct program *program = start_in(cgroup, "exec sleep 1000");
	pid_t pid;
	siginfo_t info;
	_cleanup_(freep) char *path = text_format("%s/cgroup.procs", cgroup->path), *text = NULL;

	/* The processes of the cgroup as the kernel lists them. */
	assert_int_equal(path_read_text(-100, NULL, &text, "%s", path), 0);
	pid = atoi(text);

	assert_int_equal(cgroup_is(cgroup, "populated", &err), 1);
	assert_int_equal(cgroup_signal(cgroup, 0, &err), 1);
	assert_true(cgroup_has(cgroup, pid, false));
	assert_false(cgroup_has(other, pid, false));
	assert_false(cgroup_has(cgroup, getpid(), false));
	assert_int_equal(cgroup_wait_empty(cgroup, 1, &err), 0);
	assert_int_equal(cgroup_kill(cgroup, &err), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(cgroup_wait_empty(cgroup, 60000, &err), 1);
	assert_true(cgroup_has(cgroup, pid, false)); /* not reaped yet */
	program_free(program);
	assert_false(cgroup_has(cgroup, pid, false));
}

TEST(one_that_was_killed_is_replaced_and_others_are_not)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = make();
	uint64_t id = cgroup->id;
	struct program *program;

	assert_int_equal(cgroup_renew(cgroup, &err), 0);
	assert_int_equal(cgroup->id, id);
	assert_int_equal(cgroup_kill(cgroup, &err), 0);
	assert_int_equal(cgroup_renew(cgroup, &err), 0);
	assert_int_not_equal(cgroup->id, id);
	program = start_in(cgroup, "exec sleep 1000"); /* Linux 6.18 would kill it in the old one */
	assert_int_equal(cgroup_signal(cgroup, 0, &err), 1);
	program_free(program);
}

/* A cgroup in the same parent, with a name as of the process `pid` of the namespace of process ids
 * `space`. */
static char *make_as(const struct cgroup *cgroup, unsigned long long space, int pid)
{
	const char *path = cgroup->path;
	char *made = text_format(
		"%.*s/emp-%llu-%d-0", (int)(strrchr(path, '/') - path), path, space, pid);

	assert_int_equal(mkdir(made, 0755), 0);
	return made;
}

TEST(what_has_no_owner_is_removed_also_where_its_process_id_is_in_use_again)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = make();
	_cleanup_(freep) char *reused = NULL, *elsewhere = NULL, *other = NULL;
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	reused = make_as(cgroup, st.st_ino, 1);
	elsewhere = make_as(cgroup, st.st_ino + 1, 1);
	other = text_format("%s-of-a-user", reused);
	assert_int_equal(mkdir(other, 0755), 0);
	cgroup_free(make());
	assert_int_equal(access(reused, F_OK), -1);
	assert_int_equal(access(elsewhere, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(cgroup->path, F_OK), 0);
	rmdir(other);
}

TEST(what_another_process_owns_stays_until_it_is_killed)
{
	char path[PATH_MAX] = "";
	int pipes[2];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		struct cgroup *cgroup = make();

		if (write(pipes[1], cgroup->path, strlen(cgroup->path)) > 0)
			pause();
		_exit(1);
	}
	assert_true(read(pipes[0], path, sizeof(path) - 1) > 0);
	cgroup_free(make());
	assert_int_equal(access(path, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cgroup_free(make());
	assert_int_equal(access(path, F_OK), -1);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(it_is_gone_when_it_is_freed_with_all_that_ran_and_was_made_below)
{
	struct cgroup *cgroup = make();
	_cleanup_(freep) char *path = strdup(cgroup->path), *below = text_format("%s/below", path);
	_cleanup_(freep) char *procs = text_format("%s/cgroup.procs", below);
	int status = 0;
	pid_t pid;

	assert_int_equal(mkdir(below, 0755), 0); /* as a program under test might */
	pid = fork();
	if (pid == 0) {
		FILE *file = fopen(procs, "w");

		_exit(!file || fputs("0", file) < 0 || fclose(file) != 0 || pause());
	}
	while (cgroup_wait_empty(cgroup, 0, &err) == 1)
		usleep(1000);
	cgroup_free(cgroup);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

int check_begin(void)
{
	struct cgroup *cgroup = NULL;

	if (cgroup_new(&cgroup, NULL, &err) < 0)
		return check_cannot_run(err.text);
	cgroup_free(cgroup);
	return 0;
}
