/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small lab book: see sound_book.h. */
#include "tests/fuzz/sound_book.h"

#include "lib/book/book.h"
#include "lib/record/profile.h"
#include "tests/fuzz/fuzz.h"

enum { N_SAMPLES = 12 };

static struct error err;

static void add_sample(struct book *book, int64_t run, uint32_t n, uint32_t source)
{
	struct sample sample = {.n = n,
		.start_ns = 1700000000000000000 + n * INT64_C(200000000),
		.et_ns = 100000000 + n * 1000 + (n % 5 == 0) * 30000000,
		.pt_ns = 99000000,
		.user_ns = 90000000,
		.system_ns = 9000000,
		.max_rss_bytes = 4096,
		.observer_ns = 100000};
	struct execution executions[] = {{.sample = n,
						 .source = source,
						 .pid = 42,
						 .pt_ns = 5000 + (n % 5 == 0) * 20000000,
						 .tick_ns = 0},
		{.sample = n, .source = source + 1, .pt_ns = 7000, .tick_ns = -1}};
	struct counters counters = COUNTERS_NONE;

	counters.sample = n;
	counters.value[COUNTER_STEAL] = n;
	FUZZ_MUST(book_begin(book, &err) == 0 &&
		  book_add_sample(book, run, &sample, executions, 2, &err) == 0 &&
		  book_add_rows(book, run, &counters_table, &counters, 1, &err) == 0 &&
		  book_commit(book, &err) == 0);
}

static int64_t add_run(struct book *book, enum run_kind kind, int64_t environment, uint32_t source)
{
	struct run run = {.kind = kind,
		.program = (char *)"INC",
		.command = (char *)"[\"inc\", \"0.1\"]",
		.backend = (char *)"bpf",
		.pt_source = (char *)"cgroup",
		.profile = (char *)"lab",
		.notes = (char *)"a note",
		.task_length_ns = 100000000,
		.resolution_ns = 1,
		.environment = environment,
		.cpu = 1};

	FUZZ_MUST(book_begin_run(book, &run, &err) == 0);
	for (uint32_t n = 1; n <= N_SAMPLES / 2; n++)
		add_sample(book, run.id, n, source);
	FUZZ_MUST(book_reopen_run(book, run.id, environment, &err) == 0);
	for (uint32_t n = N_SAMPLES / 2 + 1; n <= N_SAMPLES; n++)
		add_sample(book, run.id, n, source);
	FUZZ_MUST(book_end_run(book, run.id, RUN_DONE, "done", &err) == 0);
	return run.id;
}

static void add_profile(struct book *book, int64_t short_run, int64_t long_run)
{
	uint32_t l_samples[] = {5, 10};
	struct cutoff cutoffs[] = {{.daemon = (char *)"cron",
		.unit = (char *)"cron.service",
		.short_ns = 20000000,
		.long_ns = 30000000,
		.period_ns = 1000000000,
		.firm = true,
		.task_time_ns = 50000000,
		.below_ns = 1000000,
		.atleast_ns = 2000000}};
	struct profile profile = {.name = (char *)"lab",
		.resolution_ns = 1,
		.made_ns = 1700000000000000000,
		.cpu = 1,
		.environment_digest = (char *)"00ff",
		.short_run = {(char *)"INC", short_run, N_SAMPLES, l_samples, 2},
		.long_run = {(char *)"INC", long_run, N_SAMPLES, l_samples, 2},
		.cutoffs = cutoffs,
		.n_cutoffs = 1};

	FUZZ_MUST(book_put_profile(book, &profile, false, &err) == 0);
}

static void add_calibration(struct book *book, int64_t short_run, int64_t long_run)
{
	struct calibration_plan calibration = {.profile = (char *)"lab",
		.owner = (char *)"boot 1 2",
		.phases = {{100000000, N_SAMPLES, 0, short_run},
			{1000000000, N_SAMPLES, 0, long_run}},
		.backend = (char *)"auto",
		.cpu = 1};

	FUZZ_MUST(book_put_calibration(book, &calibration, &err) == 0);
}

void sound_book_make(const char *path)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int64_t environment, short_run, long_run;
	const struct source cron = {0, (char *)"cron", (char *)"/usr/sbin/cron",
				    (char *)"cron.service"},
			    worker = {.name = (char *)"kworker/0:1", .kind = SOURCE_KERNEL};
	uint32_t source, another;

	FUZZ_MUST(book_open(&book, path, BOOK_WRITE, &err) == 0);
	FUZZ_MUST(book_put_environment(
			  book, "00ff", "lab1", "{\"machine\": {}}", &environment, &err) == 0 &&
		  book_put_inc(book, environment, "inc", 1e9, &err) == 0);
	FUZZ_MUST(book_source(book, &cron, &source, &err) == 0 &&
		  book_source(book, &worker, &another, &err) == 0);
	short_run = add_run(book, RUN_SHORT, environment, source);
	long_run = add_run(book, RUN_LONG, environment, source);
	add_profile(book, short_run, long_run);
	add_calibration(book, short_run, long_run);
	FUZZ_MUST(book_checkpoint(book, &err) == 0);
}
