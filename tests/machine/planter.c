/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plants a daemon inside known samples: watches for processes called WATCHED to start (the warm-up is number
 * 0), and at each of the numbers given starts a child called "planted" that takes MS milliseconds of CPU time
 * on CPU. It runs by SCHED_FIFO, so that it ends inside the sample that it started in. Prints "sample N NS"
 * with what it took by its own clock.
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
#include <sys/wait.h>
#include <unistd.h>

static void burn(int number, int64_t ms, int cpu)
{
	struct sched_param priority = {.sched_priority = 10};
	int64_t taken_ns;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	prctl(PR_SET_NAME, "planted");
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ||
		sched_setscheduler(0, SCHED_FIFO, &priority) < 0) {
		perror("planter");
		_exit(1);
	}
	while ((taken_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID)) < ms * NS_PER_MS)
		;
	printf("sample %d %lld\n", number, (long long)taken_ns);
	fflush(stdout);
	_exit(0);
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
	int last_pid = 0, number = -1;

	if (argc < 5)
		return 1;
	while (number < atoi(argv[4])) {
		int pid = find_new(argv[1], last_pid);

		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		usleep(2000);
		if (!pid)
			continue;
		last_pid = pid;
		number++;
		for (int i = 5; i < argc; i++)
			if (atoi(argv[i]) == number && fork() == 0)
				burn(number, atoll(argv[2]), atoi(argv[3]));
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
