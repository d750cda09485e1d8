/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a context switch costs with emp-clock.service and without. Two processes on one CPU pass a
 * byte to and fro; a client of the service is started and ended in turn, which attaches and removes
 * its BPF program. Prints the median of each and of the paired differences. Usage: context_switch
 * [ROUNDS] (EMP_CLOCK_SOCKET: the service's socket) */
#include "lib/clock/emp-clock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PASSES = 20000, MAX_ROUNDS = 1000 };

static clockid_t partner;

static double read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pass_on(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

/* The CPU time of both, so that others on this CPU do not count. */
static double used_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID) + read_ns(partner);
}

/* Nanoseconds for a switch: each pass takes two. */
static double measure(int to, int from)
{
	double begin_ns = used_ns();
	char byte = 0;

	for (int i = 0; i < PASSES; i++)
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			exit(1);
	return (used_ns() - begin_ns) / PASSES / 2;
}

static pid_t start_client(void)
{
	int ready[2];
	char byte;
	pid_t client;

	if (pipe(ready) < 0)
		exit(1);
	client = fork();
	if (client == 0) {
		if (emp_clock_open() < 0) {
			fprintf(stderr, "no emp-clock.service: %s\n", strerror(errno));
			_exit(1);
		}
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	close(ready[0]);
	return client;
}

static void end_client(pid_t client)
{
	kill(client, SIGKILL);
	waitpid(client, NULL, 0);
	usleep(100000); /* the service removes its program */
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare);
	return values[n / 2];
}

int main(int argc, char **argv)
{
	static double without[MAX_ROUNDS], with[MAX_ROUNDS], difference[MAX_ROUNDS];
	int rounds = argc > 1 ? atoi(argv[1]) : 15, there[2], back[2];
	cpu_set_t cpus;
	pid_t child;

	if (rounds < 1 || rounds > MAX_ROUNDS || pipe(there) < 0 || pipe(back) < 0)
		return 1;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	child = fork();
	if (child == 0) {
		close(there[1]);
		pass_on(there[0], back[1]);
	}
	if (child < 0 || clock_getcpuclockid(child, &partner))
		return 1;
	for (int i = 0; i < rounds; i++) {
		pid_t client = i % 2 ? start_client() : 0; /* either is first in turn */

		(client ? with : without)[i] = measure(there[1], back[0]);
		if (client)
			end_client(client);
		else
			client = start_client();
		(i % 2 ? without : with)[i] = measure(there[1], back[0]);
		if (i % 2 == 0)
			end_client(client);
		difference[i] = with[i] - without[i];
	}
	printf("context switch: %.0f ns without emp-clock.service, ", median(without, rounds));
	printf("%.0f ns with it; %.0f ns more (median of %d pairs, ", median(with, rounds),
		median(difference, rounds), rounds);
	printf("%.0f to %.0f)\n", difference[rounds / 4], difference[rounds - 1 - rounds / 4]);
	return 0;
}
