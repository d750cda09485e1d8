/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate clocks: measures the sources of time of this machine, and stores the result with its environment. */
#include "calibrate/calibrate.h"
#include "lib/clocks/bench.h"
#include "lib/clocks/clocks.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/clock/emp-clock.h"
#include "lib/host/process/pinning.h"
#include "lib/host/system/lock.h"
#include "lib/document/document.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>

static struct {
	bool full;
} options;

const struct option_row clocks_options[] = {
	{0, "cpu", "N", "measure on this CPU", pinning_option, &calibrate_options.cpu},
	{0, "full", NULL, "sizes and trials of the paper; takes ten minutes or more", NULL, &options.full},
	{},
};

static void open_readers(struct clock_bench *b, struct error *err)
{
	if (emp_clock_open() < 0)
		clocks_add_missing(b->result, "emp-clock.service",
			"emp-clock makes a system call after each context switch");
	for (size_t i = 0; i < n_time_sources; i++) {
		const struct time_source *source = &time_sources[i];
		struct error why = {};
		int r = time_reader_open(&b->readers[b->n], source, 0, &why);

		if (r == 0) {
			clocks_add_source(b->result, source->name);
			b->n++;
		} else {
			clocks_add_missing(b->result, source->name, why.text);
		}
	}
}

static int run_clock_tests(struct clock_bench *b, struct error *err)
{
	static int (*const tests[])(struct clock_bench *, struct error *) = {
		clock_cost, clock_steps, clock_lag, clock_primes, clock_allocations, clock_ticks};
	const uint64_t steps = clock_cost_steps(b) + b->n + 1 + clock_primes_steps(b) + 1 + N_CLOCK_TICKS;
	int r = 0;

	progress_begin(&b->progress, "Clocks", steps, calibrate_options.quiet);
	for (size_t i = 0; r == 0 && i < ELEMENTS(tests); i++)
		r = tests[i](b, err);
	progress_end(&b->progress);
	return r;
}

static int calibrate(struct clocks *clocks, struct error *err)
{
	struct clock_bench b = {.result = clocks, .full = options.full};
	int r;
	cpu_set_t allowed;

	clocks->full = options.full;
	clocks->made_ns = clock_ns(CLOCK_REALTIME);
	text_read_file(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		&clocks->clocksource);
	/* The caller stays on one CPU; another one that it may use reads its times. */
	b.cpu = calibrate_options.cpu >= 0 ? calibrate_options.cpu : sched_getcpu();
	b.other_cpu = -1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0) {
		r = error_os(err, -errno, "cannot read which CPUs may be used");
	} else {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (cpu != b.cpu && CPU_ISSET(cpu, &allowed))
				b.other_cpu = cpu;
		r = pinning_pin(b.cpu);
		r = r < 0 ? error_os(err, r, "cannot run on CPU %d", b.cpu) : 0;
	}
	if (r == 0)
		open_readers(&b, err);
	clocks->cpu = b.cpu;
	if (r == 0) {
		int64_t cycles = cycles_now(), ns = clock_ns(CLOCK_MONOTONIC_RAW);
		int64_t now_ns;

		/* The rate of the cycle counter, by the clock that nothing corrects. */
		do
			now_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		while (now_ns - ns < 100 * NS_PER_MS);
		b.cycles_per_ns = (double)(cycles_now() - cycles) / (double)(now_ns - ns);
		b.result->cycles_per_second = b.cycles_per_ns * 1e9;
		r = run_clock_tests(&b, err);
	}
	for (size_t i = 0; i < b.n; i++)
		time_reader_close(&b.readers[i]);
	return r;
}

int verb_clocks(int argc, char **argv, struct error *err)
{
	_cleanup_(lock_release) struct lock lock = {.fd = -1};
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(clocks_clear) struct clocks clocks = {.tick_period_ns = NAN};
	_cleanup_(freep) char *digest = NULL;
	int r;
	_cleanup_(json_decrefp) json_t *document = NULL;

	r = book_open(&book, calibrate_options.db, BOOK_WRITE, err);
	if (r == 0)
		r = lock_take(&lock, book_file(book), err);
	if (r == 0)
		r = environment_take(book, &clocks.environment, &digest, err);
	if (r == 0)
		r = calibrate(&clocks, err);
	if (r == 0)
		r = book_put_clocks(book, &clocks, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (!calibrate_options.json)
		return clocks_print(&clocks, err);
	r = clocks_document(book, &clocks, &document, err);
	return r < 0 ? r : json_print_exactly(document, stdout, err);
}
