/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes CPU time, by its own process clock: a program to be measured, or a daemon to be found.
 *
 *   burn MS              MS milliseconds, its start counted
 *   burn --orphan MS     ends at once, and leaves a child behind that takes them
 *   burn --flee N        N lineages of processes that each fork the next one and end; the first stays */
#include "lib/base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int flee(int lineages)
{
	pid_t first = getpid();

	while (lineages > 0 && getpid() == first)
		if (fork() != 0)
			lineages--;
	while (getpid() != first) {
		usleep(1000);
		if (fork() != 0)
			_exit(0);
	}
	return pause();
}

int main(int argc, char **argv)
{
	int64_t until_ns = argc > 1 ? atoll(argv[argc - 1]) * NS_PER_MS : 0;

	if (argc == 3 && !strcmp(argv[1], "--flee"))
		return flee(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "--orphan")) {
		pid_t parent = getpid();

		if (fork() != 0)
			return 0;
		while (getppid() == parent) /* until the program has ended */
			usleep(100);
	}
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
		;
	return 0;
}
