/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a CPU has spent its time between two moments, as the kernel counts it in ticks of 10 ms. */
#pragma once

#include "lib/base/base.h"

/* What the kernel has counted until now; the caller frees it. NULL: not known. */
char *cpu_time_text(void);

/* The share of the time between two such texts in which the CPU was busy, or in which the host gave
 * it to others; NAN: not known. */
double cpu_time_busy(const char *before, const char *now, int cpu);
double cpu_time_stolen(const char *before, const char *now, int cpu);
