/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up machine, and what the checks of an audit find on it. */
#pragma once

#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "setup/audit/checks.h"

static struct facts facts;
static struct finding finding;

#define CPU "sys/devices/system/cpu/"

static int timing_cpu; /* -1: none */

static inline int make(void **state)
{
	timing_cpu = -1;
	return tree_make(state);
}

#define TEST_OF_MACHINE(name) TEST_WITH(name, make, tree_remove)

static inline void gather(void)
{
	facts_clear(&facts);
	facts_read_files(&facts, tree.fd, timing_cpu);
}

static inline void assert_found_in(
	const struct facts *f, const char *id, enum check_state state, const char *value)
{
	const struct check *check = check_rows_find(id);

	assert_non_null(check);
	finding_clear(&finding);
	check_decide(check, f, &finding);
	assert_string_equal(finding.value, value);
	assert_int_equal(finding.state, state);
}

/* On the machine as it is now. */
static inline void assert_found(const char *id, enum check_state state, const char *value)
{
	gather();
	assert_found_in(&facts, id, state, value);
}

/* What a file of a check's setting should hold. */
static inline void assert_want(const char *id, size_t file, const char *value)
{
	assert_string_equal(check_files(check_rows_find(id), &facts)->items[file].want, value);
}
