/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main of every unit test: see TEST in check.h. */
#include "tests/unit/check.h"

#include <assert.h>

static struct CMUnitTest tests[64];
static size_t n_tests;

void check_add(struct CMUnitTest test)
{
	assert(n_tests < ELEMENTS(tests));
	tests[n_tests++] = test;
}

__attribute__((weak)) int check_begin(void)
{
	return 0;
}

int main(void)
{
	return check_begin() ?: _cmocka_run_group_tests("tests", tests, n_tests, NULL, NULL);
}
