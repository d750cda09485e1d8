/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How precisely each source times the same computation, the first N primes (Hines, Wyatt & Chang,
 * Figure 2). What a call of the source costs is subtracted, as in the paper. */
#pragma once

#include "lib/clocks/bench.h"

/* 0, -EINTR after a signal, or a failure with a sentence. */
int clock_primes(struct clock_bench *bench, struct error *err);

/* How many steps of the progress it takes. */
uint64_t clock_primes_steps(const struct clock_bench *bench);
