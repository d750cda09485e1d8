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

/* What a document has of the book, and as text. */
static inline void drop_new_members(json_t *json)
{
	static const char *const names[] = {"uid", "run", "start", "started_ns", "started", "ended_ns", "ended", "made", "context"};
	const char *name;
	json_t *value;
	size_t i;

	for (i = 0; json_is_object(json) && i < ELEMENTS(names); i++)
		json_object_del(json, names[i]);
	json_object_foreach (json, name, value)
		drop_new_members(value);
	json_array_foreach (json, i, value)
		drop_new_members(value);
}

static inline void assert_same(const json_t *a, const json_t *b)
{
	_cleanup_(json_decrefp) json_t *first_json = json_deep_copy(a), *second_json = json_deep_copy(b);
	_cleanup_(freep) char *first = NULL, *second = NULL;

	drop_new_members(first_json);
	drop_new_members(second_json);
	first = json_dumps(first_json, JSON_SORT_KEYS);
	second = json_dumps(second_json, JSON_SORT_KEYS);
	assert_string_equal(first, second);
}
