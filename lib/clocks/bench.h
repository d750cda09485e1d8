/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calibration of the clocks: all readers of this machine, and the tests that use them. Each test adds its part of
 * the result. All sources take part in turn, so that they see the same state of the machine. */
#pragma once

#include "lib/base/terminal.h"
#include "lib/clocks/clocks.h"
#include "lib/clocks/time_source.h"

enum { MAX_CLOCK_READERS = 32 };

struct clock_bench {
	struct time_reader readers[MAX_CLOCK_READERS]; /* in the order of result->sources */
	size_t n;
	int cpu;       /* the caller is pinned to it */
	int other_cpu; /* -1: none that may be used */
	bool full;     /* the sizes of the paper */
	double cycles_per_ns;
	struct clocks *result;
	struct progress progress;
	uint64_t steps;
};

/* Each returns 0, -EINTR after a signal, or a failure with a sentence. They count these steps of the progress. */
int clock_cost(struct clock_bench *bench, struct error *err);
int clock_steps(struct clock_bench *bench, struct error *err);
int clock_lag(struct clock_bench *bench, struct error *err);
int clock_primes(struct clock_bench *bench, struct error *err);
int clock_allocations(struct clock_bench *bench, struct error *err);
int clock_ticks(struct clock_bench *bench, struct error *err);

/* How many steps each test takes. */
uint64_t clock_cost_steps(const struct clock_bench *bench);
uint64_t clock_primes_steps(const struct clock_bench *bench);

/* -EINTR after a signal, otherwise 0. The first also counts a step of the progress. */
int clock_bench_step(struct clock_bench *bench);
int clock_bench_stopped(void);

/* A reading, or the difference of two, in ns. */
double clock_bench_ns(const struct clock_bench *bench, const struct time_reader *reader, int64_t reading);
