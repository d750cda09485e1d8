/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU time of other threads and processes. */
#include "lib/clock/clock_internal.h"
#include "lib/clock/connect.h"
#include "lib/clock/emp-clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_TICKS_NS 40000000ULL /* HZ is 100 or more */
#define MAX_RUNNING 64

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Reads a small file of /proc. */
static int read_text(const char *path, char *ret, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	ssize_t n;

	if (fd < 0)
		return fail(errno == ENOENT ? ESRCH : errno);
	n = read(fd, ret, capacity - 1);
	error = errno;
	close(fd);
	if (n <= 0)
		return fail(n < 0 ? error : ESRCH);
	ret[n] = '\0';
	return 0;
}

/* As of the kernel's latest look at the thread. The kernel's own clocks are of the caller's threads
 * only; /proc has all. */
static int read_thread(pid_t tid, uint64_t *ret_ns)
{
	char text[64];

	snprintf(text, sizeof(text), "/proc/%d/schedstat", tid);
	if (read_text(text, text, sizeof(text)) < 0)
		return -1;
	*ret_ns = strtoull(text, NULL, 10);
	return 0;
}

/* What a thread that runs on another CPU has used since the kernel looked at it, which it does at
 * each tick at the latest. A difference of more than some ticks is not the thread's: the service no
 * longer runs, or has missed a switch. */
static uint64_t not_seen_by_kernel(const struct running_thread *running, uint64_t kernel_ns)
{
	uint64_t more_ns = running->ns > kernel_ns ? running->ns - kernel_ns : 0;

	return more_ns < MAX_TICKS_NS ? more_ns : 0;
}

CLOCK_PUBLIC int emp_clock_thread_ns_of(pid_t tid, uint64_t *ret_ns)
{
	struct running_thread running;
	uint64_t ns;

	if (tid <= 0)
		return fail(EINVAL);
	if (read_thread(tid, &ns) < 0)
		return -1;
	*ret_ns = ns;
	for (unsigned int cpu = 0; slots_at(cpu); cpu++)
		if (slots_read(cpu, &running) && running.tid == tid)
			*ret_ns = ns + not_seen_by_kernel(&running, ns);
	return 0;
}

struct seen {
	struct running_thread running;
	uint64_t kernel_ns;
};

/* The process's time and, for each thread that runs, what the kernel had not seen of it, if the
 * kernel did not look at the thread in between. */
CLOCK_PUBLIC int emp_clock_process_ns_of(pid_t pid, uint64_t *ret_ns)
{
	pid_t own_tid = (pid_t)syscall(SYS_gettid);
	struct seen seen[MAX_RUNNING];
	uint64_t ns, kernel_ns;
	struct timespec now;
	unsigned int n = 0;
	clockid_t clock;
	int r;

	if (pid <= 0)
		return fail(EINVAL);
	/* the threads that run now, without the caller, which the kernel looks at in any case */
	for (unsigned int cpu = 0; slots_at(cpu) && n < MAX_RUNNING; cpu++) {
		struct running_thread *running = &seen[n].running;

		if (slots_read(cpu, running) && running->pid == pid && running->tid != own_tid &&
			read_thread(running->tid, &seen[n].kernel_ns) == 0)
			n++;
	}
	r = clock_getcpuclockid(pid, &clock);
	if (r)
		return fail(r);
	if (syscall(SYS_clock_gettime, clock, &now) < 0) /* it has ended in between */
		return fail(ESRCH);
	ns = (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
	for (unsigned int i = 0; i < n; i++)
		if (read_thread(seen[i].running.tid, &kernel_ns) == 0 &&
			kernel_ns == seen[i].kernel_ns)
			ns += not_seen_by_kernel(&seen[i].running, kernel_ns);
	*ret_ns = ns;
	return 0;
}
