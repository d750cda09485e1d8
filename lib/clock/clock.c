/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading CPU times: see emp-clock.h. */
#include "lib/clock/emp-clock.h"
#include "lib/clock/tsc.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static _Thread_local struct emp_clock_counts counts __attribute__((tls_model("initial-exec")));

static uint64_t system_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now); /* cannot fail for the caller's own clocks */
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Reads a small file. 0, or -1 with errno. */
static int read_text(const char *path, char *ret, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	ssize_t n;

	if (fd < 0) {
		errno = errno == ENOENT ? ESRCH : errno;
		return -1;
	}
	n = read(fd, ret, capacity - 1);
	error = errno;
	close(fd);
	if (n < 0) {
		errno = error;
		return -1;
	}
	ret[n] = '\0';
	return 0;
}

PUBLIC uint64_t emp_clock_thread_ns(void)
{
	counts.system_calls++;
	return system_ns(CLOCK_THREAD_CPUTIME_ID);
}

PUBLIC uint64_t emp_clock_process_ns(void)
{
	counts.system_calls++;
	return system_ns(CLOCK_PROCESS_CPUTIME_ID);
}

PUBLIC uint64_t emp_clock_ns_to_cycles(uint64_t ns)
{
	return (uint64_t)((double)ns * tsc_per_ns());
}

PUBLIC uint64_t emp_clock_thread_cycles(void)
{
	return emp_clock_ns_to_cycles(emp_clock_thread_ns());
}

PUBLIC uint64_t emp_clock_process_cycles(void)
{
	return emp_clock_ns_to_cycles(emp_clock_process_ns());
}

static int check_id(pid_t id)
{
	if (id > 0)
		return 0;
	errno = EINVAL;
	return -1;
}

/* The kernel reads the CPU clocks of the caller's own threads only; /proc has all threads. */
PUBLIC int emp_clock_thread_ns_of(pid_t tid, uint64_t *ret_ns)
{
	char text[64];

	if (check_id(tid) < 0)
		return -1;
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

	if (check_id(pid) < 0)
		return -1;
	r = clock_getcpuclockid(pid, &clock);
	if (r || clock_gettime(clock, &now) < 0) {
		errno = r ?: ESRCH; /* it has ended in between */
		return -1;
	}
	*ret_ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	return 0;
}

PUBLIC int emp_clock_open(void)
{
	errno = ENOENT;
	return -1;
}

PUBLIC void emp_clock_counts(struct emp_clock_counts *ret)
{
	*ret = counts;
}
