/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The map from keys to small numbers that is emptied at no cost. */
#include "tests/unit/check.h"

#include "lib/base/keymap.h"

TEST(what_is_set_is_found_and_nothing_else)
{
	struct keymap map = {};

	assert_null(keymap_find(&map, 7));
	for (uint64_t i = 0; i < 10000; i++)
		keymap_set(&map, i * 64, (uint32_t)i);
	for (uint64_t i = 0; i < 10000; i++) {
		assert_non_null(keymap_find(&map, i * 64));
		assert_int_equal(*keymap_find(&map, i * 64), i);
		assert_null(keymap_find(&map, i * 64 + 1));
	}
	keymap_free(&map);
}

TEST(setting_again_replaces)
{
	struct keymap map = {};

	keymap_set(&map, UINT64_MAX, 1);
	keymap_set(&map, UINT64_MAX, 2);
	keymap_set(&map, 0, 3);
	assert_int_equal(*keymap_find(&map, UINT64_MAX), 2);
	assert_int_equal(*keymap_find(&map, 0), 3);
	assert_int_equal(map.n_keys, 2);
	keymap_free(&map);
}

TEST(a_reset_map_is_empty_and_keeps_its_memory)
{
	struct keymap map = {};
	struct keymap_slot *slots;

	keymap_reset(&map, 1000);
	slots = map.slots;
	for (int round = 0; round < 100; round++) {
		for (uint64_t i = 0; i < 1000; i++)
			keymap_set(&map, i, (uint32_t)round);
		keymap_reset(&map, 1000);
		assert_null(keymap_find(&map, 5));
		assert_ptr_equal(map.slots, slots);
	}
	keymap_free(&map);
}

TEST(the_last_generation_is_followed_by_a_fresh_one)
{
	struct keymap map = {};

	keymap_reset(&map, 1);
	map.generation = UINT32_MAX;
	keymap_set(&map, 1, 1);
	keymap_reset(&map, 1);
	assert_null(keymap_find(&map, 1));
	keymap_set(&map, 2, 2);
	assert_int_equal(*keymap_find(&map, 2), 2);
	keymap_free(&map);
}
