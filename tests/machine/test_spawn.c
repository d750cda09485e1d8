/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs under test on a real machine: cgroups, orphans, time-outs, signals. burn (in the
 * directory of this binary) uses a given amount of CPU time, by its own process clock. Run as root,
 * with cgroup v2. */
#include "tests/machine/burning.h"
#include "tests/unit/check.h"

#include "lib/host/process/signals.h"
#include "lib/host/process/process.h"
#include "lib/host/process/program.h"
#include "lib/host/process/subprocess.h"

#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char burn[PATH_MAX];

static struct command_spec spec_of(char **argv, const char *path, struct cgroup *cgroup)
{
	return (struct command_spec){.argv = argv,
		.path = path,
		.cpu = -1,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = cgroup,
		.linger_ns = 60 * NS_PER_S};
}

static struct exec_result run_ok(const struct command_spec *spec)
{
	struct error err = {};
	struct exec_result exec = {};
	int r = program_run(spec, &exec, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return exec;
}

static struct cgroup *new_cgroup(void)
{
	struct cgroup *cgroup = NULL;
	struct error err = {};

	if (cgroup_new(&cgroup, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return cgroup;
}

/* What a program's start and end take beside its work: more on an emulated machine, or on one whose
 * host is busy. */
static int64_t overhead_ns(void)
{
	static int64_t most_ns;
	char *argv[] = {burn, (char *)"0", NULL};
	struct command_spec spec = spec_of(argv, burn, NULL);

	for (int i = 0; i < 10 && (i > 0 || most_ns == 0); i++) {
		int64_t pt_ns = run_ok(&spec).pt_ns;

		most_ns = pt_ns > most_ns ? pt_ns : most_ns;
	}
	return most_ns;
}

/* It has burnt `ms`; the rest is less than `more_ms`, or as much more as a start takes more than 2
 * ms. */
static void assert_burnt(int64_t pt_ns, int64_t ms, int64_t more_ms)
{
	int64_t more_ns = more_ms * NS_PER_MS, slow_ns = overhead_ns() * more_ms / 2;

	assert_in_range(pt_ns, (ms - 1) * NS_PER_MS,
		ms * NS_PER_MS + (slow_ns > more_ns ? slow_ns : more_ns));
}

static void pt_of_a_burning_program_is_right_to_a_percent(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {burn, (char *)"200", NULL};
	struct command_spec spec = spec_of(argv, burn, cgroup);
	struct exec_result s = run_ok(&spec);

	assert_int_equal(s.wait_status, 0);
	assert_burnt(s.pt_ns, 200, 4);
	assert_in_range(
		/* the scheduler's clock has its own rate */
		s.et_ns, s.pt_ns - s.pt_ns / 100, 60 * NS_PER_S);
	assert_true(s.max_rss_bytes > 100000);
}

static void an_orphan_is_counted_in_the_cgroup(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {burn, (char *)"--orphan", (char *)"150", NULL};
	struct command_spec spec = spec_of(argv, burn, cgroup);
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct exec_result s = run_ok(&spec);

	assert_burnt(s.pt_ns, 150, 6);
	/* ET is the program's: the orphan takes its time after the program has ended */
	assert_true(clock_ns(CLOCK_MONOTONIC) - begin_ns - s.et_ns > 140 * NS_PER_MS);
	assert_int_equal(s.left_behind, 1);
	assert_int_equal(s.killed, 0);
}

/* Of two, one is in a cgroup below that of the program. */
static void orphans_in_cgroups_below_are_counted(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"mkdir $0/below; sleep 1000 & (echo 0 >$0/below/cgroup.procs; "
			"exec sleep 1000) & until grep -q . $0/below/cgroup.procs; do :; done",
		cgroup->path, NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);
	struct exec_result s;

	spec.linger_ns = 50 * NS_PER_MS;
	s = run_ok(&spec);
	assert_int_equal(s.wait_status, 0);
	assert_int_equal(s.left_behind, 2);
	assert_int_equal(s.killed, 2);
}

static void without_a_cgroup_pt_is_said_to_be_partial(void **state)
{
	char *argv[] = {burn, (char *)"50", NULL};
	struct command_spec spec = spec_of(argv, burn, NULL);
	struct exec_result s = run_ok(&spec);

	assert_burnt(s.pt_ns, 50, 4);
}

static void an_orphan_that_stays_is_ended_after_linger(void **state)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"sleep 1000 & exit 0", NULL};

	for (int with = 0; with < 2; with++) {
		_cleanup_(cgroup_freep) struct cgroup *cgroup = with ? new_cgroup() : NULL;
		struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);
		struct exec_result s;

		spec.linger_ns = 50 * NS_PER_MS;
		s = run_ok(&spec);
		assert_int_equal(s.wait_status, 0);
		assert_int_equal(s.left_behind, 1);
		assert_int_equal(s.killed, 1);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
}

static void the_next_sample_is_none_the_worse_for_what_was_ended(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *leaves[] = {(char *)"sh", (char *)"-c", (char *)"sleep 1000 & exit 0", NULL};
	char *argv[] = {burn, (char *)"20", NULL};
	struct command_spec spec = spec_of(leaves, "/bin/sh", cgroup);
	struct exec_result s;

	spec.linger_ns = NS_PER_MS;
	assert_int_equal(run_ok(&spec).killed, 1);
	spec = spec_of(argv, burn, cgroup);
	s = run_ok(&spec);
	assert_int_equal(s.wait_status, 0);
	assert_burnt(s.pt_ns, 20, 4);
}

static void a_time_out_ends_the_whole_tree(void **state)
{
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"trap '' TERM; sleep 1000 & sleep 1000; sleep 1000", NULL};

	for (int with = 0; with < 2; with++) {
		_cleanup_(cgroup_freep) struct cgroup *cgroup = with ? new_cgroup() : NULL;
		struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);

		spec.timeout_ns = 100 * NS_PER_MS;
		assert_int_equal(run_ok(&spec).end, PROGRAM_TIMED_OUT);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	}
}

static void a_program_that_stops_itself_is_ended(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"kill -STOP $$; exit 5", NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);

	assert_int_equal(interrupt_init(), 0);
	assert_int_equal(run_ok(&spec).end, PROGRAM_STOPPED);
}

static void a_fork_bomb_within_limits_is_ended_whole(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"bomb() { [ $1 = 0 ] && exec sleep 1000; "
			"bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }; bomb 6",
		NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);
	struct error err = {};

	spec.timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(run_ok(&spec).end, PROGRAM_TIMED_OUT);
	assert_int_equal(cgroup_is(cgroup, "populated", &err), 0);
}

/* Each process forks two and ends, some times over; the last ones stay. */
static void a_fork_bomb_leaves_nothing_without_a_cgroup(void **state)
{
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"bomb() { [ $1 = 0 ] && exec sleep 1000; "
			"bomb $(($1 - 1)) & bomb $(($1 - 1)) & }; bomb 8; while :; "
			"do (bomb 1); done",
		NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", NULL);

	spec.timeout_ns = 500 * NS_PER_MS;
	assert_int_equal(run_ok(&spec).end, PROGRAM_TIMED_OUT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Lineages of processes that fork and end. */
static void what_never_stays_is_ended_without_a_cgroup(void **state)
{
	char *argv[] = {burn, (char *)"--flee", (char *)"16", NULL};
	struct command_spec spec = spec_of(argv, burn, NULL);

	spec.timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(run_ok(&spec).end, PROGRAM_TIMED_OUT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* It moves itself, and leaves an orphan behind there. */
static void what_moves_to_another_cgroup_is_counted_and_ended(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	const char *own = cgroup->path;
	_cleanup_(freep) char *away = text_format(
		"%.*s/emp-test-away", (int)(strrchr(own, '/') - own), own);
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"echo $$ >$1/cgroup.procs; \"$2\" 100; sleep 1000 & exit 0", (char *)"sh",
		away, burn, NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);
	struct exec_result s;

	assert_true(mkdir(away, 0755) == 0 || errno == EEXIST);
	spec.linger_ns = 50 * NS_PER_MS;
	s = run_ok(&spec);
	assert_int_equal(s.wait_status, 0);
	assert_true(s.escaped);
	assert_burnt(s.pt_ns, 100, 20);
	assert_int_equal(s.left_behind, 1);
	assert_int_equal(s.killed, 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(rmdir(away), 0);
}

static void what_freezes_itself_is_ended(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	_cleanup_(freep) char *freeze = text_format("%s/cgroup.freeze", cgroup->path);
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo 1 >$1; exit 5", (char *)"sh",
		freeze, NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);
	struct error err = {};

	assert_int_equal(run_ok(&spec).end, PROGRAM_FROZEN);
	assert_int_equal(cgroup_is(cgroup, "populated", &err), 0);
}

/* Last: it leaves the signal behind. */
static void an_interrupt_ends_the_program_and_is_told(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {(char *)"sleep", (char *)"1000", NULL};
	struct command_spec spec = spec_of(argv, "/bin/sleep", cgroup);

	assert_int_equal(interrupt_init(), 0);
	kill(getpid(), SIGINT);
	assert_int_equal(run_ok(&spec).end, PROGRAM_INTERRUPTED);
	assert_int_equal(interrupt_pending(), SIGINT);
}

static void the_cgroup_is_gone_when_it_is_freed(void **state)
{
	struct cgroup *cgroup = new_cgroup();
	_cleanup_(freep) char *path = strdup(cgroup->path), *below = text_format("%s/below", path);

	assert_int_equal(mkdir(below, 0755), 0); /* as a program under test might */
	assert_int_equal(access(path, F_OK), 0);
	cgroup_free(cgroup);
	assert_int_equal(access(path, F_OK), -1);
}

/* Until a process is in the cgroup at `path`. */
static void wait_for_process(const char *path)
{
	_cleanup_(freep) char *events = text_format("%s/cgroup.events", path);

	for (;;) {
		_cleanup_(freep) char *text = NULL;

		assert_int_equal(path_read_text(AT_FDCWD, NULL, &text, "%s", events), 0);
		if (strstr(text, "populated 1"))
			return;
		usleep(1000);
	}
}

static void what_a_killed_observer_left_is_removed_by_the_next(void **state)
{
	int pipes[2];
	char path[PATH_MAX] = "";
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) { /* an observer: tells its cgroup, then is killed while its program runs */
		char *argv[] = {(char *)"sleep", (char *)"1000", NULL};
		struct cgroup *cgroup = new_cgroup();
		struct command_spec spec = spec_of(argv, "/bin/sleep", cgroup);

		if (write(pipes[1], cgroup->path, strlen(cgroup->path)) > 0)
			run_ok(&spec);
		_exit(0);
	}
	assert_true(read(pipes[0], path, sizeof(path) - 1) > 0);
	wait_for_process(path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	do /* the program may not have executed its file yet, and hold the lock until then */
		cgroup_free(new_cgroup());
	while (access(path, F_OK) == 0 && usleep(1000) == 0);
	close(pipes[0]);
	close(pipes[1]);
}

/* What --prepare left running ends in the sample, and leaves a process of its own behind. */
static void what_a_hook_left_is_not_the_programs(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {(char *)"sh", (char *)"-c",
		(char *)"kill -9 $1; until grep -q 'State:.Z' /proc/$1/status; do :; done",
		(char *)"sh", NULL, NULL};
	struct command_spec spec = spec_of(argv, "/bin/sh", cgroup);
	pid_t server = 0, launcher;
	struct exec_result s;
	char number[16];
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	launcher = fork();
	if (launcher == 0) {
		pid_t pid = fork();

		while (pid == 0)
			pause();
		_exit(write(pipes[1], &pid, sizeof(pid)) == sizeof(pid) && pause());
	}
	assert_int_equal(read(pipes[0], &server, sizeof(server)), sizeof(server));
	snprintf(number, sizeof(number), "%d", launcher);
	argv[4] = number;
	s = run_ok(&spec);
	assert_int_equal(s.left_behind, 0);
	assert_false(s.escaped);
	assert_true(server > 0 && kill(server, 0) == 0);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	waitpid(launcher, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void what_was_our_child_before_is_not_waited_for(void **state)
{
	char *argv[] = {burn, (char *)"1", NULL};
	struct command_spec spec = spec_of(argv, burn, NULL);
	struct exec_result exec;
	pid_t server = 0, child;
	int pipes[2];

	exec = run_ok(&spec);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) { /* what --prepare 'server &' does */
		pid_t pid = fork();

		if (pid == 0)
			pause();
		_exit(write(pipes[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	waitpid(child, NULL, 0);
	assert_int_equal(read(pipes[0], &server, sizeof(server)), sizeof(server));
	exec = run_ok(&spec);
	assert_int_equal(exec.left_behind, 0);
	assert_int_equal(kill(server, 0), 0);
	kill(server, SIGKILL);
	close(pipes[0]);
	close(pipes[1]);
}

/* A program among several, and what is to come of it. */
struct one_of {
	const char *argv[4];
	int64_t timeout_ns;
	int status; /* as a shell gives it */
	enum program_end end;
	/* at least; at most a few more; -1 for an orphan that is still there when all have
	 * started */
	int64_t pt_ms;
	int left_behind, killed;
};

static char orphan_ms[24];

static const struct one_of many[] = {
	{{burn, "30"}, .pt_ms = 30},
	{{burn, "90"}, .pt_ms = 90},
	{{burn, "--orphan", orphan_ms}, .pt_ms = -1, .left_behind = 1},
	{{"/bin/sh", "-c", "exit 3"}, .status = 3},
	{{"/bin/sh", "-c", "sleep 1000 & sleep 1000 & exit 4"}, .status = 4, .left_behind = 2,
		.killed = 2},
	{{"/bin/sh", "-c", "sleep 1000 & sleep 1000"}, .timeout_ns = 200 * NS_PER_MS,
		.status = 128 + SIGKILL, .end = PROGRAM_TIMED_OUT},
	{{"/bin/sh", "-c", "kill -SEGV $$"}, .status = 128 + SIGSEGV},
	{{burn, "--orphan", orphan_ms}, .pt_ms = -1, .left_behind = 1},
};

/* How many CPUs take turns, as an emulator's do: the kernel counts the others' turns as CPU time of
 * what was to run. */
static int64_t cpus_in_turn;

static void check_one(const struct one_of *wanted, const struct exec_result *s)
{
	assert_int_equal(s->end, wanted->end);
	assert_int_equal(process_exit_status(s->wait_status), wanted->status);
	assert_int_equal(s->left_behind, wanted->left_behind);
	assert_int_equal(s->killed, wanted->killed);
	if (wanted->pt_ms)
		assert_burnt(s->pt_ns, wanted->pt_ms < 0 ? atoll(orphan_ms) : wanted->pt_ms,
			20 * cpus_in_turn);
	else
		assert_burnt(s->pt_ns, 1, 40 * cpus_in_turn); /* a shell and what it starts */
}

static void start_many(struct cgroup **cgroups, struct program **programs)
{
	struct error err = {};

	for (size_t i = 0; i < ELEMENTS(many); i++) {
		struct command_spec spec = spec_of((char **)many[i].argv, many[i].argv[0], NULL);

		spec.cgroup = cgroups[i] = new_cgroup();
		spec.timeout_ns = many[i].timeout_ns;
		spec.linger_ns = many[i].killed ? 300 * NS_PER_MS : 60 * NS_PER_S;
		if (program_start(&programs[i], &spec, &err) < 0)
			fail_msg("%s", err.text);
	}
}

static void several_at_once_get_each_its_own_times_status_and_orphans(void **state)
{
	struct cgroup *cgroups[ELEMENTS(many)];
	struct program *programs[ELEMENTS(many)] = {};
	struct error err = {};
	siginfo_t info = {};
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	pid_t own = fork();

	if (own == 0) /* a child of the tool's own: nobody may reap it */
		_exit(7);
	cpus_in_turn = burning_at_once(0, cpus - 1) ? 1 : cpus;
	snprintf(orphan_ms, sizeof(orphan_ms), "%lld",
		300 + 30 * (long long)(overhead_ns() / NS_PER_MS));
	start_many(cgroups, programs);
	for (size_t n = 0; n < ELEMENTS(many); n++) {
		size_t over = ELEMENTS(many);

		assert_int_equal(program_wait_any(programs, ELEMENTS(many), 0, &over, &err), 0);
		assert_true(over < ELEMENTS(many));
		check_one(&many[over], program_result(programs[over]));
		program_free(TAKE(programs[over]));
		cgroup_free(cgroups[over]);
	}
	assert_int_equal(waitid(P_PID, (id_t)own, &info, WEXITED), 0);
	assert_int_equal(info.si_status, 7);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no orphan is left */
	assert_int_equal(errno, ECHILD);
}

static void a_wait_ends_at_its_time_limit_and_the_program_goes_on(void **state)
{
	_cleanup_(cgroup_freep) struct cgroup *cgroup = new_cgroup();
	char *argv[] = {(char *)"sleep", (char *)"1000", NULL};
	struct command_spec spec = spec_of(argv, "/bin/sleep", cgroup);
	struct program *program = NULL;
	struct error err = {};
	size_t over = 77;

	assert_int_equal(program_start(&program, &spec, &err), 0);
	assert_int_equal(
		program_wait_any(&program, 1, clock_ns(CLOCK_MONOTONIC) + NS_PER_MS, &over, &err),
		0);
	assert_int_equal(over, 1);
	assert_int_equal(cgroup_is(cgroup, "populated", &err), 1);
	program_free(program); /* ends it */
	assert_int_equal(cgroup_is(cgroup, "populated", &err), 0);
	program = NULL;
	/* nothing to wait for */
	assert_int_equal(program_wait_any(&program, 1, 0, &over, &err), 0);
	assert_int_equal(over, 1);
}

/* Until the one process of the cgroup has stopped. */
static void wait_for_stop(const struct cgroup *cgroup)
{
	_cleanup_(freep) char *path = text_format("%s/cgroup.procs", cgroup->path), *text = NULL;
	siginfo_t info;

	assert_int_equal(path_read_text(AT_FDCWD, NULL, &text, "%s", path), 0);
	assert_int_equal(waitid(P_PID, (id_t)atoi(text), &info, WSTOPPED | WNOWAIT), 0);
}

/* Also where the other is started after it has stopped. */
static void one_that_stops_is_noticed_among_several(void **state)
{
	char *stops[] = {(char *)"sh", (char *)"-c", (char *)"kill -STOP $$", NULL};
	char *waits[] = {(char *)"sleep", (char *)"1000", NULL};
	struct cgroup *cgroups[2] = {new_cgroup(), new_cgroup()};
	struct command_spec first = spec_of(stops, "/bin/sh", cgroups[0]);
	struct command_spec second = spec_of(waits, "/bin/sleep", cgroups[1]);
	struct program *programs[2] = {};
	struct error err = {};
	size_t over = 2;

	assert_int_equal(interrupt_init(), 0);
	assert_int_equal(program_start(&programs[0], &first, &err), 0);
	wait_for_stop(cgroups[0]);
	assert_int_equal(program_start(&programs[1], &second, &err), 0);
	assert_int_equal(program_wait_any(programs, 2, 0, &over, &err), 0);
	assert_int_equal(over, 0);
	assert_int_equal(program_result(programs[0])->end, PROGRAM_STOPPED);
	for (size_t i = 0; i < 2; i++) {
		program_free(programs[i]);
		cgroup_free(cgroups[i]);
	}
}

/* True: the process has stopped, with all below it, within 20 s. */
static bool stops_with_children(pid_t pid)
{
	for (int ms = 0; ms < 20000; ms++) {
		_cleanup_(freep) char *children = NULL;
		siginfo_t info = {};
		bool all = true;

		if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
			info.si_pid == pid) {
			path_read_text(
				AT_FDCWD, NULL, &children, "/proc/%d/task/%d/children", pid, pid);
			for (const char *at = children; at && *at; at = strchr(at, ' ') + 1) {
				_cleanup_(freep) char *stat = path_text(
					AT_FDCWD, "/proc/%d/stat", atoi(at));

				all &= !stat || strchr("TZ", strrchr(stat, ')')[2]);
			}
			if (all)
				return true;
		}
		usleep(1000);
	}
	return false;
}

/* Starts programs or hooks, one after another. Long arguments make the time to execve long. */
static _Noreturn void start_for_ever(bool hooks)
{
	static char words[16][100000];
	char *argv[ELEMENTS(words) + 2] = {(char *)"true"};
	struct command_spec spec = spec_of(argv, "/bin/true", NULL);
	const struct subprocess hook = {.argv = argv, .path = "/bin/true"};
	struct exec_result exec;
	int status, r = 0;

	for (size_t i = 0; i < ELEMENTS(words); i++) {
		memset(words[i], 'x', sizeof(words[i]) - 1);
		argv[i + 1] = words[i];
	}
	setpgid(0, 0);
	while (r == 0)
		r = hooks ? subprocess_run(&hook, NULL, &status, NULL)
			  : program_run(&spec, &exec, NULL);
	_exit(1);
}

static void a_stop_while_a_program_is_started_stops_both(void **state)
{
	enum { STOPS = 30 };
	static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

	for (int hooks = 0; hooks < 2; hooks++) {
		bool stopped = true;
		siginfo_t info;
		pid_t pid = fork();

		if (pid == 0)
			start_for_ever(hooks);
		setpgid(pid, pid);
		for (int i = 0; stopped && i < STOPS; i++) {
			usleep((useconds_t)(1000 + rand() % 3000));
			killpg(pid, stops[i % 3]);
			stopped = stops_with_children(pid);
			if (stopped)
				waitid(P_PID, (id_t)pid, &info, WSTOPPED);
			killpg(pid, SIGCONT);
		}
		killpg(pid, SIGKILL);
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
		assert_int_equal(info.si_status, SIGKILL);
		if (!stopped)
			fail_msg("a %s was being started", hooks ? "hook" : "program");
	}
}

/* As in Docker's containers. */
static void refuse_clone3(void)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ELEMENTS(rows), rows};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void where_clone3_is_refused_programs_start_without_a_cgroup(void **state)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		char *argv[] = {burn, (char *)"20", NULL};
		struct command_spec spec = spec_of(argv, burn, NULL);
		struct cgroup *cgroup = NULL;
		struct exec_result exec = {};
		struct error err = {};

		refuse_clone3();
		if (cgroup_new(&cgroup, NULL, &err) != -ENOSYS || !strstr(err.text, "clone3"))
			_exit(1);
		if (program_run(&spec, &exec, &err) < 0 || exec.wait_status != 0)
			_exit(2);
		_exit(exec.pt_ns >= 19 * NS_PER_MS ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pt_of_a_burning_program_is_right_to_a_percent),
		cmocka_unit_test(an_orphan_is_counted_in_the_cgroup),
		cmocka_unit_test(orphans_in_cgroups_below_are_counted),
		cmocka_unit_test(without_a_cgroup_pt_is_said_to_be_partial),
		cmocka_unit_test(an_orphan_that_stays_is_ended_after_linger),
		cmocka_unit_test(the_next_sample_is_none_the_worse_for_what_was_ended),
		cmocka_unit_test(a_time_out_ends_the_whole_tree),
		cmocka_unit_test(a_program_that_stops_itself_is_ended),
		cmocka_unit_test(a_fork_bomb_within_limits_is_ended_whole),
		cmocka_unit_test(a_fork_bomb_leaves_nothing_without_a_cgroup),
		cmocka_unit_test(what_never_stays_is_ended_without_a_cgroup),
		cmocka_unit_test(what_moves_to_another_cgroup_is_counted_and_ended),
		cmocka_unit_test(what_freezes_itself_is_ended),
		cmocka_unit_test(several_at_once_get_each_its_own_times_status_and_orphans),
		cmocka_unit_test(a_wait_ends_at_its_time_limit_and_the_program_goes_on),
		cmocka_unit_test(one_that_stops_is_noticed_among_several),
		cmocka_unit_test(an_interrupt_ends_the_program_and_is_told),
		cmocka_unit_test(the_cgroup_is_gone_when_it_is_freed),
		cmocka_unit_test(what_a_killed_observer_left_is_removed_by_the_next),
		cmocka_unit_test(what_was_our_child_before_is_not_waited_for),
		cmocka_unit_test(what_a_hook_left_is_not_the_programs),
		cmocka_unit_test(a_stop_while_a_program_is_started_stops_both),
		cmocka_unit_test(where_clone3_is_refused_programs_start_without_a_cgroup),
	};

	snprintf(burn, sizeof(burn), "%.*s/burn", (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
	if (geteuid() != 0)
		return check_cannot_run("making cgroups needs root");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
