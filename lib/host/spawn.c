/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program under test: see spawn.h.
 *
 * clone3 with VM and VFORK starts it without copying our page tables (a copy costs milliseconds from a
 * large parent), straight into its cgroup. The child runs in our memory until it executes, so it only
 * makes system calls, and leaves what it has to tell in `struct child`. */
#include "lib/host/spawn.h"

#include "lib/base/clock.h"
#include "lib/host/descendants.h"
#include "lib/host/interrupt.h"
#include "lib/host/privilege.h"

#include <assert.h>
#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* What the child needs, and what it leaves for us. In shared memory, so that it serves a child that
 * shares our memory and one that does not. */
struct child {
	const struct spawn *spawn;
	const sigset_t *mask;
	char **environment;
	cpu_set_t cpus;
	struct timespec start_raw, start_real;
	int failed;       /* errno */
	const char *step; /* which call failed */
};

int spawn_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* The child runs on our stack: AddressSanitizer must not think that the stack ends with it. */
#define IN_CHILD _Noreturn __attribute__((noinline, no_sanitize("address", "undefined")))

static IN_CHILD void child_give_up(struct child *child, const char *step)
{
	child->failed = errno;
	child->step = step;
	_exit(127);
}

/* In the child: system calls only. */
static IN_CHILD void child_execute(struct child *child)
{
	const struct spawn *s = child->spawn;
	const int fds[3] = {s->stdin_fd, s->stdout_fd, s->stderr_fd};

	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0 && dup2(fds[i], i) < 0)
			child_give_up(child, "redirect its output");
	if (s->new_session && setsid() < 0)
		child_give_up(child, "give it a session of its own");
	if ((s->cpu >= 0 || s->affinity) && sched_setaffinity(0, sizeof(child->cpus), &child->cpus) < 0)
		child_give_up(child, "pin it to its CPUs");
	privilege_forget();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* should we be killed, it must not go on alone */
	sigprocmask(SIG_SETMASK, child->mask, NULL);
	clock_gettime(CLOCK_REALTIME, &child->start_real);
	clock_gettime(CLOCK_MONOTONIC_RAW, &child->start_raw);
	execve(s->path, s->argv, child->environment);
	child_give_up(child, "execute it");
}

/* A system call not through syscall(2)'s wrapper: a child that shares our stack must not return from a
 * function that we have yet to return from. Elsewhere the child is a copy. */
#if defined(__x86_64__)
enum { SHARED = CLONE_VM | CLONE_VFORK };
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
#elif defined(__aarch64__)
enum { SHARED = CLONE_VM | CLONE_VFORK };
static inline __attribute__((always_inline)) long call(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return x0;
}
#else
enum { SHARED = 0 };
static long call(long number, long a, long b, long c)
{
	long r = syscall(number, a, b, c);

	return r < 0 ? -errno : r;
}
#endif

/* clone3 and, in the child, child_execute. The filters of containers (Docker's, Podman's) refuse clone3, for
 * they cannot look into its arguments; where no cgroup is asked for, clone does as well. */
static __attribute__((noinline)) long clone_child(struct clone_args *args, struct child *child)
{
	long r;

	args->flags |= SHARED;
	r = call(SYS_clone3, (long)args, sizeof(*args), 0);
	if (r == -ENOSYS && !(args->flags & CLONE_INTO_CGROUP))
		r = call(SYS_clone, (long)((args->flags & UINT32_MAX) | args->exit_signal), 0,
			(long)args->pidfd);
	if (r == 0)
		child_execute(child);
	return r;
}

static int start(
	const struct spawn *s, struct child *child, pid_t *ret_pid, int *ret_pidfd, struct error *err)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | (s->cgroup ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = s->cgroup ? (uint64_t)cgroup_fd(s->cgroup) : 0,
	};
	long r;

	child->spawn = s;
	child->mask = interrupt_old_mask();
	child->environment = privilege_environment();
	CPU_ZERO(&child->cpus);
	if (s->affinity)
		child->cpus = *s->affinity;
	if (s->cpu >= 0)
		CPU_SET(s->cpu, &child->cpus);
	interrupt_child_clear(); /* the end of the one before would wake us amid this one */
	r = clone_child(&args, child);
	if (r < 0)
		return error_os(err, (int)r, "cannot start '%s'", s->argv[0]);
#if !defined(__x86_64__) && !defined(__aarch64__)
	while (!child->failed && !child->start_raw.tv_sec)
		sched_yield();
#endif
	*ret_pid = (pid_t)r;
	*ret_pidfd = pidfd;
	return 0;
}

static int end_tree(const struct spawn *s, pid_t pid, struct error *err)
{
	if (s->cgroup)
		return cgroup_kill(s->cgroup, err);
	kill(pid, SIGKILL);
	return 0; /* the rest becomes our children when it has died: see collect_rest */
}

/* How long to poll: until the deadline or the accounting's next turn, whichever is first. */
static int poll_ms(const struct spawn *s, int64_t deadline_ns)
{
	int ms = s->accounting ? accounting_poll_ms(s->accounting) : -1;
	int64_t left_ms;

	if (!deadline_ns)
		return ms;
	left_ms = (deadline_ns - clock_ns(CLOCK_MONOTONIC) + NS_PER_MS - 1) / NS_PER_MS;
	left_ms = left_ms < 0 ? 0 : left_ms > INT32_MAX ? INT32_MAX : left_ms;
	return ms < 0 || left_ms < ms ? (int)left_ms : ms;
}

/* Whether the program itself is stopped, and stays so: at a terminal, ^Z stops us too, and what wakes us
 * wakes it a moment later. */
static bool is_stopped(pid_t pid)
{
	siginfo_t info = {};

	for (int look = 0; look < 2; look++) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return false;
		if (look == 0)
			usleep(200000);
	}
	return true;
}

/* Why the program must be ended now; SPAWN_ENDED: it need not. */
static enum spawn_end why_end(pid_t pid, int64_t deadline_ns, bool child_signal)
{
	if (interrupt_came())
		return SPAWN_INTERRUPTED;
	if (deadline_ns && clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
		return SPAWN_TIMED_OUT;
	if (!child_signal)
		return SPAWN_ENDED;
	interrupt_child_clear();
	return is_stopped(pid) ? SPAWN_STOPPED : SPAWN_ENDED;
}

/* Until the program has ended; a time-out, a stop or a signal for us ends it, and the wait goes on. */
static int wait_for_end(
	const struct spawn *s, pid_t pid, int pidfd, struct spawned *spawned, struct error *err)
{
	int64_t deadline_ns = s->timeout_ns ? clock_ns(CLOCK_MONOTONIC) + s->timeout_ns : 0;
	struct pollfd fds[] = {
		{.fd = pidfd, .events = POLLIN},
		{.fd = interrupt_fd(), .events = POLLIN},
		{.fd = interrupt_child_fd(), .events = POLLIN},
		{.fd = s->accounting ? accounting_poll_fd(s->accounting) : -1, .events = POLLIN},
	};

	for (;;) {
		int r = poll(fds, ELEMENTS(fds), poll_ms(s, deadline_ns));

		if (r < 0 && errno != EINTR)
			return error_os(err, -errno, "cannot wait for '%s'", s->argv[0]);
		if (r > 0 && fds[0].revents)
			return 0;
		r = s->accounting ? accounting_drain(s->accounting, err) : 0;
		if (r < 0)
			return r;
		if (spawned->end != SPAWN_ENDED)
			continue;
		spawned->end = why_end(pid, deadline_ns, fds[2].revents);
		if (spawned->end == SPAWN_ENDED)
			continue;
		deadline_ns = 0;
		fds[1].fd = fds[2].fd = -1;
		r = end_tree(s, pid, err);
		if (r < 0)
			return r;
	}
}

static void add_rusage(struct spawned *spawned, const struct rusage *ru)
{
	int64_t user = ru->ru_utime.tv_sec * NS_PER_S + ru->ru_utime.tv_usec * NS_PER_US;
	int64_t system = ru->ru_stime.tv_sec * NS_PER_S + ru->ru_stime.tv_usec * NS_PER_US;

	spawned->user_ns += user;
	spawned->system_ns += system;
	spawned->pt_ns += user + system;
	if (ru->ru_maxrss * 1024 > spawned->max_rss_bytes)
		spawned->max_rss_bytes = ru->ru_maxrss * 1024;
	spawned->voluntary_switches += ru->ru_nvcsw;
	spawned->involuntary_switches += ru->ru_nivcsw;
}

/* Orphans of the program are our children, for we are a child subreaper. Those that have ended are waited
 * for; 1: some go on, 0: none is left. */
static int reap(struct spawned *spawned)
{
	struct rusage ru;
	pid_t pid;

	while ((pid = wait4(-1, NULL, WNOHANG, &ru)) > 0)
		add_rusage(spawned, &ru);
	return pid == 0;
}

/* 1: processes that the program left behind go on. Whatever it started descends from us; but not all that does
 * is the program's, so its cgroup is asked where there is one. */
static int some_left(const struct spawn *s, struct spawned *spawned, struct error *err)
{
	int r = reap(spawned);

	return r > 0 && s->cgroup ? cgroup_populated(s->cgroup, err) : r;
}

/* The processes that the program left behind: they may go on for linger_ns, then they are ended. */
static int collect_rest(const struct spawn *s, struct spawned *spawned, struct error *err)
{
	int64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + (spawned->end == SPAWN_ENDED ? s->linger_ns : 0);
	int r, pause_us = 100;

	while ((r = some_left(s, spawned, err)) > 0) {
		int n = s->cgroup ? cgroup_count(s->cgroup, err) : descendants_count();

		if (n > spawned->left_behind)
			spawned->left_behind = n;
		if (interrupt_came())
			spawned->end = SPAWN_INTERRUPTED;
		if (spawned->end == SPAWN_INTERRUPTED || clock_ns(CLOCK_MONOTONIC) >= give_up_ns) {
			if (n > spawned->killed)
				spawned->killed = n;
			r = s->cgroup ? cgroup_kill(s->cgroup, err) : descendants_kill(err);
			if (r < 0)
				return r;
		}
		usleep((useconds_t)pause_us);
		if (pause_us < 10000)
			pause_us *= 2;
	}
	return r;
}

/* PT of the whole tree from its cgroup; what wait4 said is all there is without one. */
static int take_cgroup_times(
	const struct spawn *s, const struct cgroup_usage *before, struct spawned *spawned, struct error *err)
{
	struct cgroup_usage after;
	int r;

	r = cgroup_usage(s->cgroup, &after, err);
	if (r < 0)
		return r;
	spawned->pt_ns = after.usage_ns - before->usage_ns;
	spawned->user_ns = after.user_ns - before->user_ns;
	spawned->system_ns = after.system_ns - before->system_ns;
	spawned->pt_partial = false;
	return 0;
}

/* We cannot go on: nothing of the program must. */
static void give_up(const struct spawn *s, pid_t pid, struct spawned *spawned)
{
	struct error ignored;

	spawned->end = SPAWN_INTERRUPTED;
	end_tree(s, pid, &ignored);
	waitpid(pid, NULL, 0);
	collect_rest(s, spawned, &ignored);
}

static int run_child(const struct spawn *s, struct child *child, struct spawned *ret, struct error *err)
{
	_cleanup_(closep) int pidfd = -1;
	struct cgroup_usage before = {};
	struct spawned spawned = {.pt_partial = true};
	struct rusage ru;
	pid_t pid = 0;
	int r;

	r = s->cgroup ? cgroup_usage(s->cgroup, &before, err) : 0;
	if (r < 0)
		return r;
	r = start(s, child, &pid, &pidfd, err);
	if (r < 0)
		return r;
	r = wait_for_end(s, pid, pidfd, &spawned, err);
	spawned.et_ns = clock_ns(CLOCK_MONOTONIC_RAW) - timespec_ns(child->start_raw);
	spawned.start_ns = timespec_ns(child->start_real);
	if (r < 0) {
		give_up(s, pid, &spawned);
		return r;
	}
	if (wait4(pid, &spawned.wait_status, 0, &ru) < 0)
		return error_os(err, -errno, "cannot wait for '%s'", s->argv[0]);
	if (child->failed)
		return error_os(err, -child->failed, "cannot start '%s': cannot %s", s->argv[0], child->step);
	add_rusage(&spawned, &ru);
	r = collect_rest(s, &spawned, err);
	if (r < 0)
		return r;
	if (s->cgroup) {
		r = take_cgroup_times(s, &before, &spawned, err);
		if (r == 0)
			r = cgroup_renew(s->cgroup, err);
	}
	if (r == 0)
		*ret = spawned;
	return r;
}

int spawn_run(const struct spawn *s, struct spawned *ret, struct error *err)
{
	static struct child *child; /* one page, kept for the next sample */
	int r;

	assert(s->path && s->argv && s->argv[0]);
	if (!child) {
		void *page = mmap(
			NULL, sizeof(*child), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			return error_os(err, -errno, "cannot start '%s'", s->argv[0]);
		child = page;
	}
	*child = (struct child){};
	/* not for longer: a server that --prepare starts is no orphan of the program's */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	r = run_child(s, child, ret, err);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	return r;
}
