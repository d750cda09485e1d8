/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plants a daemon inside known samples: watches for processes called WATCHED to start (the warm-up is number
 * 0), and at each of the numbers given starts a child called "planted" that takes about MS milliseconds of
 * CPU time on CPU. It runs by SCHED_FIFO, so that it ends inside the sample that it started in. Its last
 * milliseconds pass without a look at its clock, as a daemon's do: a look would bring the kernel's books up
 * to date. Prints "sample N NS" with what it took, by its rusage, when it has ended.
 *
 *   planter WATCHED MS CPU LAST N...       ends after the start of number LAST */
#include "lib/base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST_MS = 6 };

static _Noreturn void burn(int64_t ms, int cpu)
{
	struct sched_param priority = {.sched_priority = 10};
	int64_t until_ns;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	prctl(PR_SET_NAME, "planted");
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ||
		sched_setscheduler(0, SCHED_FIFO, &priority) < 0) {
		perror("planter");
		_exit(1);
	}
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < (ms - LAST_MS) * NS_PER_MS)
		;
	until_ns = clock_ns(CLOCK_MONOTONIC) + LAST_MS * NS_PER_MS; /* the vdso's clock: no system call */
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		;
	_exit(0);
}

/* Those that have ended; `numbers` holds the sample of each child by its pid, modulo its size. */
enum { REMEMBERED = 4096 };

static void reap(const int numbers[REMEMBERED], int options)
{
	struct rusage ru;
	pid_t pid;

	while ((pid = wait4(-1, NULL, options, &ru)) > 0) {
		printf("sample %d %lld\n", numbers[pid % REMEMBERED],
			(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * NS_PER_S +
				(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * (long long)NS_PER_US);
		fflush(stdout);
	}
}

static pid_t plant(int64_t ms, int cpu)
{
	pid_t pid = fork();

	if (pid == 0)
		burn(ms, cpu);
	return pid;
}

/* Whether `pid` is called `name`. */
static int is_called(const char *pid, const char *name)
{
	char path[64], comm[32] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = read(fd, comm, sizeof(comm) - 1);
	close(fd);
	return n > 0 && !strncmp(comm, name, strlen(name)) && comm[strlen(name)] == '\n';
}

/* The pid of a process called `name` that is not `last`, 0 if there is none. */
static int find_new(const char *name, int last)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	while (proc && !found && (entry = readdir(proc)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != last && is_called(entry->d_name, name))
			found = atoi(entry->d_name);
	closedir(proc);
	return found;
}

int main(int argc, char **argv)
{
	static int numbers[REMEMBERED];
	int last_pid = 0, number = -1;

	if (argc < 5)
		return 1;
	while (number < atoi(argv[4])) {
		int pid = find_new(argv[1], last_pid);

		reap(numbers, WNOHANG);
		usleep(2000);
		if (!pid)
			continue;
		last_pid = pid;
		number++;
		for (int i = 5; i < argc; i++)
			if (atoi(argv[i]) == number)
				numbers[plant(atoll(argv[2]), atoi(argv[3])) % REMEMBERED] = number;
	}
	reap(numbers, 0);
	return 0;
}
