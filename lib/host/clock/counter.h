/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor's counter of time, read without a system call: the time stamp counter on x86, the virtual counter on arm64. */
#pragma once

#include "lib/base/error.h"
#include "lib/clock/tsc.h"

#include <stdint.h>

static inline uint64_t counter_now(void)
{
	return tsc_read();
}

/* Whether it counts at one rate on all CPUs, whatever their frequency and idle states: -ENOTSUP with a sentence if it does
 * not, or if this architecture has none that EMP can read. `root_fd` as for text_read_file(). */
int counter_check(int root_fd, struct error *err);

/* How the counter's values become ns since `base`. */
struct counter_scale {
	uint64_t base;
	int64_t base_realtime_ns; /* since 1970, at `base` */
	int64_t base_raw_ns;      /* CLOCK_MONOTONIC_RAW at `base` */
	double ns_per_tick;
};

/* The beginning of a measurement of the scale, and its end, which must be some 100 ms later. */
struct counter_scale counter_scale_begin(void);
void counter_scale_end(struct counter_scale *scale);

static inline int64_t counter_ns(const struct counter_scale *scale, uint64_t at)
{
	return (int64_t)((double)(int64_t)(at - scale->base) * scale->ns_per_tick);
}
