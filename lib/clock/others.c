/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU time of other threads and processes. */
#include "lib/clock/emp-clock.h"
#include "lib/clock/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

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

/* The kernel reads the CPU clocks of the caller's own threads only; /proc has all threads. */
PUBLIC int emp_clock_thread_ns_of(pid_t tid, uint64_t *ret_ns)
{
	char text[64];

	if (tid <= 0)
		return fail(EINVAL);
	snprintf(text, sizeof(text), "/proc/%d/schedstat", tid);
	if (read_text(text, text, sizeof(text)) < 0)
		return -1;
	*ret_ns = strtoull(text, NULL, 10);
	return 0;
}

PUBLIC int emp_clock_process_ns_of(pid_t pid, uint64_t *ret_ns)
{
	struct timespec now;
	clockid_t clock;
	int r;

	if (pid <= 0)
		return fail(EINVAL);
	r = clock_getcpuclockid(pid, &clock);
	if (r)
		return fail(r);
	if (syscall(SYS_clock_gettime, clock, &now) < 0) /* it has ended in between */
		return fail(ESRCH);
	*ret_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
	return 0;
}
