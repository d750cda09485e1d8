/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow: what was there stays, new elements are zero, memory is kept where it is asked for. */
#include "tests/unit/check.h"

#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <errno.h>
#include <string.h>

struct item {
	int64_t number;
	char name[24];
};

TEST(elements_stay_and_new_ones_are_zero)
{
	_cleanup_(freep) struct item *items = NULL;
	size_t n = 0;

	for (int i = 0; i < 1000; i++) {
		struct item *item = array_add(items, n);

		assert_non_null(item);
		assert_ptr_equal(item, &items[i]);
		assert_int_equal(item->number, 0);
		assert_string_equal(item->name, "");
		item->number = i;
		memset(item->name, 'x', sizeof(item->name) - 1);
	}
	assert_int_equal(n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i].number, i);
}

TEST(an_array_of_exactly_its_size_grows)
{
	_cleanup_(freep) int64_t *items = calloc(3, sizeof(*items));
	size_t n = 3;

	*array_add(items, n) = 7; /* an overflow here is the sanitizer's to find */
	*array_add(items, n) = 8;
	assert_int_equal(n, 5);
	assert_int_equal(items[3], 7);
	assert_int_equal(items[4], 8);
}

TEST(a_refilled_array_keeps_its_memory)
{
	_cleanup_(freep) int64_t *items = NULL;
	size_t n = 0, capacity = 0;
	int64_t *first;

	while (n < 100)
		*array_add_reused(items, n, capacity) = 1;
	first = items;
	assert_int_equal(capacity, 128);
	n = 0;
	assert_ptr_equal(array_add_reused(items, n, capacity), first);
	assert_int_equal(items[0], 0);
	assert_int_equal(items[99], 1);
	assert_int_equal(capacity, 128);
}

/* Under ASan, too, an allocation that is too large fails as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

TEST(without_memory_the_array_stays)
{
	_cleanup_(freep) char *items = strdup("abc");
	char *before = items;
	size_t n = 3;

	assert_null(array_grow(&items, &n, NULL, SIZE_MAX / 2));
	assert_ptr_equal(items, before);
	assert_int_equal(n, 3);
}

TEST(out_of_memory_is_said)
{
	struct error err = {};

	assert_int_equal(error_oom(&err), -ENOMEM);
	assert_string_equal(err.text, "out of memory");
}
