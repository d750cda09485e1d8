/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the accounting costs: CPU time of two snapshots and of comparing them, for several numbers
 * of processes and with each backend. Absolute times drift with the machine, so the last column is
 * a ratio. samples.py measures what a whole sample costs.
 *
 *   bench_observer [PROCESSES...]        as root; 100 1000 10000 if none is given */
#include "lib/base/number.h"
#include "lib/base/cleanup.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/host/accounting/accounting.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_SLEEPERS = 100000, REPEATS = 51 };

static pid_t sleepers[MAX_SLEEPERS];
static size_t n_sleepers;

static const enum accounting_backend backends[] = {ACCOUNTING_BPF, ACCOUNTING_TASKSTATS};
enum { N_BACKENDS = ELEMENTS(backends) };

static size_t count_processes(void)
{
	_cleanup_(closedirp) DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while (proc && (entry = readdir(proc)))
		n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	return n;
}

static void start_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (pid < 0) {
		perror("fork");
		exit(1);
	}
	sleepers[n_sleepers++] = pid;
}

static void end_sleepers(void)
{
	for (size_t i = 0; i < n_sleepers; i++)
		kill(sleepers[i], SIGKILL);
	for (size_t i = 0; i < n_sleepers; i++)
		waitpid(sleepers[i], NULL, 0);
	n_sleepers = 0;
}

static void run_true(void)
{
	char name[] = "true", *argv[] = {name, NULL};
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0)
		waitpid(pid, NULL, 0);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t median(int64_t *items, size_t n)
{
	qsort(items, n, sizeof(*items), compare);
	return items[n / 2];
}

static int cost_of_sample(struct accounting *a, int64_t *ret_ns, struct error *err)
{
	int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct process_cpus usages;
	int r = accounting_before(a, 0, -1, err);

	if (r < 0)
		return r;
	*ret_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	run_true();
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	r = accounting_after(a, &usages, err);
	*ret_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return r;
}

/* Median cost of a sample with each backend, in turn. */
static int cost_of_backends(int64_t ret_ns[N_BACKENDS], struct error *err)
{
	int64_t costs[N_BACKENDS][REPEATS], warm;

	for (size_t i = 0; i < N_BACKENDS; i++) {
		_cleanup_(accounting_freep) struct accounting *a = NULL;
		int r = accounting_new(
			&a, &(struct accounting_options){.backend = backends[i]}, err);

		for (int j = 0; r == 0 && j < 5; j++)
			r = cost_of_sample(a, &warm, err);
		for (int j = 0; r == 0 && j < REPEATS; j++)
			r = cost_of_sample(a, &costs[i][j], err);
		if (r < 0)
			return r;
		ret_ns[i] = median(costs[i], REPEATS);
	}
	return 0;
}

static int bench_snapshots(int argc, char **argv, struct error *err)
{
	static const struct column columns[] = {{"PROCESSES", COLUMN_NUMBER},
		{"BACKEND", COLUMN_TEXT}, {"CPU TIME A SAMPLE", COLUMN_NUMBER},
		{"A PROCESS", COLUMN_NUMBER}, {"TO BPF", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);
	int r = 0;

	for (int i = 0; r == 0 && i < argc; i++) {
		size_t wanted = strtoul(argv[i], NULL, 10), n;
		int64_t ns[N_BACKENDS];

		while (count_processes() < wanted && n_sleepers < MAX_SLEEPERS)
			for (size_t missing = wanted - count_processes();
				missing > 0 && n_sleepers < MAX_SLEEPERS; missing--)
				start_sleeper();
		n = count_processes();
		r = cost_of_backends(ns, err);
		for (size_t j = 0; r == 0 && j < N_BACKENDS; j++) {
			table_row(table, columns, NUMBER(n),
				TEXT(accounting_backend_names[backends[j]]), TIME(ns[j]),
				TIME(ns[j] / (int64_t)n),
				REAL("%.1f", (double)ns[j] / (double)ns[0]));
		}
		end_sleepers();
	}
	if (r == 0)
		table_print(table, stdout);
	return r;
}

int main(int argc, char **argv)
{
	char n1[] = "100", n2[] = "1000", n3[] = "10000", *defaults[] = {n1, n2, n3};
	struct error err = {};
	int r;

	r = argc > 1 ? bench_snapshots(argc - 1, argv + 1, &err)
		     : bench_snapshots((int)ELEMENTS(defaults), defaults, &err);
	if (r < 0)
		fprintf(stderr, "bench_observer: %s\n", err.text);
	return r < 0;
}
