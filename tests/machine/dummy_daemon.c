/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon of De, Kothari and Mann's experiments: every PERIOD ms it takes LENGTH us, at
 * real-time priority, COUNT times, by a linear congruential loop. It first runs at the next whole
 * second, so that several daemons start together. Prints how long each took, in ns. COUNT 0: it
 * begins at once, until it is ended, and prints nothing.
 *
 * dummy_daemon NAME CPU PERIOD_MS LENGTH_US COUNT */
#include "lib/base/number.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile unsigned int state = 1;

static int64_t take(int64_t length_ns)
{
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC), now_ns;

	do {
		for (int i = 0; i < 100; i++)
			state = state * 1664525 + 1013904223;
		now_ns = clock_ns(CLOCK_MONOTONIC);
	} while (now_ns - begin_ns < length_ns);
	return now_ns - begin_ns;
}

static int settle(int cpu)
{
	struct sched_param priority = {.sched_priority = 10};
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) == 0 &&
		sched_setscheduler(0, SCHED_FIFO, &priority) == 0)
		return 0;
	perror("dummy_daemon");
	return 1;
}

int main(int argc, char **argv)
{
	int64_t at_ns, took_ns[1000];
	int n;

	if (argc != 6 || (n = atoi(argv[5])) < 0 || n > 1000)
		return 1;
	if (settle(atoi(argv[2])))
		return 1;
	prctl(PR_SET_NAME, argv[1]);
	at_ns = clock_ns(CLOCK_MONOTONIC);
	if (n > 0)
		at_ns = (at_ns / NS_PER_S + 1) * NS_PER_S;
	for (int i = 0; n == 0 || i < n; i++, at_ns += atoll(argv[3]) * NS_PER_MS) {
		struct timespec at = {at_ns / NS_PER_S, at_ns % NS_PER_S};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		took_ns[n ? i : 0] = take(atoll(argv[4]) * NS_PER_US);
	}
	/* what follows is not the daemon's */
	prctl(PR_SET_NAME, "ending");
	usleep(1000);
	for (int i = 0; i < n; i++)
		printf("%lld\n", (long long)took_ns[i]);
	return 0;
}
