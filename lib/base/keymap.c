/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open addressing, at most half full: see keymap.h. */
#include "lib/base/keymap.h"

struct keymap_slot {
	uint64_t key;
	uint32_t value;
	uint32_t generation;
};

void keymap_free(struct keymap *map)
{
	free(map->slots);
	*map = (struct keymap){};
}

/* Keys are addresses and process ids: the multiplication spreads them over the upper bits. */
static struct keymap_slot *keymap_slot(const struct keymap *map, uint64_t key)
{
	size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (map->n_slots - 1);

	while (map->slots[at].generation == map->generation && map->slots[at].key != key)
		at = (at + 1) & (map->n_slots - 1);
	return &map->slots[at];
}

void keymap_reset(struct keymap *map, size_t n_keys)
{
	size_t n_slots = map->n_slots ?: 64;
	struct keymap_slot *slots;

	while (n_slots < 2 * n_keys)
		n_slots *= 2;
	map->n_keys = 0;
	if (n_slots == map->n_slots && map->generation < UINT32_MAX) {
		map->generation++;
		return;
	}
	slots = xcalloc(n_slots, sizeof(*slots));
	free(map->slots);
	*map = (struct keymap){.slots = slots, .n_slots = n_slots, .generation = 1};
}

void keymap_set(struct keymap *map, uint64_t key, uint32_t value)
{
	struct keymap_slot *slot;

	if (2 * (map->n_keys + 1) > map->n_slots) {
		struct keymap larger = {};

		keymap_reset(&larger, map->n_keys + 1);
		for (size_t i = 0; i < map->n_slots; i++)
			if (map->slots[i].generation == map->generation)
				keymap_set(&larger, map->slots[i].key, map->slots[i].value);
		keymap_free(map);
		*map = larger;
	}
	slot = keymap_slot(map, key);
	if (slot->generation != map->generation)
		map->n_keys++;
	*slot = (struct keymap_slot){.key = key, .value = value, .generation = map->generation};
}

uint32_t *keymap_find(const struct keymap *map, uint64_t key)
{
	struct keymap_slot *slot;

	if (map->n_keys == 0)
		return NULL;
	slot = keymap_slot(map, key);
	return slot->generation == map->generation ? &slot->value : NULL;
}

uint64_t keymap_hash(uint64_t hash, const void *bytes, size_t n)
{
	for (const unsigned char *b = bytes, *end = b + n; b < end; b++)
		hash = (hash ^ *b) * UINT64_C(0x100000001b3);
	return hash;
}
