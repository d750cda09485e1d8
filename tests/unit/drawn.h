/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests with random numbers from `rng`, whose seed is EMP_SEED or the one that the test names. */
#pragma once

#include "tests/unit/check.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static gsl_rng *rng;

static inline int rng_begin(unsigned long seed)
{
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, check_seed(seed));
	return 0;
}

static inline int rng_end(void **state)
{
	gsl_rng_free(rng);
	return 0;
}

#define TEST_DRAWN(name, seed)                \
	static int name##_begin(void **state) \
	{                                     \
		return rng_begin(seed);       \
	}                                     \
	TEST_WITH(name, name##_begin, rng_end)
