/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka and what it must have in front of it. */
#pragma once

#include "lib/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>

/* What main returns where the tests cannot run: skipped, or failed where EMP_MUST_RUN says that
 * nothing may be. */
static inline int check_cannot_run(const char *why)
{
	printf("not run: %s\n", why);
	return getenv("EMP_MUST_RUN") ? 1 : 77;
}

/* The seed of a test's random numbers: EMP_SEED from the environment, else `otherwise`. It is
 * printed, so that a failure can be repeated. */
static inline unsigned long check_seed(unsigned long otherwise)
{
	const char *given = getenv("EMP_SEED");
	unsigned long seed = given ? strtoul(given, NULL, 10) : otherwise;

	printf("EMP_SEED=%lu\n", seed);
	return seed;
}

static inline void assert_close(double x, double y, double tolerance)
{
	if (!(fabs(x - y) <= tolerance))
		fail_msg("%.9g is not near %.9g", x, y);
}

/* What the statement prints to the stream of this name; it must be freed. */
#define PRINTED(stream, statement)                                           \
	({                                                                   \
		char *printed_text = NULL;                                   \
		size_t printed_size;                                         \
		FILE *stream = open_memstream(&printed_text, &printed_size); \
                                                                             \
		statement;                                                   \
		fclose(stream);                                              \
		printed_text;                                                \
	})

/* A test, whose name is a sentence. Those of a file run in the order in which they are written;
 * check.c has main. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                \
	static void name(void **state);                                                 \
	__attribute__((constructor(1000 + __LINE__))) static void add_##name(void)      \
	{                                                                               \
		check_add((struct CMUnitTest){#name, name, (setup), (teardown), NULL}); \
	}                                                                               \
	static void name(void **state)

void check_add(struct CMUnitTest test);

/* What a file does before its tests, if it defines it: 0, or what main returns without them. */
int check_begin(void);
