/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate clocks: measures the sources of time of this machine, and stores the result with its environment. */
#include "calibrate/calibrate.h"
#include "lib/clocks/bench.h"
#include "lib/clocks/clocks.h"

#include "lib/base/json.h"
#include "lib/clock/emp-clock.h"
#include "lib/host/process/pinning.h"
#include "lib/document/document.h"

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

static void open_readers(struct clock_bench *b)
{
	if (emp_clock_open() < 0)
		clocks_add_missing(b->result, "emp-clock.service",
			"emp-clock makes a system call after each context switch");
	for (size_t i = 0; i < n_time_sources; i++) {
		const struct time_source *source = &time_sources[i];
		struct error why = {};

		if (time_reader_open(&b->readers[b->n], source, 0, &why) == 0) {
			clocks_add_source(b->result, source->name);
			b->n++;
		} else {
			clocks_add_missing(b->result, source->name, why.text);
		}
	}
}

/* The caller stays on one CPU; another one that it may use reads its times. */
static int choose_clock_cpus(struct clock_bench *b, struct error *err)
{
	cpu_set_t allowed;
	int r;

	b->cpu = calibrate_options.cpu >= 0 ? calibrate_options.cpu : sched_getcpu();
	b->other_cpu = -1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != b->cpu && CPU_ISSET(cpu, &allowed))
			b->other_cpu = cpu;
	r = pinning_pin(b->cpu);
	return r < 0 ? error_os(err, r, "cannot run on CPU %d", b->cpu) : 0;
}

/* The rate of the cycle counter, by the clock that nothing corrects. */
static double cycles_per_ns(void)
{
	int64_t cycles = cycles_now(), ns = clock_ns(CLOCK_MONOTONIC_RAW), now_ns;

	do
		now_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	while (now_ns - ns < 100 * NS_PER_MS);
	return (double)(cycles_now() - cycles) / (double)(now_ns - ns);
}

static int measure_clocks(struct clocks *clocks, struct error *err)
{
	static int (*const tests[])(struct clock_bench *, struct error *) = {
		clock_cost, clock_steps, clock_lag, clock_primes, clock_allocations, clock_ticks};
	struct clock_bench b = {.result = clocks, .full = options.full};
	uint64_t steps;
	int r;

	clocks->full = options.full;
	clocks->made_ns = clock_ns(CLOCK_REALTIME);
	text_read_file(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		&clocks->clocksource);
	r = choose_clock_cpus(&b, err);
	if (r < 0)
		return r;
	clocks->cpu = b.cpu;
	open_readers(&b);
	b.cycles_per_ns = cycles_per_ns();
	clocks->cycles_per_second = b.cycles_per_ns * 1e9;
	steps = clock_cost_steps(&b) + b.n + 1 + clock_primes_steps(&b) + 1 + N_CLOCK_TICKS;
	progress_begin(&b.progress, "Clocks", steps, calibrate_options.quiet);
	for (size_t i = 0; r == 0 && i < ELEMENTS(tests); i++)
		r = tests[i](&b, err);
	progress_end(&b.progress);
	for (size_t i = 0; i < b.n; i++)
		time_reader_close(&b.readers[i]);
	return r;
}

int verb_clocks(int argc, char **argv, struct error *err)
{
	_cleanup_(run_session_close) struct run_session session = RUN_SESSION_NEW;
	_cleanup_(clocks_clear) struct clocks clocks = {.tick_period_ns = NAN};
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r;

	r = run_session_open(&session, calibrate_options.db, BOOK_WRITE, RUN_LOCK_TAKEN, err);
	if (r == 0)
		r = run_session_environment(&session, err);
	clocks.environment = session.environment;
	if (r == 0)
		r = measure_clocks(&clocks, err);
	if (r == 0)
		r = book_put_clocks(session.book, &clocks, err);
	if (r < 0)
		return r == -EINTR ? STATUS_INTERRUPTED : r;
	if (!calibrate_options.json) {
		clocks_print(&clocks);
		return 0;
	}
	r = clocks_document(session.book, &clocks, &document, err);
	return r < 0 ? r : json_print_exactly(document, stdout, err);
}
