/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of the clocks share: see bench.h. */
#include "lib/clocks/bench.h"

#include "lib/host/process/signals.h"

#include <errno.h>
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

struct time_reader *clock_bench_find(struct clock_bench *b, const char *name)
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
