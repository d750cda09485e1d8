/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calibration of the clocks: all readers of this machine, and the tests that use them. Each
 * test adds its part of the result. All sources take part in turn, so that they see the same state
 * of the machine. */
#pragma once

#include "lib/base/terminal.h"
#include "lib/clocks/clocks.h"
#include "lib/clocks/time_source.h"

/* Measures the sources of time of this machine. `clocks` has `cpu` (-1: the one at hand) and
 * `full`; the rest is unknown. -EINTR after a signal. */
int clocks_measure(struct clocks *clocks, bool quiet, struct error *err);

enum { MAX_CLOCK_READERS = 32 };

struct clock_bench {
	struct time_reader readers[MAX_CLOCK_READERS]; /* in the order of result->sources */
	size_t n;
	int cpu;       /* the caller is pinned to it */
	int other_cpu; /* -1: none that may be used */
	double cycles_per_ns;
	struct clocks *result;
	struct progress progress;
	uint64_t steps;
};

/* Counts a step of the progress. -EINTR after a signal, otherwise 0. */
int clock_bench_step(struct clock_bench *bench);

/* A reading, or the difference of two, in ns. */
static inline double clock_bench_ns(
	const struct clock_bench *bench, const struct time_reader *reader, int64_t reading)
{
	return reader->source->cycles ? (double)reading / bench->cycles_per_ns : (double)reading;
}
