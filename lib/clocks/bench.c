/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the clocks share: see bench.h. */
#include "lib/clocks/bench.h"

#include "lib/base/number.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/stats/summary.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <string.h>

int clock_bench_stopped(void)
{
	return interrupt_pending() ? -EINTR : 0;
}

int clock_bench_step(struct clock_bench *b)
{
	progress_step(&b->progress, ++b->steps, NULL);
	return clock_bench_stopped();
}

/* The reader of that name; NULL: not on this machine. */
static struct time_reader *clock_bench_find(struct clock_bench *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->readers[i].source->name, name))
			return &b->readers[i];
	return NULL;
}

double clock_bench_ns(const struct clock_bench *b, const struct time_reader *reader, int64_t reading)
{
	return reader->source->cycles ? (double)reading / b->cycles_per_ns : (double)reading;
}

/* What a call of each source costs (Hines, Wyatt & Chang, test_cycles, Table 1): cycles before and after, many times.
 *
 * The sources are called in blocks, in turn. What an empty call takes in the same turn is subtracted. */

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
	size_t n, n_blocks;
};

static size_t turns(const struct clock_bench *b)
{
	return b->full ? TURNS_FULL : TURNS;
}

uint64_t clock_cost_steps(const struct clock_bench *b)
{
	return turns(b);
}

static double block_median(const int64_t block[BLOCK], int64_t quantum)
{
	int64_t sorted[BLOCK];

	memcpy(sorted, block, sizeof(sorted));
	sort_ascending(sorted, BLOCK);
	return grouped_median_of(sorted, BLOCK, quantum);
}

static int64_t read_nothing(struct time_reader *reader)
{
	return 0;
}

static void call(struct time_reader *reader, int64_t block[BLOCK])
{
	int64_t (*read)(struct time_reader *) = reader->source->read;

	for (int i = -WARM_UP; i < BLOCK; i++) {
		int64_t before = cycles_now(), after;

		read(reader);
		after = cycles_now();
		if (i >= 0)
			block[i] = after - before;
	}
}

static void summarize(struct calls *calls, int64_t quantum, double empty, struct clock_source *ret)
{
	struct bounds bounds;
	double sum = 0, squares = 0, median;
	size_t kept = 0;

	sort_ascending(calls->cycles, calls->n);
	sort_ascending(calls->medians, calls->n_blocks);
	bounds = median_interval(calls->medians, calls->n_blocks, 0.95);
	median = grouped_median_of(calls->cycles, calls->n, quantum);
	ret->low = bounds.low / 1000;
	ret->high = bounds.high / 1000;
	ret->median = quantile_of(calls->medians, calls->n_blocks, 0.5) / 1000;
	ret->min = (double)calls->cycles[0] - empty;
	while (kept < calls->n && (double)calls->cycles[kept] <= INTERRUPTED * median)
		sum += (double)calls->cycles[kept++];
	ret->mean = sum / (double)kept - empty;
	for (size_t i = 0; i < kept; i++)
		squares += pow((double)calls->cycles[i] - empty - ret->mean, 2);
	ret->sd = sqrt(squares / (double)(kept - 1));
	ret->calls = (double)calls->n;
	ret->interrupted = (double)(calls->n - kept);
}

static void free_calls(struct calls *calls, size_t n)
{
	for (size_t i = 0; calls && i < n; i++) {
		free(calls[i].cycles);
		free(calls[i].medians);
	}
	free(calls);
}

static struct calls *new_calls(const struct clock_bench *b)
{
	struct calls *calls = xcalloc(b->n + 1, sizeof(*calls));

	for (size_t i = 0; calls && i <= b->n; i++) {
		calls[i].cycles = xcalloc(turns(b) * BLOCK, sizeof(int64_t));
		calls[i].medians = xcalloc(turns(b), sizeof(int64_t));
		if (!calls[i].cycles || !calls[i].medians) {
			free_calls(calls, b->n + 1);
			return NULL;
		}
	}
	return calls;
}

int clock_cost(struct clock_bench *b, struct error *err)
{
	struct calls *calls = new_calls(b);
	int64_t quantum;
	int r = 0;
	int64_t block[BLOCK];

	/* Some counters advance in steps of many cycles. */
	for (int i = 0; i < BLOCK; i++)
		block[i] = cycles_now();
	for (int i = BLOCK - 1; i > 0; i--)
		block[i] -= block[0];
	quantum = quantum_of(block + 1, BLOCK - 1);

	for (size_t turn = 0; r == 0 && turn < turns(b); turn++) {
		static const struct time_source nothing = {.name = "nothing", .read = read_nothing};
		struct calls *empty = &calls[b->n];
		int64_t *turn_block = &empty->cycles[empty->n];
		double empty_median;

		/* calls[b->n] are those of nothing. */
		call(&(struct time_reader){.source = &nothing}, turn_block);
		empty_median = block_median(turn_block, quantum);
		empty->n += BLOCK;
		for (size_t k = 0; k < b->n; k++) {
			size_t source = (turn + k) % b->n;
			struct calls *of = &calls[source];

			turn_block = &of->cycles[of->n];
			call(&b->readers[source], turn_block);
			of->n += BLOCK;
			of->medians[of->n_blocks++] = llround(
				1000 * (block_median(turn_block, quantum) - empty_median));
		}
		r = clock_bench_step(b);
	}
	if (r == 0) {
		struct calls *empty = &calls[b->n];

		sort_ascending(empty->cycles, empty->n);
		for (size_t i = 0; i < b->n; i++)
			summarize(&calls[i], quantum, grouped_median_of(empty->cycles, empty->n, quantum),
				&b->result->sources[i]);
	}
	free_calls(calls, b->n + 1);
	return r;
}

/* By how much each source advances when it is read again and again, and whether it ever goes backwards, also when the
 * reader moves to another CPU. */

enum {
	STEPS = 2000,                       /* as many at most */
	STEPS_NS = 120 * 1000 * 1000,       /* in this time: times() advances by 10 ms */
	STEPS_FULL_NS = 1000 * 1000 * 1000, /* likewise, --full */
	MOVES = 100,
};

static double step_of(struct clock_bench *b, struct time_reader *reader, int64_t *backwards)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (b->full ? STEPS_FULL_NS : STEPS_NS);
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

/* Readings right before and after each move. */
static int move_about(struct clock_bench *b, struct error *err)
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
	return r < 0 ? error_os(err, r, "cannot move between CPU %d and CPU %d", b->cpu, b->other_cpu) : 0;
}

int clock_steps(struct clock_bench *b, struct error *err)
{
	for (size_t i = 0; i < b->n; i++) {
		int64_t backwards = 0;
		int r;

		b->result->sources[i].step_ns = step_of(b, &b->readers[i], &backwards);
		b->result->sources[i].backwards = (double)backwards;
		r = clock_bench_step(b);
		if (r < 0)
			return r;
	}
	return b->other_cpu >= 0 ? move_about(b, err) : 0;
}

/* Costs that are too small for a coarse clock: malloc (Hines, Wyatt & Chang, malloc_stats, Table 2), by the cycle counter
 * for each size, and by other sources over all sizes. Whatever malloc the process has is measured, so also that of
 * LD_PRELOAD. */

enum { FIRST = 100, LAST = 5000, STEP = 100, SIZES = LAST / STEP, ALLOCATIONS = 1000, ROUNDS = 5 };

/* The sources that Table 2 compares. */
static const char *const compared[] = {TIME_REFERENCE, TIME_EXACT, "emp-clock"};

/* The difference of two readings around each call, or around nothing if size is 0. NULL: the cycle counter. */
static void allocate(struct time_reader *reader, size_t size, void *blocks[], int64_t readings[])
{
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		int64_t before = reader ? time_read(reader) : cycles_now();

		blocks[i] = size ? xmalloc(size) : NULL;
		__asm__ volatile("" ::"r"(blocks[i]) : "memory"); /* the call stays between the readings */
		readings[i] = (reader ? time_read(reader) : cycles_now()) - before;
	}
	for (size_t i = 0; i < ALLOCATIONS; i++)
		free(blocks[i]);
}

/* Without the slowest hundredth, which was interrupted. What the kernel does for fresh memory stays. */
static double bench_mean(int64_t readings[])
{
	enum { KEPT = ALLOCATIONS * 99 / 100 };
	double sum = 0;

	sort_ascending(readings, ALLOCATIONS);
	for (size_t i = 0; i < KEPT; i++)
		sum += (double)readings[i];
	return sum / KEPT;
}

/* One reading per call, and an empty loop just before, whose mean is subtracted. */
static double cost_of(struct time_reader *reader, size_t size, void *blocks[], int64_t readings[])
{
	double empty;

	allocate(reader, 0, blocks, readings);
	empty = bench_mean(readings);
	allocate(reader, size, blocks, readings);
	return bench_mean(readings) - empty;
}

/* The median of some rounds over all sizes. */
static void measure_sizes(struct clock_bench *b, void *blocks[], int64_t readings[])
{
	int64_t costs[SIZES][ROUNDS];

	allocate(NULL, LAST, blocks, readings); /* the heap grows */
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < SIZES; i++)
			costs[i][round] = llround(cost_of(NULL, FIRST + i * STEP, blocks, readings));
	for (size_t i = 0; i < SIZES; i++) {
		struct clock_allocation *row = array_add(b->result->allocations, b->result->n_allocations);

		*row = (struct clock_allocation){(int64_t)(FIRST + i * STEP), median_of(costs[i], ROUNDS)};
	}
}

static void measure_source(
	struct clock_bench *b, struct time_reader *reader, void *blocks[], int64_t readings[])
{
	struct clock_small_cost *cost = clocks_add_small_cost(b->result, reader->source->name);
	double sum = 0;
	size_t zeros = 0;

	for (size_t i = 0; i < SIZES; i++) {
		double cycles = cost_of(reader, FIRST + i * STEP, blocks, readings) * b->cycles_per_ns;

		sum += cycles;
		for (size_t k = 0; k < ALLOCATIONS; k++)
			zeros += readings[k] == 0;
	}
	cost->cycles = sum / SIZES;
	cost->zeros = (double)zeros / (SIZES * ALLOCATIONS);
}

int clock_allocations(struct clock_bench *b, struct error *err)
{
	_cleanup_(freep) void **blocks = xcalloc(ALLOCATIONS, sizeof(*blocks));
	_cleanup_(freep) int64_t *readings = xcalloc(ALLOCATIONS, sizeof(*readings));
	Dl_info info;

	measure_sizes(b, blocks, readings);
	for (size_t i = 0; i < ELEMENTS(compared); i++) {
		struct time_reader *reader = clock_bench_find(b, compared[i]);

		if (reader)
			measure_source(b, reader, blocks, readings);
	}

	void *address = dlsym(RTLD_DEFAULT, "malloc");

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		b->result->allocator = NULL;
	else
		b->result->allocator = xstrdup(
			strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname);
	return clock_bench_step(b);
}
