/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a program a given number of times and waits for it each time, at the lowest possible cost.
 * Prints the CPU time of doing so, and the time from start to end, in ns, the medians.
 *
 *   plain TIMES PROGRAM [ARGUMENT...] */
#include "lib/base/number.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

enum { MAX_TIMES = 10000 };

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static int64_t cpu_ns[MAX_TIMES], et_ns[MAX_TIMES];
	int times = argc > 2 ? atoi(argv[1]) : 0;

	if (times < 1 || times > MAX_TIMES)
		return 2;
	for (int i = 0; i < times; i++) {
		int64_t begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			begin_ns = clock_ns(CLOCK_MONOTONIC);
		pid_t pid;

		if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0)
			return 1;
		waitpid(pid, NULL, 0);
		et_ns[i] = clock_ns(CLOCK_MONOTONIC) - begin_ns;
		cpu_ns[i] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
	}
	qsort(cpu_ns, (size_t)times, sizeof(*cpu_ns), compare);
	qsort(et_ns, (size_t)times, sizeof(*et_ns), compare);
	printf("%lld %lld\n", (long long)cpu_ns[times / 2], (long long)et_ns[times / 2]);
	return 0;
}
