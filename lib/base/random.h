/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers from a seed, the same everywhere: splitmix64 (Steele, Lea and Flood 2014). Any seeds will do, even
 * consecutive ones. */
#pragma once

#include <stdint.h>

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
