/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processor's cycle counter, read so that what is measured cannot be executed before the first or after the second
 * reading (Hines, Wyatt & Chang used cpuid for that). Where there is none, nanoseconds serve as cycles. */
#pragma once

#include "lib/base/number.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static inline int64_t cycles_now(void)
{
#if defined(__x86_64__)
	int64_t now;

	_mm_lfence();
	now = (int64_t)__rdtsc();
	_mm_lfence();
	return now;
#elif defined(__aarch64__)
	int64_t now;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now)::"memory");
	return now;
#else
	return clock_ns(CLOCK_MONOTONIC_RAW);
#endif
}
