/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by one element at a time: `items`, a pointer of any type, and `n`, a size_t.
 *
 *	struct item *item = array_add(list->items, list->n);
 *
 * The new element is all zeros. The array may come from malloc; items = NULL and n = 0 is an empty one. */
#pragma once

#include <stddef.h>

#define array_add(items, n) ((__typeof__(&*(items)))array_grow(&(items), &(n), NULL, sizeof(*(items))))

/* The same for an array that is filled again and again (n = 0 between): `capacity`, a size_t, keeps its
 * memory. Start with 0. */
#define array_add_reused(items, n, capacity) \
	((__typeof__(&*(items)))array_grow(&(items), &(n), &(capacity), sizeof(*(items))))

/* For the macros: one more element of `size` bytes in the array whose pointer is at `items`. If `capacity` is
 * NULL, the array is reallocated to the next power of two above n. */
void *array_grow(void *items, size_t *n, size_t *capacity, size_t size);
