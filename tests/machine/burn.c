/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes CPU time, by its own process clock: a program to be measured, or a daemon to be found.
 *
 *   burn MS              MS milliseconds, including its start
 *   burn --orphan MS     ends at once, and leaves a child behind that takes them
 *   burn --threads N MS  N threads take them together
 *   burn --sleep N ...   sleeps N milliseconds before the rest
 *   burn --cpu N ...     does the rest on this CPU
 *   burn --fill KB       takes no CPU time, but memory
 *   burn --child MS      waits for a child that takes them
 *   burn --again MS      executes itself again
 *   burn --mark MS       appends to the file EMP_MARKS when it began to work and when it ended,
 *                        its last act, as two numbers of CLOCK_MONOTONIC_RAW
 *   burn --yield MS      yields the CPU all the time
 *   burn --flee N        N lineages of processes that each fork the next one and end; the first
 *                        stays */
#include "lib/base/number.h"
#include "tests/machine/burning.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool yields;

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

static void *burn(void *until_ns)
{
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < *(int64_t *)until_ns)
		if (yields)
			sched_yield();
	return NULL;
}

static int burn_in_threads(int n, int64_t until_ns)
{
	pthread_t threads[64];
	int started = 0;

	while (started < n && started < 64 &&
		pthread_create(&threads[started], NULL, burn, &until_ns) == 0)
		started++;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return started < n;
}

static int burn_in_child(int64_t until_ns)
{
	pid_t pid = fork();

	if (pid == 0)
		burn(&until_ns);
	return pid != 0 && waitpid(pid, NULL, 0) != pid;
}

static int leave_orphan(int64_t until_ns)
{
	pid_t parent = getpid();

	if (fork() != 0)
		return 0;
	while (getppid() == parent) /* until the program has ended */
		usleep(100);
	burn(&until_ns);
	return 0;
}

static _Noreturn void burn_and_mark(int64_t until_ns)
{
	int64_t marks[2] = {clock_ns(CLOCK_MONOTONIC_RAW)};
	int fd = open(getenv("EMP_MARKS"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	burn(&until_ns);
	marks[1] = clock_ns(CLOCK_MONOTONIC_RAW);
	_exit(write(fd, marks, sizeof(marks)) != sizeof(marks));
}

int main(int argc, char **argv)
{
	int64_t until_ns = argc > 1 ? atoll(argv[argc - 1]) * NS_PER_MS : 0;
	const char *how;

	for (; argc > 3 && (!strcmp(argv[1], "--sleep") || !strcmp(argv[1], "--cpu"));
		argv += 2, argc -= 2)
		if (!strcmp(argv[1], "--sleep"))
			usleep((useconds_t)atoi(argv[2]) * 1000);
		else
			burning_pin(atoi(argv[2]));
	how = argc == 3 ? argv[1] : "";
	if (argc == 4 && !strcmp(argv[1], "--threads"))
		return burn_in_threads(atoi(argv[2]), until_ns);
	if (!strcmp(how, "--fill")) {
		size_t bytes = (size_t)atoll(argv[2]) * 1024;
		volatile char *memory = malloc(bytes);

		for (size_t i = 0; i < bytes; i++)
			memory[i] = 1;
		return 0;
	}
	if (!strcmp(how, "--flee"))
		return flee(atoi(argv[2]));
	if (!strcmp(how, "--orphan"))
		return leave_orphan(until_ns);
	if (!strcmp(how, "--mark"))
		burn_and_mark(until_ns);
	if (!strcmp(how, "--child"))
		return burn_in_child(until_ns);
	if (!strcmp(how, "--again"))
		return execl("/proc/self/exe", argv[0], argv[2], NULL);
	yields = !strcmp(how, "--yield");
	burn(&until_ns);
	return 0;
}
