/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By how much each source advances when it is read again and again, and whether it ever goes backwards, also when the
 * reader moves to another CPU. */
#include "lib/clocks/bench.h"

#include "lib/base/number.h"
#include "lib/host/process/pinning.h"
#include "lib/stats/summary.h"

#include <math.h>

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
