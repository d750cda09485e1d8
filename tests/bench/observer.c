/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What observing costs: CPU time of a pair of images and what lies between them, at several numbers of
 * processes and with each backend; and the way from one start of a program to the next, beside hyperfine's in
 * the same minute. Absolute times drift with the machine, so the last column is a ratio.
 *
 *   bench_observer [PROCESSES...]        as root; 100 1000 10000 if none is given */
#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/base/table.h"
#include "lib/host/accounting.h"
#include "lib/host/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_SLEEPERS = 100000, REPEATS = 51, ROUNDS = 80, RUNS = 10 };

static pid_t sleepers[MAX_SLEEPERS];
static size_t n_sleepers;

static const char *const backend_names[] = {"bpf", "taskstats"};
enum { N_BACKENDS = 2 };

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
	struct usages usages;
	int r = accounting_before(a, 0, err);

	if (r < 0)
		return r;
	run_true();
	r = accounting_after(a, &usages, err);
	if (r == 0)
		*ret_ns = accounting_cost_ns(a);
	return r;
}

/* Median cost of a sample with each backend, turn by turn. */
static int cost_of_backends(int64_t ret_ns[N_BACKENDS], struct error *err)
{
	static const enum accounting_backend backends[] = {ACCOUNTING_BPF, ACCOUNTING_TASKSTATS};
	int64_t costs[N_BACKENDS][REPEATS], warm;

	for (size_t i = 0; i < N_BACKENDS; i++) {
		_cleanup_(accounting_freep) struct accounting *a = NULL;
		int r = accounting_new(&a, backends[i], err);

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

static int bench_images(int argc, char **argv, struct error *err)
{
	static const struct column columns[] = {{"PROCESSES", COLUMN_NUMBER}, {"BACKEND", COLUMN_TEXT},
		{"CPU TIME A SAMPLE", COLUMN_NUMBER}, {"A PROCESS", COLUMN_NUMBER}, {"TO BPF", COLUMN_NUMBER},
		{}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

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
			char sample[TEXT_TIME_SIZE], process[TEXT_TIME_SIZE];

			table_row(table);
			table_cell(table, "%zu", n);
			table_cell(table, "%s", backend_names[j]);
			table_cell(table, "%s", text_duration(sample, ns[j]));
			table_cell(table, "%s", text_duration(process, ns[j] / (int64_t)n));
			table_cell(table, "%.1f", (double)ns[j] / (double)ns[0]);
		}
		end_sleepers();
	}
	if (r == 0)
		r = table_print(table, stdout, err);
	return r;
}

/* What running `true` took, summed over all rounds. */
struct runs {
	const char *how;
	enum observer_backend backend;
	struct observer observer;
	int64_t wall_ns; /* all in all */
	int64_t et_ns;   /* what is told as the program's time */
	int64_t cpu_ns;  /* of the observer; -1: not known */
};

static int run_observed(struct runs *runs, struct error *err)
{
	char name[] = "true", *argv[] = {name, NULL};
	struct spawn spawn = {
		.argv = argv,
		.path = "/bin/true",
		.cpu = -1,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.accounting = runs->observer.accounting,
		.cgroup = runs->observer.cgroup,
	};
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < RUNS; i++) {
		struct observation observation;
		int r = observe_sample(&spawn, &observation, err);

		if (r < 0)
			return r;
		runs->et_ns += observation.spawned.et_ns;
		runs->cpu_ns += observation.observer_ns;
	}
	runs->wall_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
	return 0;
}

/* Its mean is in its JSON. The wall time is that of so many more runs, so that its own start and end are not
 * in it. */
static int time_hyperfine(int n, int64_t *ret_wall_ns, int64_t *ret_et_ns, struct error *err)
{
	char command[256], json[] = "/tmp/bench-observer-XXXXXX";
	_cleanup_(closep) int fd = mkstemp(json);
	_cleanup_(freep) char *text = NULL;
	int64_t begin_ns;
	const char *mean;

	if (fd < 0)
		return error_os(err, -errno, "cannot make a temporary file");
	snprintf(command, sizeof(command),
		"hyperfine -N --runs %d --export-json %s /bin/true >/dev/null 2>&1", n, json);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	if (system(command) == 0)
		text_read_file(AT_FDCWD, json, &text);
	*ret_wall_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	unlink(json);
	mean = text ? strstr(text, "\"mean\": ") : NULL;
	if (!mean)
		return error_say(err, -ENOENT, "hyperfine is not installed, or failed");
	*ret_et_ns = n * (int64_t)llround(strtod(mean + strlen("\"mean\": "), NULL) * 1e9);
	return 0;
}

static int run_hyperfine(struct runs *runs, struct error *err)
{
	int64_t few_ns, many_ns, et_ns, ignored;
	int r = time_hyperfine(2, &few_ns, &ignored, err);

	if (r == 0)
		r = time_hyperfine(2 + RUNS, &many_ns, &et_ns, err);
	if (r < 0)
		return r;
	runs->wall_ns += many_ns - few_ns;
	runs->et_ns += et_ns * RUNS / (2 + RUNS);
	runs->cpu_ns = -1;
	return 0;
}

static int print_runs(const struct runs *runs, size_t n, struct error *err)
{
	static const struct column columns[] = {{"RUNS OF TRUE", COLUMN_TEXT}, {"ITS TIME", COLUMN_NUMBER},
		{"TO HYPERFINE", COLUMN_NUMBER}, {"START TO START", COLUMN_NUMBER},
		{"TO HYPERFINE", COLUMN_NUMBER}, {"OBSERVER'S CPU TIME", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		char et[TEXT_TIME_SIZE], wall[TEXT_TIME_SIZE], cpu[TEXT_TIME_SIZE];
		const int all = ROUNDS * RUNS;

		table_row(table);
		table_cell(table, "%s", runs[i].how);
		table_cell(table, "%s", text_duration(et, runs[i].et_ns / all));
		table_cell(table, "%.2f", (double)runs[i].et_ns / (double)runs[0].et_ns);
		table_cell(table, "%s", text_duration(wall, runs[i].wall_ns / all));
		table_cell(table, "%.2f", (double)runs[i].wall_ns / (double)runs[0].wall_ns);
		table_cell(table, "%s",
			runs[i].cpu_ns < 0 ? "not told" : text_duration(cpu, runs[i].cpu_ns / all));
	}
	return r < 0 ? r : table_print(table, stdout, err);
}

/* In short rounds, so that what else the machine does is in all rows alike. */
static int bench_way(struct error *err)
{
	struct runs runs[] = {{.how = "hyperfine -N"}, {.how = "no accounting", .backend = OBSERVER_NONE},
		{.how = "bpf", .backend = OBSERVER_BPF}, {.how = "taskstats", .backend = OBSERVER_TASKSTATS}};
	int r = 0;

	for (size_t i = 1; r == 0 && i < ELEMENTS(runs); i++)
		r = observer_open(&runs[i].observer, runs[i].backend, err);
	for (int round = 0; r == 0 && round < ROUNDS; round++) {
		r = run_hyperfine(&runs[0], err);
		for (size_t i = 1; r == 0 && i < ELEMENTS(runs); i++)
			r = run_observed(&runs[i], err);
	}
	for (size_t i = 1; i < ELEMENTS(runs); i++)
		observer_close(&runs[i].observer);
	return r < 0 ? r : print_runs(runs, ELEMENTS(runs), err);
}

int main(int argc, char **argv)
{
	char n1[] = "100", n2[] = "1000", n3[] = "10000", *defaults[] = {n1, n2, n3};
	struct error err = {};
	int r;

	r = argc > 1 ? bench_images(argc - 1, argv + 1, &err)
		     : bench_images((int)ELEMENTS(defaults), defaults, &err);
	if (r == 0) {
		printf("\n");
		r = bench_way(&err);
	}
	if (r < 0)
		fprintf(stderr, "bench_observer: %s\n", err.text);
	return r < 0;
}
