/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several observers at once cost everybody else: the CPU time of a context switch, and of a
 * process from fork to its end, on one CPU while N others observe. The last column is the ratio to
 * none.
 *
 *   bench_observers [N...]        as root; 1 10 100 if none is given */
#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/host/accounting/accounting.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { MAX_OBSERVERS = 200, SWITCHES = 10000, FORKS = 300, REPEATS = 11 };

static pid_t observers[MAX_OBSERVERS];
static int n_observers, n_bpf;

static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Observes until it is killed; tells its backend by one byte. */
static void start_observer(void)
{
	int ends[2];
	char backend = ACCOUNTING_NONE;

	if (pipe(ends) < 0)
		exit(1);
	observers[n_observers] = fork();
	if (observers[n_observers] == 0) {
		struct accounting *a = NULL;
		struct error err = {};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (accounting_new(&a, &(struct accounting_options){}, &err) < 0)
			fprintf(stderr, "%s\n", err.text);
		else if (*accounting_state(a)->why.text && n_observers == MAX_OBSERVERS)
			fprintf(stderr, "%s\n", accounting_state(a)->why.text);
		backend = (char)accounting_state(a)->backend;
		if (write(ends[1], &backend, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	n_observers++;
	close(ends[1]);
	if (read(ends[0], &backend, 1) == 1)
		n_bpf += backend == ACCOUNTING_BPF;
	close(ends[0]);
}

static void end_observers(void)
{
	for (int i = 0; i < n_observers; i++) {
		kill(observers[i], SIGKILL);
		waitpid(observers[i], NULL, 0);
	}
	n_observers = n_bpf = 0;
}

/* Of this process and of the children that it has waited for: what others on this CPU do is not in
 * it. */
static int64_t cpu_ns(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) +
	       (children.ru_utime.tv_sec + children.ru_stime.tv_sec) * NS_PER_S +
	       (children.ru_utime.tv_usec + children.ru_stime.tv_usec) * NS_PER_US;
}

/* A byte to and fro between two processes on one CPU: two switches each. */
static int64_t time_switches(void)
{
	int64_t begin_ns = cpu_ns();
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	if (pipe(there) < 0 || pipe(back) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < SWITCHES; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	waitpid(pid, NULL, 0);
	return (cpu_ns() - begin_ns) / (2 * SWITCHES);
}

static int64_t time_forks(void)
{
	int64_t begin_ns = cpu_ns();

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (cpu_ns() - begin_ns) / FORKS;
}

/* The least of several: what the machine does besides only adds. */
static int64_t least(int64_t (*time)(void))
{
	int64_t best = time();

	for (int i = 1; i < REPEATS; i++) {
		int64_t ns = time();

		best = ns < best ? ns : best;
	}
	return best;
}

static const struct column columns[] = {
	{"OBSERVERS", COLUMN_NUMBER},
	{"WITH BPF", COLUMN_NUMBER},
	{"A CONTEXT SWITCH", COLUMN_NUMBER},
	{"A PROCESS", COLUMN_NUMBER},
	{"SWITCH TO NONE", COLUMN_NUMBER},
	{},
};

static void add_row(struct table *table, int64_t switch_ns, int64_t fork_ns, double to_none)
{
	table_row(table, columns, NUMBER(n_observers), NUMBER(n_bpf), TIME(switch_ns),
		TIME(fork_ns), REAL("%.2f", to_none));
}

static int bench(int argc, char **argv, struct error *err)
{
	_cleanup_(table_freep) struct table *table = table_new(columns);
	int64_t none_ns;

	none_ns = least(time_switches);
	add_row(table, none_ns, least(time_forks), 1);
	for (int i = 0; i < argc; i++) {
		int64_t ns;

		for (int wanted = atoi(argv[i]);
			n_observers < wanted && n_observers < MAX_OBSERVERS;)
			start_observer();
		ns = least(time_switches);
		add_row(table, ns, least(time_forks), (double)ns / (double)none_ns);
		end_observers();
	}
	table_print(table, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	char n1[] = "1", n2[] = "10", n3[] = "100", *defaults[] = {n1, n2, n3};
	struct error err = {};
	int r;

	pin();
	r = argc > 1 ? bench(argc - 1, argv + 1, &err)
		     : bench((int)ELEMENTS(defaults), defaults, &err);
	if (r < 0)
		fprintf(stderr, "bench_observers: %s\n", err.text);
	return r < 0;
}
