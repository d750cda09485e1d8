/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How wrong the kernel's times of another process are: how stale they are when they are read from
 * another CPU, and what a whole tick charged to whatever runs at it makes of them. Both are
 * measured of a child process. */
#pragma once

#include "lib/clocks/bench.h"

/* Each returns 0, -EINTR after a signal, or a failure with a sentence. */
int clock_lag(struct clock_bench *bench, struct error *err);
int clock_ticks(struct clock_bench *bench, struct error *err);
