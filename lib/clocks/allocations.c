/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs that are too small for a coarse clock: malloc (Hines, Wyatt & Chang, malloc_stats, Table 2), by the cycle counter
 * for each size, and by other sources over all sizes. Whatever malloc the process has is measured, so also that of
 * LD_PRELOAD. */
#include "lib/clocks/bench.h"
#include "lib/base/xalloc.h"
#include "lib/clocks/cycles.h"

#include "lib/stats/summary.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

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
static double mean_of(int64_t readings[])
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
	empty = mean_of(readings);
	allocate(reader, size, blocks, readings);
	return mean_of(readings) - empty;
}

/* The median of some rounds over all sizes. */
static int measure_sizes(struct clock_bench *b, void *blocks[], int64_t readings[], struct error *err)
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
	return 0;
}

static int measure_source(struct clock_bench *b, struct time_reader *reader, void *blocks[],
	int64_t readings[], struct error *err)
{
	struct clock_small_cost *cost = clocks_add_small_cost(b->result, reader->source->name);
	double sum = 0;
	size_t zeros = 0;

	if (!cost)
		return error_oom(err);
	for (size_t i = 0; i < SIZES; i++) {
		double cycles = cost_of(reader, FIRST + i * STEP, blocks, readings) * b->cycles_per_ns;

		sum += cycles;
		for (size_t k = 0; k < ALLOCATIONS; k++)
			zeros += readings[k] == 0;
	}
	cost->cycles = sum / SIZES;
	cost->zeros = (double)zeros / (SIZES * ALLOCATIONS);
	return 0;
}

int clock_allocations(struct clock_bench *b, struct error *err)
{
	_cleanup_(freep) void **blocks = xcalloc(ALLOCATIONS, sizeof(*blocks));
	_cleanup_(freep) int64_t *readings = xcalloc(ALLOCATIONS, sizeof(*readings));
	int r = blocks && readings ? measure_sizes(b, blocks, readings, err) : error_oom(err);
	Dl_info info;

	for (size_t i = 0; r == 0 && i < ELEMENTS(compared); i++) {
		struct time_reader *reader = clock_bench_find(b, compared[i]);

		r = reader ? measure_source(b, reader, blocks, readings, err) : 0;
	}

	void *address = dlsym(RTLD_DEFAULT, "malloc");

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		b->result->allocator = NULL;
	else
		b->result->allocator = xstrdup(
			strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname);
	return r < 0 ? r : clock_bench_step(b);
}
