/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times and counts: the kernel's clocks as int64_t nanoseconds, sums that do not overflow, and
 * random numbers. */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

enum { PPM = 1000000 };

static inline int64_t timespec_ns(struct timespec t)
{
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return timespec_ns(now);
}

/* Sums and products of what books, documents and systemd say, which anybody may have written: a
 * result that would overflow is the greatest number. */
static inline int64_t saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Of two that are not negative. */
static inline int64_t saturate_multiply(uint64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Random numbers from a seed, the same everywhere: splitmix64 (Steele, Lea and Flood 2014). Any
 * seeds will do, even consecutive ones. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* From 0 to less than 1. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}
