/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calibration of the clocks: opens all sources, and has them tested in turn. What a call costs,
 * by how much a source advances, and small costs are measured here; the other tests are primes.c
 * and children.c. */
#include "lib/clocks/bench.h"

#include "lib/clock/emp-clock.h"
#include "lib/clocks/children.h"
#include "lib/clocks/precision.h"
#include "lib/clocks/primes.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/stats/summary.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>

int clock_bench_step(struct clock_bench *b)
{
	progress_step(&b->progress, ++b->steps, NULL);
	return interrupt_pending() ? -EINTR : 0;
}

/* What a call of each source costs (Hines, Wyatt & Chang, test_cycles, Table 1): cycles before and
 * after, many times.
 *
 * The sources are called in blocks, in turn. What an empty call takes in the same turn is
 * subtracted. */

enum {
	BLOCK = 100, /* calls in a turn */
	WARM_UP = 5, /* before each block: the other sources have used the caches */
	TURNS = 100,
	TURNS_FULL = 1000,
	INTERRUPTED = 10, /* a call that takes ten times the median was interrupted */
};

struct calls {
	int64_t *cycles;  /* of each call; ascending at the end */
	int64_t *medians; /* of the blocks, without the empty call, in thousandths of a cycle */
};

static int64_t read_nothing(struct time_reader *reader)
{
	return 0;
}

/* Calls a source many times; returns the median of a call. */
static double call_block(struct time_reader *reader, int64_t block[BLOCK], int64_t quantum)
{
	int64_t (*read)(struct time_reader *) = reader->source->read, sorted[BLOCK];

	for (int i = -WARM_UP; i < BLOCK; i++) {
		int64_t before = cycles_now(), after;

		read(reader);
		after = cycles_now();
		if (i >= 0)
			block[i] = after - before;
	}
	memcpy(sorted, block, sizeof(sorted));
	sort_ascending(sorted, BLOCK);
	return grouped_median_of(sorted, BLOCK, quantum);
}

static void summarize(struct calls *calls, size_t n_blocks, int64_t quantum, double empty,
	struct clock_source *ret)
{
	size_t n = n_blocks * BLOCK, kept = 0;
	struct bounds bounds;
	double sum = 0, squares = 0, median;

	sort_ascending(calls->cycles, n);
	sort_ascending(calls->medians, n_blocks);
	bounds = median_interval(calls->medians, n_blocks);
	median = grouped_median_of(calls->cycles, n, quantum);
	ret->low = bounds.low / 1000;
	ret->high = bounds.high / 1000;
	ret->median = quantile_of(calls->medians, n_blocks, 0.5) / 1000;
	ret->min = (double)calls->cycles[0] - empty;
	while (kept < n && (double)calls->cycles[kept] <= INTERRUPTED * median)
		sum += (double)calls->cycles[kept++];
	ret->mean = sum / (double)kept - empty;
	for (size_t i = 0; i < kept; i++)
		squares += pow((double)calls->cycles[i] - empty - ret->mean, 2);
	ret->sd = sqrt(squares / (double)(kept - 1));
	ret->calls = (double)n;
	ret->interrupted = (double)(n - kept);
}

/* Some counters advance in steps of many cycles. */
static int64_t cycles_quantum(void)
{
	int64_t steps[BLOCK];

	for (int i = 0; i < BLOCK; i++)
		steps[i] = cycles_now();
	for (int i = BLOCK - 1; i > 0; i--)
		steps[i] -= steps[0];
	return quantum_of(steps + 1, BLOCK - 1);
}

/* A block of calls of each source, and before them of an empty call. */
static void take_cost_turn(struct clock_bench *b, size_t turn, struct calls *calls, int64_t quantum)
{
	static const struct time_source nothing = {.name = "nothing", .read = read_nothing};
	struct time_reader reader = {.source = &nothing};
	int64_t *empty = &calls[b->n].cycles[turn * BLOCK];
	double nothing_median = call_block(&reader, empty, quantum);

	for (size_t k = 0; k < b->n; k++) {
		size_t source = (turn + k) % b->n;
		int64_t *block = &calls[source].cycles[turn * BLOCK];
		double median = call_block(&b->readers[source], block, quantum);

		calls[source].medians[turn] = llround(1000 * (median - nothing_median));
	}
}

static int clock_cost(struct clock_bench *b, struct error *err)
{
	size_t turns = b->result->full ? TURNS_FULL : TURNS;
	struct calls *calls = xcalloc(b->n + 1, sizeof(*calls)), *empty = &calls[b->n];
	int64_t quantum = cycles_quantum();
	double empty_median;
	int r = 0;

	for (struct calls *of = calls; of <= empty; of++) {
		of->cycles = xcalloc(turns * BLOCK, sizeof(int64_t));
		of->medians = xcalloc(turns, sizeof(int64_t));
	}
	for (size_t turn = 0; r == 0 && turn < turns; turn++) {
		take_cost_turn(b, turn, calls, quantum);
		r = clock_bench_step(b);
	}

	sort_ascending(empty->cycles, turns * BLOCK);
	empty_median = grouped_median_of(empty->cycles, turns * BLOCK, quantum);
	for (size_t i = 0; r == 0 && i < b->n; i++)
		summarize(&calls[i], turns, quantum, empty_median, &b->result->sources[i]);
	for (struct calls *of = calls; of <= empty; of++) {
		free(of->cycles);
		free(of->medians);
	}
	free(calls);
	return r;
}

/* By how much each source advances when it is read again and again, and whether it ever goes
 * backwards, also when the reader moves to another CPU. */

enum {
	STEPS = 2000,                       /* as many at most */
	STEPS_NS = 120 * 1000 * 1000,       /* in this time: times() advances by 10 ms */
	STEPS_FULL_NS = 1000 * 1000 * 1000, /* likewise, --full */
	MOVES = 100,
};

static double step_of(struct clock_bench *b, struct time_reader *reader, int64_t *backwards)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (b->result->full ? STEPS_FULL_NS : STEPS_NS);
	int64_t steps[STEPS], last = time_read(reader);
	size_t n = 0;

	while (n < STEPS && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		int64_t now = time_read(reader);

		if (now < 0)
			return NAN;
		*backwards += now < last;
		if (now > last)
			steps[n++] = now - last;
		last = now;
	}
	return n > 0 ? clock_bench_ns(b, reader, llround(median_of(steps, n))) : NAN;
}

/* Readings right before and after each move to another CPU. */
static int read_around_moves(struct clock_bench *b, struct error *err)
{
	int64_t last[MAX_CLOCK_READERS];
	int r = 0;

	for (int i = 0; r == 0 && i < MOVES; i++) {
		for (size_t k = 0; k < b->n; k++)
			last[k] = time_read(&b->readers[k]);
		r = pinning_pin(i % 2 ? b->cpu : b->other_cpu);
		for (size_t k = 0; k < b->n; k++)
			b->result->sources[k].backwards += time_read(&b->readers[k]) < last[k];
	}
	if (r == 0)
		r = pinning_pin(b->cpu);
	if (r < 0)
		return error_os(
			err, r, "cannot move between CPU %d and CPU %d", b->cpu, b->other_cpu);
	return 0;
}

static int clock_steps(struct clock_bench *b, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n; i++) {
		int64_t backwards = 0;

		b->result->sources[i].step_ns = step_of(b, &b->readers[i], &backwards);
		b->result->sources[i].backwards = (double)backwards;
		r = clock_bench_step(b);
	}
	return r < 0 || b->other_cpu < 0 ? r : read_around_moves(b, err);
}

/* Costs that are too small for a coarse clock: malloc (Hines, Wyatt & Chang, malloc_stats, Table
 * 2), by the cycle counter for each size, and by other sources over all sizes. Whatever malloc the
 * process has is measured, so also that of LD_PRELOAD. */

enum { FIRST = 100, LAST = 5000, STEP = 100, SIZES = LAST / STEP, ALLOCATIONS = 1000, ROUNDS = 5 };

/* The difference of two readings around each call, or around nothing if size is 0. NULL: the cycle
 * counter. */
static void allocate(struct time_reader *reader, size_t size, void *blocks[], int64_t readings[])
{
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		int64_t before = reader ? time_read(reader) : cycles_now();

		blocks[i] = size ? xmalloc(size) : NULL;
		/* the call stays between the readings */
		__asm__ volatile("" ::"r"(blocks[i]) : "memory");
		readings[i] = (reader ? time_read(reader) : cycles_now()) - before;
	}
	for (size_t i = 0; i < ALLOCATIONS; i++)
		free(blocks[i]);
}

/* One reading per call, and an empty loop just before, whose mean is subtracted. The slowest 1 %
 * are trimmed, because interruptions are among them; page-fault costs remain. */
static double cost_of(struct time_reader *reader, size_t size, void *blocks[], int64_t readings[])
{
	enum { KEPT = ALLOCATIONS * 99 / 100 };
	double sum = 0;

	for (int full = 0; full < 2; full++) {
		allocate(reader, full ? size : 0, blocks, readings);
		sort_ascending(readings, ALLOCATIONS);
		for (size_t i = 0; i < KEPT; i++)
			sum += (double)(full ? readings[i] : -readings[i]);
	}
	return sum / KEPT;
}

/* Room for one block of allocations. */
struct allocation_room {
	void **blocks;
	int64_t *readings;
};

/* By the cycle counter, for each size: the median over the rounds. */
static void time_allocations(struct clock_bench *b, const struct allocation_room *room)
{
	int64_t costs[SIZES][ROUNDS];

	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < SIZES; i++) {
			size_t size = FIRST + i * STEP;

			costs[i][round] = llround(
				cost_of(NULL, size, room->blocks, room->readings));
		}
	for (size_t i = 0; i < SIZES; i++) {
		struct clock_allocation *row = array_add(
			b->result->allocations, b->result->n_allocations);

		row->size_bytes = (int64_t)(FIRST + i * STEP);
		row->cycles = median_of(costs[i], ROUNDS);
	}
}

/* By one source, over all sizes. */
static void time_allocations_by(struct clock_bench *b, const struct clock_source *source,
	const struct allocation_room *room)
{
	struct time_reader *reader = &b->readers[source - b->result->sources];
	struct clock_small_cost *row;
	double sum = 0;
	size_t zeros = 0;

	for (size_t i = 0; i < SIZES; i++) {
		sum += cost_of(reader, FIRST + i * STEP, room->blocks, room->readings) *
		       b->cycles_per_ns;
		for (size_t n = 0; n < ALLOCATIONS; n++)
			zeros += room->readings[n] == 0;
	}
	row = array_add(b->result->small_costs, b->result->n_small_costs);
	row->name = xstrdup(source->name);
	row->cycles = sum / SIZES;
	row->zeros = (double)zeros / (SIZES * ALLOCATIONS);
}

/* The file name of the library that malloc is from; NULL: not known. The caller frees it. */
static char *allocator_name(void)
{
	void *address = dlsym(RTLD_DEFAULT, "malloc");
	const char *slash;
	Dl_info info;

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	return xstrdup(slash ? slash + 1 : info.dli_fname);
}

static int clock_allocations(struct clock_bench *b, struct error *err)
{
	/* The sources that Table 2 compares. */
	static const char *const compared[] = {TIME_REFERENCE, TIME_EXACT, "emp-clock"};
	_cleanup_(freep) void **blocks = xcalloc(ALLOCATIONS, sizeof(*blocks));
	_cleanup_(freep) int64_t *readings = xcalloc(ALLOCATIONS, sizeof(*readings));
	const struct allocation_room room = {blocks, readings};

	allocate(NULL, LAST, blocks, readings); /* the heap grows */
	time_allocations(b, &room);
	for (size_t i = 0; i < ELEMENTS(compared); i++) {
		const struct clock_source *source = clocks_find(b->result, compared[i]);

		if (source)
			time_allocations_by(b, source, &room);
	}
	b->result->allocator = allocator_name();
	return clock_bench_step(b);
}

/* The caller stays on one CPU; another one that it may use reads its times. */
static int choose_clock_cpus(struct clock_bench *b, struct error *err)
{
	cpu_set_t allowed;
	int r;

	if (b->result->cpu < 0)
		b->result->cpu = sched_getcpu();
	b->cpu = (int)b->result->cpu;
	b->other_cpu = -1;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != b->cpu && CPU_ISSET(cpu, &allowed))
			b->other_cpu = cpu;
	r = pinning_pin(b->cpu);
	return r < 0 ? error_os(err, r, "cannot run on CPU %d", b->cpu) : 0;
}

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

/* The rate of the cycle counter, by the clock that nothing corrects. */
static double measure_cycles_per_ns(void)
{
	int64_t cycles = cycles_now(), ns = clock_ns(CLOCK_MONOTONIC_RAW), now_ns;

	do
		now_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	while (now_ns - ns < 100 * NS_PER_MS);
	return (double)(cycles_now() - cycles) / (double)(now_ns - ns);
}

int clocks_measure(struct clocks *clocks, bool quiet, struct error *err)
{
	static int (*const tests[])(struct clock_bench *, struct error *) = {
		clock_cost, clock_steps, clock_lag, clock_primes, clock_allocations, clock_ticks};
	struct clock_bench b = {.result = clocks};
	uint64_t steps;
	int r = choose_clock_cpus(&b, err);

	if (r < 0)
		return r;
	clocks->made_ns = clock_ns(CLOCK_REALTIME);
	clocks->clocksource = path_text(
		AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	open_readers(&b);
	b.cycles_per_ns = measure_cycles_per_ns();
	clocks->cycles_per_second = b.cycles_per_ns * 1e9;

	steps = (clocks->full ? TURNS_FULL : TURNS) + b.n + 1 + clock_primes_steps(&b) + 1 +
		N_CLOCK_TICKS;
	progress_begin(&b.progress, "Clocks", steps, quiet);
	for (size_t i = 0; r == 0 && i < ELEMENTS(tests); i++)
		r = tests[i](&b, err);
	progress_end(&b.progress);
	for (size_t i = 0; i < b.n; i++)
		time_reader_close(&b.readers[i]);
	return r;
}
