/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map from 64-bit keys to small numbers. Emptying it costs nothing and keeps its memory, so that
 * thousands of tasks are compared between two samples without an allocation. A zeroed struct is an
 * empty map. */
#pragma once

#include "lib/base/base.h"

struct keymap {
	struct keymap_slot *slots;
	size_t n_slots, n_keys;
	uint32_t generation; /* slots of another one are empty */
};

void keymap_free(struct keymap *map);

/* Empties the map and reserves memory for n_keys. */
void keymap_reset(struct keymap *map, size_t n_keys);

/* Sets, or replaces. */
void keymap_set(struct keymap *map, uint64_t key, uint32_t value);

/* The value, to be read or written until the next keymap_set; NULL if there is none. */
uint32_t *keymap_find(const struct keymap *map, uint64_t key);

/* A key made of bytes (FNV-1a): the hash so far, KEYMAP_HASH_BEGIN at first, with n more of them.
 * Other bytes may have the same key. */
#define KEYMAP_HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t keymap_hash(uint64_t hash, const void *bytes, size_t n);
