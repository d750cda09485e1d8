/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that use CPU time for tests to find, and say themselves how much it was. */
#pragma once

#include "lib/base/number.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory that children of a test share with it. */
static inline void *burning_shared(size_t bytes)
{
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert(shared != MAP_FAILED);
	return shared;
}

/* Runs until the process has used `ns`, by its own clock. */
static inline void burning_until(clockid_t clock, int64_t ns)
{
	while (clock_ns(clock) < ns)
		;
}

static inline void burning_pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Whether two CPUs run at the same time: processes on them hand a number over every microsecond or
 * so. A scheduler, or an emulator whose CPUs take turns, switches between the two every 100 us at
 * most. Other work must not hold up the caller (SCHED_FIFO). */
static inline bool burning_at_once(int one, int other)
{
	enum { TRIED_MS = 200, HANDOVERS = 50 * TRIED_MS };
	_Atomic long *count = burning_shared(sizeof(*count));
	pid_t pid = fork();
	int64_t until_ns;
	cpu_set_t cpus;
	bool often;

	assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		burning_pin(other);
		sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
		for (*count = 2;;)
			if (*count % 2 == 1)
				++*count;
	}
	sched_getaffinity(0, sizeof(cpus), &cpus);
	burning_pin(one);
	while (*count == 0)
		usleep(1000);
	until_ns = clock_ns(CLOCK_MONOTONIC) + TRIED_MS * NS_PER_MS;
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		if (*count % 2 == 0)
			++*count;
	sched_setaffinity(0, sizeof(cpus), &cpus);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	often = *count > HANDOVERS;
	munmap((void *)count, sizeof(*count));
	return often;
}

/* A child called `name` that uses `ns` and ends, the last `blind_ns` of them without a look at its
 * clock, which would bring the kernel's books up to date; `ret_ns` (shared) is what it had used
 * when it looked last. */
static inline pid_t burning_start(const char *name, int64_t ns, int64_t blind_ns, int64_t *ret_ns)
{
	int64_t until_ns;
	pid_t pid = fork();

	assert(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_NAME, name);
	burning_until(CLOCK_PROCESS_CPUTIME_ID, ns - blind_ns);
	*ret_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	until_ns = clock_ns(CLOCK_MONOTONIC) + blind_ns;
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		;
	_exit(0);
}

/* Waits for a child; what it and the children it waited for have used, by wait4. */
static inline int64_t burning_wait(pid_t pid)
{
	struct rusage usage;
	int status;

	wait4(pid, &status, 0, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}
