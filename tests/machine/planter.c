/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plants daemons inside known samples: watches for processes that run the program WATCHED (a file,
 * or a name if there is no slash in it) to start, the warm-up being number 0, and at each of the
 * numbers given starts a child called NAME that takes about MS milliseconds of CPU time on CPU. It
 * runs by SCHED_FIFO, so that it ends inside the sample that it started in. It does not read its
 * clock in its last milliseconds, just as daemons do not: a reading would update the kernel's
 * accounting. Prints "NAME N START END NS" when it has ended: when it began and ended (ns since
 * 1970; a start of WATCHED that the planter was too late to see is not counted, so N may be
 * behind), and what it took, by its rusage. With "every" it is planted at that period from number 1
 * on; N is 0 then.
 *
 *   planter WATCHED CPU LAST NAME=MS@N,N,N...|NAME=MS@every:PERIOD_MS...
 *
 * ends after the start of number LAST. */
#include "lib/base/number.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST_MS = 6 };

/* One argument. */
struct plan {
	char name[16];
	long long ms;
	const char *numbers; /* "10,37,80" */
	long long period_ms; /* 0: by numbers */
	pid_t clock;         /* the process that plants it at its period */
};

/* Who each child is, by its pid modulo the size; in memory that all share. */
enum { REMEMBERED = 4096 };

static struct child {
	int number;
	long long start_ns, end_ns; /* since 1970; its own word */
	const struct plan *plan;
} * children;

static _Noreturn void burn(const struct plan *plan, int cpu)
{
	struct child *me = &children[getpid() % REMEMBERED];
	struct sched_param priority = {.sched_priority = 10};
	int64_t until_ns;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	prctl(PR_SET_NAME, plan->name);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 ||
		sched_setscheduler(0, SCHED_FIFO, &priority) < 0) {
		perror("planter");
		_exit(1);
	}
	me->start_ns = clock_ns(CLOCK_REALTIME);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < (plan->ms - LAST_MS) * NS_PER_MS)
		;
	/* the vdso's clock: no system call */
	until_ns = clock_ns(CLOCK_MONOTONIC) + LAST_MS * NS_PER_MS;
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		;
	me->end_ns = clock_ns(CLOCK_REALTIME);
	_exit(0);
}

static int parse_plan(const char *text, struct plan *ret)
{
	const char *at = strchr(text, '@');

	if (!at || sscanf(text, "%15[^=]=%lld", ret->name, &ret->ms) != 2)
		return -1;
	ret->numbers = at + 1;
	ret->period_ms = 0;
	sscanf(ret->numbers, "every:%lld", &ret->period_ms);
	return 0;
}

static int plan_has(const struct plan *plan, int number)
{
	for (const char *at = plan->numbers; *at; at = strchrnul(at, ','), at += *at == ',')
		if (atoi(at) == number)
			return 1;
	return 0;
}

static void reap(int options)
{
	struct rusage ru;
	pid_t pid;

	while ((pid = wait4(-1, NULL, options, &ru)) > 0) {
		const struct child *child = &children[pid % REMEMBERED];

		printf("%s %d %lld %lld %lld\n", child->plan->name, child->number, child->start_ns,
			child->end_ns,
			(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * NS_PER_S +
				(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * (long long)NS_PER_US);
		fflush(stdout);
	}
}

static void plant(const struct plan *plan, int number, int cpu)
{
	pid_t pid = fork();

	if (pid == 0)
		burn(plan, cpu);
	children[pid % REMEMBERED].number = number;
	children[pid % REMEMBERED].plan = plan;
}

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	is_over = signal;
}

/* Until SIGTERM, and the end of the one that runs. */
static _Noreturn void plant_periodically(const struct plan *plan, int cpu)
{
	int64_t at_ns = clock_ns(CLOCK_MONOTONIC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
	while (!is_over) {
		struct timespec at;

		do /* a time that has passed is left out */
			at_ns += plan->period_ms * NS_PER_MS;
		while (at_ns < clock_ns(CLOCK_MONOTONIC));
		at = (struct timespec){at_ns / NS_PER_S, at_ns % NS_PER_S};
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == 0)
			plant(plan, 0, cpu);
		reap(0);
	}
	reap(0);
	exit(0);
}

/* Whether `pid` runs the file `path`. */
static int runs(const char *pid, const char *path)
{
	char link[64], exe[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%.16s/exe", pid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n < 0)
		return 0;
	exe[n] = '\0';
	return !strcmp(exe, path);
}

/* Whether `pid` is called `name`. */
static int is_called(const char *pid, const char *name)
{
	char path[64], comm[32] = "";
	ssize_t n;
	int fd;

	if (strchr(name, '/'))
		return runs(pid, name);
	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = read(fd, comm, sizeof(comm) - 1);
	close(fd);
	return n > 0 && !strncmp(comm, name, strlen(name)) && comm[strlen(name)] == '\n';
}

/* A pid's last scan and how many in a row it was in; most processes are old and need no look, and a
 * young one may be about to execute the program. */
enum { PIDS = 1 << 22, YOUNG = 100 };

static unsigned scans[PIDS];
static unsigned char ages[PIDS];

static int is_young(int pid, unsigned scan)
{
	ages[pid] = scans[pid] + 1 == scan ? ages[pid] + (ages[pid] < YOUNG) : 0;
	scans[pid] = scan;
	return ages[pid] < YOUNG;
}

/* The pid of a process of that name that was not found before, 0 if there is none. */
static int find_new(const char *name)
{
	static unsigned scan;
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	scan++;
	while (proc && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid > 0 && pid < PIDS && is_young(pid, scan) && !found &&
			is_called(entry->d_name, name)) {
			found = pid;
			ages[pid] = YOUNG;
		}
	}
	closedir(proc);
	return found;
}

int main(int argc, char **argv)
{
	struct plan plans[16];
	int number = -1, n_plans = argc - 4;

	children = mmap(NULL, REMEMBERED * sizeof(*children), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 5 || n_plans > 16 || children == MAP_FAILED)
		return 1;
	for (int i = 0; i < n_plans; i++)
		if (parse_plan(argv[4 + i], &plans[i]) < 0)
			return 1;
	while (number < atoi(argv[3])) {
		int pid = find_new(argv[1]);

		reap(WNOHANG);
		usleep(2000);
		if (!pid)
			continue;
		number++;
		for (int i = 0; i < n_plans; i++)
			if (plans[i].period_ms && number == 1 && (plans[i].clock = fork()) == 0)
				plant_periodically(&plans[i], atoi(argv[2]));
			else if (!plans[i].period_ms && plan_has(&plans[i], number))
				plant(&plans[i], number, atoi(argv[2]));
	}
	for (int i = 0; i < n_plans; i++)
		if (plans[i].period_ms) {
			kill(plans[i].clock, SIGTERM);
			waitpid(plans[i].clock, NULL, 0);
		}
	reap(0);
	return 0;
}
