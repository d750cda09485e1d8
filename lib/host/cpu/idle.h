/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How soon idle CPUs should wake up, read through libcpupower (see cpufreq.h for what that means). */
#pragma once

#include <stdint.h>

/* The wake-up latency to ask for, in us. 0: idle CPUs poll. Where two threads share a core, one that polls slows the
 * other down: then it is that of the first state in which a CPU halts (C1), or 0 if that is not known. */
int32_t idle_latency_us(void);
