/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs under test: waiting for them, killing them, and their times. See program.h. */
#include "lib/host/process/program.h"

#include "lib/host/process/orphans.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/tty.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* wait4 and the cgroup count the same nanoseconds, rounded down to microseconds; a greater
 * difference ran elsewhere. */
static const int64_t OUTSIDE_NS = 100 * NS_PER_US;
/* Less than a thread or a process needs to start and to end. */
static const int64_t ANOTHER_NS = 10 * NS_PER_US;

/* from SIGKILL to the end: a large memory takes seconds */
static const int64_t DYING_NS = 20 * NS_PER_S;
static const int64_t RESUME_NS = 200 * NS_PER_MS; /* from a stop by ^Z to the SIGCONT for all */
/* between checks */
static const int64_t FIRST_FREEZE_NS = NS_PER_S, MOST_FREEZE_NS = 10 * NS_PER_S;

/* A file in memory that the program fills without end. */
enum { MOST_STDERR = 1 << 20 };
static const int64_t STDERR_NS = 50 * NS_PER_MS;

enum state {
	RUNNING,
	KILLED,    /* the program itself, which has not ended yet */
	LINGERING, /* it has ended, but left processes behind */
	OVER,
	GIVEN_UP, /* it was killed and does not end, or may not be killed */
};

struct program {
	struct command_spec spec;
	int pidfd;
	struct orphans orphans;
	struct cgroup_usage before;
	struct exec_result result;
	int n_ended;            /* of those left behind, when this process looked first */
	struct schedstat first; /* of its first thread, at its end */
	bool has_first;
	enum state state;
	int64_t deadline_ns; /* RUNNING: time-out; LINGERING: when the rest is killed; 0: none */
	int64_t dead_ns;     /* once killed: when to give up */
	/* RUNNING: whether it is still stopped; LINGERING: whether some are left */
	int64_t check_ns;
	int64_t pause_ns; /* LINGERING: between two checks */

	/* Whether it has frozen its own cgroup, so that it would never end. Checked after a second,
	 * then less and less often, so that a long program is hardly disturbed. */
	/* CLOCK_MONOTONIC; freeze_check_ns: the next check, 0: never */
	int64_t begin_ns, freeze_check_ns;
	bool frozen; /* at the last check */

	int64_t alive_raw_ns, seen_raw_ns; /* CLOCK_MONOTONIC_RAW: it still ran; its end was seen */
};

const struct exec_result *program_result(const struct program *p)
{
	return &p->result;
}

static int64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The earlier of two moments; 0: never. */
static int64_t earlier(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

void program_times(struct exec_result *exec, const struct schedstat *first)
{
	int64_t before_ns = exec->before_ns < exec->pt_ns ? exec->before_ns : exec->pt_ns;
	int64_t system_ns = before_ns < exec->system_ns ? before_ns : exec->system_ns;
	int64_t user_ns = before_ns - system_ns;

	exec->wait_ns = -1;
	if (first && exec->wait_before_ns >= 0 && !exec->escaped &&
		exec->pt_ns - first->run_ns <= ANOTHER_NS) {
		exec->wait_ns = first->wait_ns - exec->wait_before_ns;
		if (exec->wait_ns < 0)
			exec->wait_ns = 0;
	}

	/* The kernel's clocks of a process and of its cgroup count the same nanoseconds, so the
	 * difference is exact. The work was system calls; the parts of user and system are
	 * estimated anyway. */
	exec->before_ns = before_ns;
	exec->pt_ns -= before_ns;
	exec->system_ns -= system_ns;
	exec->user_ns -= user_ns < exec->user_ns ? user_ns : exec->user_ns;
}

int program_start(struct program **ret, const struct command_spec *spec, struct error *err)
{
	_cleanup_(program_freep) struct program *p = xcalloc(1, sizeof(*p));
	int r;

	assert(spec->path && spec->argv && spec->argv[0]);
	p->spec = *spec;
	p->state = OVER; /* until it has started */
	p->pidfd = -1;
	tty_keep();
	r = orphans_begin(&p->orphans, spec->cgroup, err);
	p->orphans.number = (int)spec->number;
	p->orphans.has_partners = spec->has_partners;
	p->orphans.accounting = spec->accounting;
	if (r == 0 && spec->cgroup)
		r = cgroup_usage(spec->cgroup, &p->before, err);
	if (r == 0)
		r = program_launch(spec, &p->result, &p->pidfd, err);
	if (r < 0)
		return r;
	p->state = RUNNING;
	p->alive_raw_ns = p->result.start_raw_ns;
	p->begin_ns = now();
	if (spec->timeout_ns)
		p->deadline_ns = p->begin_ns + spec->timeout_ns;
	if (spec->cgroup && !spec->frozen_at_times)
		p->freeze_check_ns = p->begin_ns + FIRST_FREEZE_NS;
	*ret = TAKE(p);
	return 0;
}

int program_used(const struct program *p, int64_t *ret_ns, struct error *err)
{
	struct cgroup_usage now_used;
	int r;

	if (p->spec.cgroup)
		r = cgroup_usage(p->spec.cgroup, &now_used, err);
	else
		r = orphans_used(
			&p->orphans, p->state == LINGERING ? 0 : p->result.pid, ret_ns, err);
	if (r < 0)
		return r;
	if (p->spec.cgroup)
		*ret_ns = now_used.usage_ns - p->before.usage_ns;
	else
		*ret_ns += p->result.pt_ns; /* of those that were reaped */
	return 0;
}

void program_set_deadline(struct program *p, int64_t at_ns)
{
	if (p->state == RUNNING)
		p->deadline_ns = at_ns;
}

void program_signal(const struct program *p, int signal)
{
	if (p->state == RUNNING || p->state == KILLED)
		kill(-p->result.pid, signal);
}

void program_await_stop(const struct program *p, int64_t most_ns)
{
	const struct timespec pause = {.tv_nsec = 20 * NS_PER_US};
	int64_t until_ns = now() + most_ns;
	siginfo_t info = {};

	while (waitid(P_PID, (id_t)p->result.pid, &info, WSTOPPED | WNOHANG) == 0 &&
		info.si_pid == 0 && now() < until_ns)
		nanosleep(&pause, NULL);
}

/* -EBUSY. A process that waits in the kernel cannot be killed, and must not block this one
 * forever. */
static int give_up(struct program *p, struct error *err)
{
	p->state = GIVEN_UP;
	return error_say(err, -EBUSY,
		"'%s' was killed, but one of its processes has not ended for %lld s: it waits in "
		"the kernel, for a device or a server (state D in 'ps')",
		p->spec.argv[0], (long long)(DYING_NS / NS_PER_S));
}

static int kill_running(struct program *p, enum program_end why, struct error *err)
{
	bool refused = kill(p->result.pid, SIGKILL) < 0 && errno == EPERM && !p->spec.cgroup;
	int r = orphans_kill(&p->orphans, err);

	p->state = refused ? GIVEN_UP : KILLED;
	p->result.end = why;
	p->dead_ns = now() + DYING_NS;
	p->check_ns = 0;
	if (refused)
		return error_say(err, -EPERM,
			"this user may not kill '%s', which runs as another: process %d still runs",
			p->spec.argv[0], p->result.pid);
	return r;
}

/* PT of the whole tree from its cgroup, which includes processes that nobody waited for; but PT of
 * wait4 if that is more, because a part ran outside the cgroup, or if there is no cgroup. */
static int conclude_program(struct program *p, struct error *err)
{
	struct exec_result *result = &p->result;
	struct cgroup_usage after;
	int r;

	p->state = OVER;
	if (result->end != PROGRAM_ENDED || result->wait_status != 0)
		tty_put_back();
	if (p->spec.cgroup) {
		r = cgroup_usage(p->spec.cgroup, &after, err);
		if (r < 0)
			return r;
		result->escaped = result->pt_ns > after.usage_ns - p->before.usage_ns + OUTSIDE_NS;
	}
	if (p->spec.cgroup && !result->escaped) {
		result->pt_ns = after.usage_ns - p->before.usage_ns;
		result->user_ns = after.user_ns - p->before.user_ns;
		result->system_ns = after.system_ns - p->before.system_ns;
	}
	program_times(result, p->has_first ? &p->first : NULL);
	return p->spec.cgroup ? cgroup_renew(p->spec.cgroup, err) : 0;
}

/* The program itself has ended. The rest may run until the deadline, unless this process was
 * interrupted. */
static int check_rest(struct program *p, struct error *err)
{
	int r, n;

	r = orphans_reap(&p->orphans, &p->result, err);
	if (r <= 0)
		return r < 0 ? r : conclude_program(p, err);

	n = orphans_count(&p->orphans, err);
	if (n < 0)
		return n;
	/* those that had ended already are counted once, those that run again and again */
	if (p->orphans.end_ns)
		p->n_ended = p->result.left_behind;
	p->orphans.end_ns = 0;
	if (p->result.end == PROGRAM_ENDED /* else they die with it */ &&
		n + p->n_ended > p->result.left_behind)
		p->result.left_behind = n + p->n_ended;

	p->check_ns = now() + p->pause_ns;
	if (p->pause_ns < 10 * NS_PER_MS)
		p->pause_ns *= 2;
	if (interrupt_pending())
		p->result.end = PROGRAM_INTERRUPTED;
	if (p->result.end != PROGRAM_INTERRUPTED && now() < p->deadline_ns)
		return 0;

	p->dead_ns = p->dead_ns ?: now() + DYING_NS;
	if (now() >= p->dead_ns)
		return give_up(p, err);
	if (p->result.left_behind > 0 && n > p->result.killed)
		p->result.killed = n;
	return orphans_kill(&p->orphans, err);
}

/* Whether the program is stopped and remains stopped; `may_have`: it may have stopped just now. On
 * a terminal, ^Z stops this process too, and is followed by a SIGCONT for both; so a check that
 * comes late, because this process could not run, does not count. */
static bool stays_stopped(struct program *p, bool may_have)
{
	int64_t now_ns = now();
	bool due = p->check_ns && now_ns >= p->check_ns,
	     late = due && now_ns > p->check_ns + RESUME_NS / 2;
	siginfo_t info = {};

	if (!due && (!may_have || p->check_ns))
		return false;
	if (waitid(P_PID, (id_t)p->result.pid, &info, WSTOPPED | WNOHANG | WNOWAIT) < 0 ||
		info.si_pid == 0) {
		p->check_ns = 0;
		return false;
	}
	if (due && !late)
		return true;
	p->check_ns = now_ns + RESUME_NS;
	return false;
}

static int check_running(struct program *p, bool may_have_stopped, struct error *err)
{
	int64_t now_ns, pause_ns = FIRST_FREEZE_NS;
	bool was_frozen = p->frozen;
	struct stat st;

	if (p->spec.short_stderr && fstat(p->spec.stderr_fd, &st) == 0 &&
		st.st_blocks * 512 > MOST_STDERR)
		fallocate(p->spec.stderr_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			st.st_size - MOST_STDERR / 16);
	if (interrupt_pending())
		return kill_running(p, PROGRAM_INTERRUPTED, err);
	now_ns = now();
	if (p->deadline_ns && now_ns >= p->deadline_ns)
		return kill_running(p, PROGRAM_TIMED_OUT, err);
	if (p->freeze_check_ns && now_ns >= p->freeze_check_ns) {
		p->frozen = cgroup_is(p->spec.cgroup, "frozen", NULL) > 0;
		if (was_frozen && p->frozen) /* at two checks, a second apart */
			return kill_running(p, PROGRAM_FROZEN, err);
		if (!p->frozen)
			pause_ns = now_ns - p->begin_ns < MOST_FREEZE_NS ? now_ns - p->begin_ns
									 : MOST_FREEZE_NS;
		p->freeze_check_ns = now_ns + pause_ns;
	}
	if (p->spec.own_group) /* it is stopped and continued all the time */
		return 0;
	return stays_stopped(p, may_have_stopped) ? kill_running(p, PROGRAM_STOPPED, err) : 0;
}

/* Converts a moment of CLOCK_MONOTONIC to CLOCK_MONOTONIC_RAW. Reads again if this process lost its
 * CPU between the two clocks. */
static int64_t raw_of(int64_t ns)
{
	int64_t before_ns, raw_ns;
	int tries = 10;

	do {
		before_ns = now();
		raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	} while (now() - before_ns > 5 * NS_PER_US && --tries > 0);
	return raw_ns - (before_ns - ns);
}

/* The end of a program as BPF saw it, if that is better than what find_end() knows. The kernel
 * wakes pollers right before it sends the signal, so this process may have seen the end even
 * earlier. */
static void find_exact_end(struct program *p)
{
	int64_t end_ns = accounting_end(p->spec.accounting, p->result.pid), end_raw_ns, delay_ns;
	struct exec_result *result = &p->result;

	if (end_ns < 0)
		return;
	if (result->end == PROGRAM_ENDED)
		p->orphans.end_ns = end_ns;
	end_raw_ns = raw_of(end_ns);
	if (end_raw_ns < result->start_raw_ns)
		return;
	delay_ns = end_raw_ns < p->seen_raw_ns ? p->seen_raw_ns - end_raw_ns : 0;
	result->et_ns = p->seen_raw_ns - delay_ns - result->start_raw_ns;
	result->end_delay_ns = delay_ns;
	result->late_ns = 0;
}

/* Handles the events of one program. */
static int advance_program(struct program *p, bool ended, bool may_have_stopped, struct error *err)
{
	if (ended) {
		struct rusage ru;

		if (accounting_state(p->spec.accounting)->backend != ACCOUNTING_BPF)
			p->has_first = schedstat_read(p->result.pid, &p->first);
		if (wait4(p->result.pid, &p->result.wait_status, 0, &ru) < 0)
			return error_os(err, -errno, "cannot wait for '%s'", p->spec.argv[0]);
		find_exact_end(p);
		exec_result_add_usage(&p->result, &ru);
		p->state = LINGERING;
		p->deadline_ns = now() + (p->result.end == PROGRAM_ENDED ? p->spec.linger_ns : 0);
		p->dead_ns = 0;
		p->pause_ns = 100 * NS_PER_US;
		return check_rest(p, err);
	}
	switch (p->state) {
	case RUNNING:
		return check_running(p, may_have_stopped, err);
	case KILLED:
		return now() >= p->dead_ns ? give_up(p, err) : 0;
	case LINGERING:
		return now() >= p->check_ns ? check_rest(p, err) : 0;
	default:
		return 0;
	}
}

/* Indices of the descriptors that are polled. The pidfds of the programs follow from ENDS on. */
enum { INTERRUPT, CHILD, ACCOUNTS, ENDS };

/* Fills in the descriptors. Returns the moment of the next timed action; 0: there is none. */
static int64_t fill_poll(
	struct pollfd *fds, struct program *const *programs, size_t n, int accounting_fd)
{
	bool running = false;
	int64_t wake_ns = 0;

	for (size_t i = 0; i < n; i++) {
		struct program *p = programs[i];
		bool alive = p && (p->state == RUNNING || p->state == KILLED);

		fds[ENDS + i] = (struct pollfd){.fd = alive ? p->pidfd : -1, .events = POLLIN};
		if (!p)
			continue;
		wake_ns = earlier(wake_ns, p->check_ns);
		if (p->state == KILLED)
			wake_ns = earlier(wake_ns, p->dead_ns);
		if (p->state != RUNNING)
			continue;
		running = true;
		wake_ns = earlier(wake_ns, p->freeze_check_ns);
		wake_ns = earlier(wake_ns, p->deadline_ns);
		if (p->spec.short_stderr)
			wake_ns = earlier(wake_ns, now() + STDERR_NS);
	}
	fds[INTERRUPT] = (struct pollfd){.fd = running ? interrupt_fd : -1, .events = POLLIN};
	fds[CHILD] = (struct pollfd){.fd = running ? interrupt_child_fd : -1, .events = POLLIN};
	fds[ACCOUNTS] = (struct pollfd){.fd = accounting_fd, .events = POLLIN};
	return wake_ns;
}

/* The waits of this thread so far. */
struct own_waits {
	struct schedstat cpu; /* for a CPU */
	bool known;
	long n_sleeps;
};

static struct own_waits own_waits_read(int schedstat_fd)
{
	char text[SCHEDSTAT_SIZE] = "";
	struct own_waits waits = {};
	struct rusage ru;

	waits.known = schedstat_fd >= 0 && pread(schedstat_fd, text, sizeof(text) - 1, 0) > 0 &&
		      schedstat_parse(text, &waits.cpu) && getrusage(RUSAGE_THREAD, &ru) == 0;
	if (waits.known)
		waits.n_sleeps = ru.ru_nvcsw;
	return waits;
}

/* Polling ended now, between `before` and `after`. If this process slept, the end woke it, and the
 * program had ended before this process waited for a CPU. Otherwise the end may have been at any
 * time since the program was last seen alive. */
static void find_end(struct program *p, int64_t seen_raw_ns, const struct own_waits *before,
	const struct own_waits *after)
{
	struct exec_result *result = &p->result;
	int64_t delay_ns = after->cpu.wait_ns - before->cpu.wait_ns;

	p->seen_raw_ns = seen_raw_ns;
	result->et_ns = seen_raw_ns - result->start_raw_ns;
	result->end_delay_ns = 0;
	if (!before->known || !after->known) {
		result->late_ns = -1;
	} else if (after->n_sleeps == before->n_sleeps) {
		result->late_ns = seen_raw_ns - p->alive_raw_ns;
	} else {
		result->late_ns = 0;
		if (delay_ns > seen_raw_ns - p->alive_raw_ns)
			delay_ns = seen_raw_ns - p->alive_raw_ns;
		result->end_delay_ns = delay_ns;
		result->et_ns -= delay_ns;
	}
}

/* True: *ret is a program that is over, or n if there are no programs. */
static bool find_over(struct program *const *programs, size_t n, size_t *ret)
{
	bool any = false;

	for (*ret = 0; *ret < n; (*ret)++) {
		if (programs[*ret] && programs[*ret]->state == OVER)
			return true;
		any |= programs[*ret] != NULL;
	}
	return !any;
}

int program_wait_any(
	struct program *const *programs, size_t n, int64_t until_ns, size_t *ret, struct error *err)
{
	_cleanup_(freep) struct pollfd *fds = xcalloc(n + ENDS, sizeof(*fds));
	struct accounting *accounting = NULL;
	_cleanup_(closep) int waits_fd = -1;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		if (!programs[i])
			continue;
		if (n > 1 && !programs[i]->spec.cgroup && !programs[i]->spec.has_partners)
			return error_say(err, -ENOTSUP,
				"several programs at once need a cgroup each: without, "
				"their orphans cannot be told apart");
		accounting = programs[i]->spec.accounting;
		/* The start of one program discards the signal that another has stopped. */
		if (n > 1 && programs[i]->state == RUNNING && !programs[i]->spec.own_group)
			stays_stopped(programs[i], true);
	}
	if (accounting_state(accounting)->backend != ACCOUNTING_BPF)
		waits_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	/* At least once, also if this process could not run until then. */
	for (bool first = true;
		!find_over(programs, n, ret) && (first || !until_ns || now() < until_ns);
		first = false) {
		const struct accounting_state *polled = accounting_state(accounting);
		int64_t wake_ns = fill_poll(fds, programs, n, polled->poll_fd);
		struct own_waits before, after;
		int64_t left_ns, seen_raw_ns;
		struct timespec timeout;
		bool stopped;

		/* Waits until something happens, and records the time of each end. */
		wake_ns = earlier(wake_ns, until_ns);
		if (polled->poll_ms >= 0)
			wake_ns = earlier(wake_ns, now() + polled->poll_ms * NS_PER_MS);
		left_ns = wake_ns ? wake_ns - now() : 0;
		left_ns = left_ns < 0 ? 0 : left_ns;
		timeout = (struct timespec){left_ns / NS_PER_S, left_ns % NS_PER_S};

		before = own_waits_read(waits_fd);
		if (ppoll(fds, n + ENDS, wake_ns ? &timeout : NULL, NULL) < 0 && errno != EINTR)
			return error_os(err, -errno, "cannot wait for programs");
		seen_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		after = own_waits_read(waits_fd);
		for (size_t i = 0; i < n; i++)
			if (fds[ENDS + i].revents)
				find_end(programs[i], seen_raw_ns, &before, &after);
			else if (programs[i])
				programs[i]->alive_raw_ns = seen_raw_ns;

		r = accounting_drain(accounting, err);
		if (r < 0)
			return r;
		stopped = fds[CHILD].revents && (n > 1 || !fds[ENDS].revents);
		if (stopped)
			interrupt_drain(interrupt_child_fd);
		for (size_t i = 0; r == 0 && i < n; i++)
			if (programs[i])
				r = advance_program(
					programs[i], fds[ENDS + i].revents, stopped, err);
		if (r < 0)
			return r;
	}
	return 0;
}

void program_free(struct program *p)
{
	size_t over;

	if (!p)
		return;
	if (p->state != OVER && p->state != GIVEN_UP) {
		if (p->state == RUNNING)
			kill_running(p, PROGRAM_INTERRUPTED, NULL);
		p->result.end = PROGRAM_INTERRUPTED; /* nothing may linger */
		p->check_ns = now();                 /* after a failure none may be due */
		p->spec.accounting = NULL;
		program_wait_any(&p, 1, 0, &over, NULL); /* until it is over, or is given up */
	}
	closep(&p->pidfd);
	pid_list_free(&p->orphans.before);
	free(p);
}

int program_run(const struct command_spec *spec, struct exec_result *ret, struct error *err)
{
	_cleanup_(program_freep) struct program *p = NULL;
	size_t over;
	int r;

	r = program_start(&p, spec, err);
	if (r == 0)
		r = program_wait_any(&p, 1, 0, &over, err);
	if (r == 0)
		*ret = p->result;
	return r;
}
