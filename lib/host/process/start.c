/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a program under test is started: see start.h.
 *
 * clone3 with VM and VFORK starts it directly in its cgroup without copying the page tables of this process (which
 * would take milliseconds for a large one). The child runs in the parent's memory, while the parent waits, until it
 * executes the program; so it only makes system calls, and stores its results in `struct child`. */
#include "lib/host/process/start.h"

#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* struct sched_attr in its first version, which some C libraries declare and others do not. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns; /* runtime_ns: for the fair class, its slice */
};

static int slice_get(struct sched_attributes *ret)
{
	*ret = (struct sched_attributes){.size = sizeof(*ret)};
	return syscall(SYS_sched_getattr, 0, ret, sizeof(*ret), 0) < 0 ? -errno : 0;
}

int slice_set(int64_t slice_ns)
{
	struct sched_attributes a;
	int r = slice_get(&a);

	if (r < 0)
		return r;
	if (a.policy != SCHED_OTHER && a.policy != SCHED_BATCH)
		return -ENOTSUP;
	a.size = sizeof(a);
	a.runtime_ns = (uint64_t)slice_ns;
	if (syscall(SYS_sched_setattr, 0, &a, 0) < 0)
		return -errno;
	r = slice_get(&a);
	return r < 0 ? r : slice_ns == 0 || a.runtime_ns == (uint64_t)slice_ns ? 0 : -ENOTSUP;
}

bool slice_can_be_set(void)
{
	bool can = slice_set(10 * NS_PER_MS) == 0;

	return slice_set(0) == 0 && can;
}

int64_t slice_tick_ns(void)
{
	struct timespec tick;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? timespec_ns(tick) : 0;
}

/* The child's input and results. */
struct child {
	pid_t parent;
	const struct spawn *spawn;
	const sigset_t *mask;
	char **environment;
	cpu_set_t cpus;
	struct timespec start_raw, start_real, used;
	int64_t wait_ns;                /* at the start; -1: see schedstat */
	char schedstat[SCHEDSTAT_SIZE]; /* "": not known */
	int failed;                     /* errno */
	const char *step;               /* which call failed */
};

/* The child runs on the parent's stack: AddressSanitizer must not think that the stack ends with the child. */
#define IN_CHILD _Noreturn __attribute__((noinline, no_sanitize("address", "undefined")))

static IN_CHILD void child_give_up(struct child *child, const char *step)
{
	child->failed = errno;
	child->step = step;
	_exit(127);
}

static inline __attribute__((always_inline)) void child_read_schedstat(struct child *child)
{
	int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, child->schedstat, sizeof(child->schedstat) - 1);

	child->schedstat[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* A system call not through syscall(2)'s wrapper: a child that shares our stack must not return from a
 * function that we have yet to return from. Elsewhere the child is a copy. */
#if defined(__x86_64__)
enum { SHARED = CLONE_VM };
static inline __attribute__((always_inline)) long start_call(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
#elif defined(__aarch64__)
enum { SHARED = CLONE_VM };
static inline __attribute__((always_inline)) long start_call(long number, long a, long b, long c)
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
static long start_call(long number, long a, long b, long c)
{
	long r = syscall(number, a, b, c);

	return r < 0 ? -errno : r;
}
#endif

/* clone3 and, in the child, child_execute. The filters of containers (Docker's, Podman's) refuse clone3, because
 * they cannot inspect its arguments; without a cgroup, clone is sufficient. */
static __attribute__((noinline)) long clone_child(struct clone_args *args, struct child *child)
{
	long r;

	args->flags |= CLONE_VFORK | SHARED;
	r = start_call(SYS_clone3, (long)args, sizeof(*args), 0);
	if (r == -ENOSYS && !(args->flags & CLONE_INTO_CGROUP))
		r = start_call(SYS_clone, (long)((args->flags & UINT32_MAX) | args->exit_signal), 0,
			(long)args->pidfd);
	if (r == 0) {
		const struct spawn *s = child->spawn;
		const int fds[3] = {s->stdin_fd, s->stdout_fd, s->stderr_fd};

		/* In the child: system calls only. */
		for (int i = 0; i < 3; i++)
			if (fds[i] >= 0 && dup2(fds[i], i) < 0)
				child_give_up(child, "redirect its output");
		if (s->new_session && setsid() < 0)
			child_give_up(child, "give it a session of its own");
		if ((s->cpu >= 0 || s->affinity) &&
			sched_setaffinity(0, sizeof(child->cpus), &child->cpus) < 0)
			child_give_up(child, "pin it to its CPUs");
		if (s->slice_ns)
			slice_set(s->slice_ns);
		privilege_forget();
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not outlive its parent, */
		if (getppid() != child->parent)   /* which may have ended already */
			_exit(127);
		sigprocmask(SIG_SETMASK, child->mask, NULL);
		if (!s->wait_unused)
			child->wait_ns = accounting_own_wait(s->accounting);
		if (!s->wait_unused && child->wait_ns < 0)
			child_read_schedstat(child);
		clock_gettime(CLOCK_REALTIME, &child->start_real);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &child->used);
		clock_gettime(CLOCK_MONOTONIC_RAW, &child->start_raw);
		execve(s->path, s->argv, child->environment);
		child_give_up(child, "execute it");
	}
	return r;
}

/* The compiler must not think that a path that never returns leaves *child unread and unwritten. */
static inline void let_child_see(struct child *child)
{
	__asm__ volatile("" : : "r"(child) : "memory");
}

static int say_child_failed(const struct child *child, struct error *err)
{
	const struct spawn *s = child->spawn;
	const char *hint = "";

	if (child->failed == ENOEXEC)
		hint = "; a script needs a #! line";
	else if (child->failed == ENOENT && access(s->path, F_OK) == 0)
		hint = "; the interpreter that its first line names, or its loader, is missing";
	return error_say(err, -child->failed, "cannot start '%s': cannot %s: %s%s", s->argv[0], child->step,
		strerror(child->failed), hint);
}

static int start_child(struct child *child, const struct spawn *s, struct started *ret, struct error *err)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | (s->cgroup ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = s->cgroup ? (uint64_t)cgroup_fd(s->cgroup) : 0,
	};
	struct schedstat waited;
	long r;

	*child = (struct child){
		.spawn = s,
		.parent = getpid(),
		.mask = interrupt_old_mask(),
		.environment = privilege_environment(),
		.wait_ns = -1,
	};
	CPU_ZERO(&child->cpus);
	if (s->affinity)
		child->cpus = *s->affinity;
	if (s->cpu >= 0)
		CPU_SET(s->cpu, &child->cpus);
	interrupt_child_clear(); /* the end of an earlier program would wake this process during the sample */
	let_child_see(child);
	r = clone_child(&args, child);
	let_child_see(child);
	if (r < 0)
		return error_os(err, (int)r, "cannot start '%s'", s->argv[0]);
	if (child->failed) {
		close(pidfd);
		waitpid((pid_t)r, NULL, 0);
		return say_child_failed(child, err);
	}
	if (child->wait_ns < 0 && schedstat_parse(child->schedstat, &waited))
		child->wait_ns = waited.wait_ns;
	*ret = (struct started){
		.pid = (pid_t)r,
		.pidfd = pidfd,
		.real_ns = timespec_ns(child->start_real),
		.monotonic_ns = timespec_ns(child->start_raw),
		.wait_ns = child->wait_ns,
		.used_ns = timespec_ns(child->used),
	};
	return 0;
}

int start_program(const struct spawn *s, struct started *ret, struct error *err)
{
	struct child ours, *child = &ours;
	int r;

	if (!SHARED)
		child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child == MAP_FAILED)
		return error_os(err, -errno, "cannot start '%s'", s->argv[0]);
	r = start_child(child, s, ret, err);
	if (!SHARED)
		munmap(child, sizeof(*child));
	return r;
}

static void *drain_pipe(void *data)
{
	int from = (int)(intptr_t)data, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (null >= 0 && splice(from, NULL, null, NULL, 1 << 20, SPLICE_F_MOVE) > 0)
		;
	return NULL;
}

int pipe_drain_new(int *ret_fd, struct error *err)
{
	pthread_t thread;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(err, -errno, "cannot make a pipe for the output");
	r = pthread_create(&thread, NULL, drain_pipe, (void *)(intptr_t)fds[0]);
	if (r != 0)
		return error_os(err, -r, "cannot drain the output");
	pthread_detach(thread);
	*ret_fd = fds[1];
	return 0;
}
