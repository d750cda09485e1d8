/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program under test: how it is awaited, ended if it must be, and what it took. See spawn.h. */
#include "lib/host/process/spawn.h"

#include "lib/base/clock.h"
#include "lib/host/process/start.h"
#include "lib/host/process/descendants.h"
#include "lib/host/process/signals.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const int64_t DYING_NS = 20 * NS_PER_S; /* from SIGKILL to the end: a large memory takes seconds */

int spawn_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
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
	if (interrupt_pending())
		return SPAWN_INTERRUPTED;
	if (deadline_ns && clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
		return SPAWN_TIMED_OUT;
	if (!child_signal)
		return SPAWN_ENDED;
	interrupt_child_clear();
	return is_stopped(pid) ? SPAWN_STOPPED : SPAWN_ENDED;
}

/* -EBUSY. Whoever waits for a device or a server in the kernel cannot be killed, and must not hold us up for
 * ever. */
static int does_not_end(const struct spawn *s, struct error *err)
{
	return error_say(err, -EBUSY,
		"'%s' was killed, and some process of it has not ended for %lld s: it waits in the kernel, for a device or a server (state D in 'ps')",
		s->argv[0], (long long)(DYING_NS / NS_PER_S));
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
		if (spawned->end != SPAWN_ENDED) {
			if (clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
				return does_not_end(s, err);
			continue;
		}
		spawned->end = why_end(pid, deadline_ns, fds[2].revents);
		if (spawned->end == SPAWN_ENDED)
			continue;
		deadline_ns = clock_ns(CLOCK_MONOTONIC) + DYING_NS;
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

/* 1: processes that the program left behind go on. Whatever it started descends from us; but not all that
 * does is the program's, so its cgroup is asked where there is one. */
static int some_left(const struct spawn *s, struct spawned *spawned, struct error *err)
{
	int r = reap(spawned);

	return r > 0 && s->cgroup ? cgroup_populated(s->cgroup, err) : r;
}

/* The processes that the program left behind: they may go on for linger_ns, then they are ended. */
static int collect_rest(const struct spawn *s, struct spawned *spawned, struct error *err)
{
	int64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + (spawned->end == SPAWN_ENDED ? s->linger_ns : 0);
	int64_t dead_ns = 0;
	int r, pause_us = 100;

	while ((r = some_left(s, spawned, err)) > 0) {
		int n = s->cgroup ? cgroup_count(s->cgroup, err) : descendants_count();
		int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (n > spawned->left_behind)
			spawned->left_behind = n;
		if (interrupt_pending())
			spawned->end = SPAWN_INTERRUPTED;
		if (spawned->end == SPAWN_INTERRUPTED || now_ns >= give_up_ns) {
			dead_ns = dead_ns ?: now_ns + DYING_NS;
			if (now_ns >= dead_ns)
				return does_not_end(s, err);
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
	r = child_start(s, child, &pid, &pidfd, err);
	if (r < 0)
		return r;
	r = wait_for_end(s, pid, pidfd, &spawned, err);
	spawned.et_ns = clock_ns(CLOCK_MONOTONIC_RAW) - timespec_ns(child->start_raw);
	spawned.start_ns = timespec_ns(child->start_real);
	if (r < 0) {
		if (r != -EBUSY)
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
