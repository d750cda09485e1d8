/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents written in a test, and compared. */
#pragma once

#include "tests/unit/check.h"

#include "lib/base/json.h"

#include <string.h>

/* Single quotes for double ones, so that documents can be read in C. */
static inline json_t *parse(const char *text)
{
	_cleanup_(freep) char *copy = strdup(text);
	json_error_t e;
	json_t *json;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_loads(copy, JSON_REJECT_DUPLICATES, &e);
	if (!json)
		fail_msg("%s: %s", e.text, copy);
	return json;
}

static inline void assert_same(const json_t *a, const json_t *b)
{
	_cleanup_(freep) char *first = json_dumps(a, JSON_SORT_KEYS), *second = json_dumps(b, JSON_SORT_KEYS);

	assert_string_equal(first, second);
}
