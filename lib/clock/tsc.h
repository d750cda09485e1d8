/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processor's time stamp counter: x86's TSC, arm64's CNTVCT; a constant rate, readable without
 * a system call. */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t tsc_read(void)
{
	return __rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t tsc_read(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}
#else
static inline uint64_t tsc_read(void)
{
	return 0;
}
#endif

/* Its rate in cycles per nanosecond; 0: it is missing, forbidden, or its rate is not constant. The
 * first call takes a millisecond. */
double tsc_per_ns(void);
