/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What it costs to read a long run (the work of "cutoffs", for each of its two runs) and to discard
 * from it, beside SQLite's own sum over the same rows. Aim: at most twice that, in bounded memory.
 *
 * usage: bench_analysis [SAMPLES [DIRECTORY]], 100 executions each; 100000 takes a minute and 400
 * MB. CPU time, the least of three.
 *
 * On a virtual machine with two cores, 10 million executions: sum 2.1 s, reading 1.1 times that,
 * discard 1.2 times, 19 MiB. */
#include "lib/base/text.h"
#include "lib/record/profile.h"
#include "lib/report/run_result.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <time.h>

enum { EXECUTIONS = 100, DAEMONS = 200, EVERY = 500, REPEATS = 3 };

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static void must(int r, const struct error *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static uint64_t draw(void)
{
	static uint64_t state = 1997;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* One sample: in every 500th a daemon of its own takes 20 ms. */
static void add_sample(
	struct book *book, int64_t run, uint32_t n, const uint32_t *daemons, struct error *err)
{
	struct execution executions[EXECUTIONS + 1];
	struct sample sample = {
		.wait_ns = -1,
		.n = n,
		.start_ns = (int64_t)n * 110 * NS_PER_MS,
		.et_ns = 100 * NS_PER_MS + (int64_t)(draw() % 1000000),
		.pt_ns = 100 * NS_PER_MS + (int64_t)(draw() % 100000),
	};
	size_t k = EXECUTIONS;

	for (size_t i = 0; i < EXECUTIONS; i++)
		executions[i] = (struct execution){.sample = n,
			.same_cpu_ns = -1,
			.source = daemons[draw() % DAEMONS],
			.pid = 100 + (int)i,
			.pt_ns = 1000 + (int64_t)(draw() % 50000),
			.tick_ns = 0};
	if (n % EVERY == 0) {
		executions[k++] = (struct execution){.sample = n,
			.same_cpu_ns = -1,
			.source = daemons[DAEMONS],
			.pid = 7,
			.pt_ns = 20 * NS_PER_MS,
			.tick_ns = 0};
		sample.et_ns += 20 * NS_PER_MS;
	}
	must(book_add_sample(book, run, &sample, executions, k, err), err);
}

static int64_t fill(struct book *book, uint32_t samples, struct error *err)
{
	struct run run = {
		.program = (char *)"INC0.1", .kind = RUN_SHORT, .resolution_ns = 1, .cpu = -1};
	uint32_t daemons[DAEMONS + 1];

	for (size_t i = 0; i <= DAEMONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "daemon-%zu", i);
		must(book_source(book, &(struct source){.name = name}, &daemons[i], err), err);
	}
	must(book_begin_run(book, &run, err), err);
	must(book_begin(book, err), err);
	for (uint32_t n = 1; n <= samples; n++)
		add_sample(book, run.id, n, daemons, err);
	must(book_commit(book, err), err);
	must(book_end_run(book, run.id, RUN_DONE, NULL, err), err);
	return run.id;
}

static double sum_by_sqlite(const char *path)
{
	sqlite3 *db = NULL;
	double start, best = 1e9;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		exit(1);
	for (int i = 0; i < REPEATS; i++) {
		start = cpu_time();
		if (sqlite3_exec(db,
			    "SELECT sum(pt_ns), max(source), max(sample) FROM execution "
			    "WHERE run = 1",
			    NULL, NULL, NULL) != SQLITE_OK)
			exit(1);
		best = cpu_time() - start < best ? cpu_time() - start : best;
	}
	sqlite3_close(db);
	return best;
}

static double time_reading(struct book *book, int64_t run, struct analysis *last, struct error *err)
{
	double best = 1e9;

	for (int i = 0; i < REPEATS; i++) {
		double start = cpu_time();

		analysis_clear(last);
		must(analysis_load(book, run, &(struct analysis_options){}, last, err), err);
		best = cpu_time() - start < best ? cpu_time() - start : best;
	}
	return best;
}

static double time_discarding(
	struct book *book, int64_t run, const struct profile *profile, struct error *err)
{
	double best = 1e9;

	for (int i = 0; i < REPEATS; i++) {
		_cleanup_(run_result_clear) struct run_result result = {};
		double start = cpu_time();

		must(run_result_read(book, run, &(struct discard_rules){.profile = profile}, 0,
			     &result, err),
			err);
		best = cpu_time() - start < best ? cpu_time() - start : best;
	}
	return best;
}

static void measure(const char *path, uint32_t samples, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(analysis_clear) struct analysis analysis = {};
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	double sum, reading_s, discarding_s;
	long before;
	int64_t run;

	must(book_open(&book, path, BOOK_WRITE, err), err);
	run = fill(book, samples, err);
	must(book_checkpoint(book, err), err);
	sum = sum_by_sqlite(path);
	before = peak_mib();
	reading_s = time_reading(book, run, &analysis, err);
	profile = cutoffs_make("bench", (struct analysis[]){analysis, analysis}, 0, &left_out);
	discarding_s = time_discarding(book, run, &profile, err);
	printf("%u samples, %u executions: %s, %zu L-samples, %zu cutoffs\n", samples,
		samples * EXECUTIONS, verdict_name(analysis.verdict), analysis.n_l_samples,
		profile.n_cutoffs);
	printf("%-28s %8.3f s\n", "SQLite's sum", sum);
	printf("%-28s %8.3f s  %5.2f x\n", "reading (one run of cutoffs)", reading_s,
		reading_s / sum);
	printf("%-28s %8.3f s  %5.2f x\n", "discard", discarding_s, discarding_s / sum);
	printf("%-28s %8ld MiB more than before\n", "peak memory", peak_mib() - before);
}

int main(int argc, char **argv)
{
	uint32_t samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
	_cleanup_(freep) char *directory = text_format(
		"%s/emp-bench-XXXXXX", argc > 2 ? argv[2] : "/tmp");
	_cleanup_(freep) char *path = NULL, *clean = NULL;
	struct error err = {};

	if (!directory || !mkdtemp(directory))
		return 1;
	path = text_format("%s/book.db", directory);
	clean = text_format("rm -r '%s'", directory);
	measure(path, samples, &err);
	return system(clean) == 0 ? 0 : 1;
}
