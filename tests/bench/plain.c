/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a program a given number of times and waits for it each time, at the lowest possible cost. Prints the CPU
 * time of doing so, in ns, the median.
 *
 *   plain TIMES PROGRAM [ARGUMENT...] */
#include "lib/base/clock.h"

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
	static int64_t ns[MAX_TIMES];
	int times = argc > 2 ? atoi(argv[1]) : 0;

	if (times < 1 || times > MAX_TIMES)
		return 2;
	for (int i = 0; i < times; i++) {
		int64_t begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		pid_t pid;

		if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0)
			return 1;
		waitpid(pid, NULL, 0);
		ns[i] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	}
	qsort(ns, (size_t)times, sizeof(*ns), compare);
	printf("%lld\n", (long long)ns[times / 2]);
	return 0;
}
