/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents written in a test, and compared. */
#pragma once

#include "tests/unit/check.h"

#include "tests/memory_document.h"

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

/* As text, without what a document has of the book, and without the name of its schema. */
static inline void assert_same(const json_t *a, const json_t *b)
{
	static const char *const of_book[] = {"uid", "run", "start", "started_ns", "started",
		"ended_ns", "ended", "made", "context", "$schema", NULL};
	_cleanup_(json_decrefp) json_t *first_json = json_deep_copy(a),
				       *second_json = json_deep_copy(b);
	_cleanup_(freep) char *first = NULL, *second = NULL;

	drop_members(first_json, of_book);
	drop_members(second_json, of_book);
	first = json_dumps(first_json, JSON_SORT_KEYS);
	second = json_dumps(second_json, JSON_SORT_KEYS);
	assert_string_equal(first, second);
}
