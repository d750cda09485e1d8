/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that goes from CPU to CPU: see neighbour_watch.h. */
#include "lib/host/cpu/neighbour_watch.h"

#include "lib/base/interrupt.h"
#include "lib/host/process/pinning.h"

#include <math.h>
#include <sched.h>

/* Of all CPUs together: 128 MB. */
enum { MOST_READINGS = 4000000 };

double neighbour_series_share(const struct neighbour_series *series)
{
	double alone = neighbour_alone(series->readings, series->n), sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < series->n; i++) {
		if (!neighbour_sound(&series->readings[i]))
			continue;
		sum += neighbour_share(&series->readings[i], alone);
		n++;
	}
	return n > 0 ? sum / (double)n : NAN;
}

void neighbour_series_clear(struct neighbour_series *series)
{
	free(series->readings);
	*series = (struct neighbour_series){};
}

static int read_each_cpu(struct neighbour_watch *watch, struct error *err)
{
	for (size_t i = 0; i < watch->n; i++) {
		struct neighbour_series *series = &watch->series[i];
		int r = watch->n > 1 || series->n == 0 ? pinning_pin(series->cpu) : 0;

		if (r < 0)
			return error_os(err, r, "cannot run on CPU %d", series->cpu);
		*array_add(series->readings, series->n) = neighbour_read();
	}
	return 0;
}

int neighbour_watch(struct neighbour_watch *watch, struct error *err)
{
	int64_t least_ns = saturate_multiply(watch->n, watch->for_ns) / MOST_READINGS;
	int64_t pause_ns = watch->pause_ns > least_ns ? watch->pause_ns : least_ns;
	int64_t began_ns = clock_ns(CLOCK_MONOTONIC), done_ns = 0;
	uint64_t random = (uint64_t)began_ns;
	cpu_set_t before;
	int r = 0;

	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	while (r == 0 && done_ns < watch->for_ns) {
		if (pause_ns > 0)
			usleep((useconds_t)((double)pause_ns * (0.5 + random_unit(&random)) /
					    (double)NS_PER_US));
		r = read_each_cpu(watch, err);
		done_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
		if (watch->progress)
			watch->progress(watch->of, done_ns);
		if (r == 0 && interrupt_pending())
			r = 1;
	}
	sched_setaffinity(0, sizeof(before), &before);
	return r;
}
