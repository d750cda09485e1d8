/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process of a program under test, from clone to execve: see launch.h. */
#include "lib/host/process/launch.h"

#include "lib/host/process/privilege.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/slices.h"
#include "lib/host/process/tag.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* clone3 with VM and VFORK starts it directly in its cgroup without copying the page tables of this
 * process (which would take milliseconds for a large one). The child runs in the parent's memory,
 * while the parent waits, until it executes the program; so it only makes system calls, and stores
 * its results in `struct child`. */

/* The child's input and results. */
struct child {
	pid_t parent;
	const struct command_spec *spec;
	const sigset_t *mask;
	char *const *environment;
	cpu_set_t cpus;
	struct rlimit tag; /* 0: none */
	struct timespec start_raw, start_real, used;
	int64_t wait_ns;                /* at the start; -1: see schedstat */
	char schedstat[SCHEDSTAT_SIZE]; /* "": not known */
	volatile int stop;              /* a signal that was to stop it meanwhile; 0: none came */
	int failed;                     /* errno */
	const char *step;               /* which call failed */
};

/* ^Z and its like. One that stopped the child before its execve would stop this process too, which
 * waits for that in the kernel: the shell would never learn that it has stopped. So the child
 * catches them, which ends with its execve. */
static const int stop_signals[] = {SIGTSTP, SIGTTIN, SIGTTOU};
static struct child *starting;

/* Only the child has this handler. */
static __attribute__((no_sanitize("address", "undefined"))) void note_stop(int signal)
{
	starting->stop = signal;
}

static inline __attribute__((always_inline)) void catch_stops(void)
{
	const struct sigaction note = {.sa_handler = note_stop};
	struct sigaction held;

	for (size_t i = 0; i < ELEMENTS(stop_signals); i++)
		if (sigaction(stop_signals[i], NULL, &held) == 0 && held.sa_handler != SIG_IGN)
			sigaction(stop_signals[i], &note, NULL);
}

/* The child runs on the parent's stack: AddressSanitizer must not think that the stack ends with
 * the child. */
static _Noreturn __attribute__((noinline, no_sanitize("address", "undefined"))) void child_give_up(
	struct child *child, const char *step)
{
	child->failed = errno;
	child->step = step;
	_exit(127);
}

/* A system call not through syscall(2)'s wrapper: a child that shares our stack must not return
 * from a function that we have yet to return from. Elsewhere the child is a copy. */
#if defined(__x86_64__)
enum { SHARED = CLONE_VM };
static inline __attribute__((always_inline)) long start_call(long number, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
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

/* clone3 and, in the child, the steps to execve. The filters of containers (Docker's, Podman's)
 * refuse clone3, because they cannot inspect its arguments; without a cgroup, clone is
 * sufficient. */
static __attribute__((noinline)) long clone_child(
	const struct clone_args *args, struct child *child)
{
	const struct command_spec *s = child->spec;
	const int fds[3] = {s->stdin_fd, s->stdout_fd, s->stderr_fd};
	enum { MOST_TRIES = 8 };
	static const int64_t AT_ONCE_NS = 10 * NS_PER_US;
	struct timespec before;
	long r = start_call(SYS_clone3, (long)args, sizeof(*args), 0);

	if (r == -ENOSYS && !(args->flags & CLONE_INTO_CGROUP))
		r = start_call(SYS_clone, (long)((args->flags & UINT32_MAX) | args->exit_signal), 0,
			(long)args->pidfd);
	if (r != 0)
		return r;

	/* In the child: system calls only. */
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0 && dup2(fds[i], i) < 0)
			child_give_up(child, "redirect its output");
	if (s->new_session && setsid() < 0)
		child_give_up(child, "give it a session of its own");
	if (s->own_group && !s->new_session && setpgid(0, 0) < 0)
		child_give_up(child, "give it a process group of its own");
	if (child->tag.rlim_max)
		setrlimit(RLIMIT_LOCKS, &child->tag);
	if ((s->cpu >= 0 || s->affinity) &&
		sched_setaffinity(0, sizeof(child->cpus), &child->cpus) < 0)
		child_give_up(child, "pin it to its CPUs");

	if (s->slice_ns)
		slice_set(s->slice_ns);
	privilege_forget();
	if (!s->survives)
		prctl(PR_SET_PDEATHSIG, SIGKILL);       /* it must not outlive its parent, */
	if (!s->survives && getppid() != child->parent) /* which may have ended already */
		_exit(127);
	catch_stops();
	sigprocmask(SIG_SETMASK, child->mask, NULL);

	if (!s->wait_unused)
		child->wait_ns = accounting_own_wait(s->accounting);
	if (!s->wait_unused && child->wait_ns < 0) {
		int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, child->schedstat, sizeof(child->schedstat) - 1);

		child->schedstat[n > 0 ? n : 0] = '\0';
		if (fd >= 0)
			close(fd);
	}
	/* All at one moment: again if it lost the CPU in between. */
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &before);
		clock_gettime(CLOCK_REALTIME, &child->start_real);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &child->used);
		clock_gettime(CLOCK_MONOTONIC_RAW, &child->start_raw);
		if (timespec_ns(child->start_raw) - timespec_ns(before) < AT_ONCE_NS)
			break;
	}
	execve(s->path, s->argv, child->environment);
	child_give_up(child, "execute it");
}

/* clone_child, with the stop signals of both held back. One that came passes on to the program, and
 * then stops this process. A SIGCONT has taken it back. */
static long clone_unstopped(const struct clone_args *args, struct child *child)
{
	sigset_t stops, held, pending;
	long r;

	sigemptyset(&stops);
	for (size_t i = 0; i < ELEMENTS(stop_signals); i++)
		sigaddset(&stops, stop_signals[i]);
	sigprocmask(SIG_BLOCK, &stops, &held);
	starting = child;
	r = clone_child(args, child);
	if (r > 0 && child->stop && sigpending(&pending) == 0 && sigismember(&pending, child->stop))
		kill((pid_t)r, child->stop);
	sigprocmask(SIG_SETMASK, &held, NULL);
	return r;
}

/* The compiler must not think that a path that never returns leaves *child unread and unwritten. */
static inline void let_child_see(struct child *child)
{
	__asm__ volatile("" : : "r"(child) : "memory");
}

static int end_failed_child(const struct child *child, pid_t pid, struct error *err)
{
	const struct command_spec *s = child->spec;
	const char *hint = "";

	waitpid(pid, NULL, 0);
	if (child->failed == ENOEXEC)
		hint = "; a script needs a #! line";
	else if (child->failed == ENOENT && access(s->path, F_OK) == 0)
		hint = "; the interpreter that its first line names, or its loader, is missing";
	return error_say(err, -child->failed, "cannot start '%s': cannot %s: %s%s", s->argv[0],
		child->step, strerror(child->failed), hint);
}

int program_launch(
	const struct command_spec *s, struct exec_result *ret, int *ret_pidfd, struct error *err)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_VFORK | SHARED | CLONE_PIDFD | CLONE_CLEAR_SIGHAND |
			 (s->cgroup ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = s->cgroup ? (uint64_t)s->cgroup->fd : 0,
	};
	struct child child = {
		.spec = s,
		.parent = getpid(),
		.mask = interrupt_old_mask(),
		.environment = s->environment ?: privilege_environment(),
		.wait_ns = -1,
	};
	struct child *shared = &child;
	struct schedstat waited;
	long r;

	child.tag.rlim_cur = child.tag.rlim_max = tag_make(s->number);
	if (s->affinity)
		child.cpus = *s->affinity;
	if (s->cpu >= 0)
		CPU_SET(s->cpu, &child.cpus);
	/* The end of an earlier program would wake this process during the sample. */
	interrupt_drain(interrupt_child_fd);
	if (!SHARED) {
		shared = mmap(NULL, sizeof(child), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			return error_os(err, -errno, "cannot start '%s'", s->argv[0]);
		*shared = child;
	}

	let_child_see(shared);
	r = clone_unstopped(&args, shared);
	let_child_see(shared);
	if (!SHARED) {
		child = *shared;
		munmap(shared, sizeof(child));
	}

	if (r < 0)
		return error_os(err, (int)r, "cannot start '%s'", s->argv[0]);
	if (child.failed) {
		close(pidfd);
		return end_failed_child(&child, (pid_t)r, err);
	}
	if (child.wait_ns < 0 && schedstat_parse(child.schedstat, &waited))
		child.wait_ns = waited.wait_ns;

	exec_result_clear(ret);
	ret->pid = (pid_t)r;
	ret->start_ns = timespec_ns(child.start_real);
	ret->start_raw_ns = timespec_ns(child.start_raw);
	ret->before_ns = timespec_ns(child.used);
	ret->wait_before_ns = child.wait_ns;
	*ret_pidfd = pidfd;
	return 0;
}
