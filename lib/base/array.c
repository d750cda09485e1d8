/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by one element at a time: see array.h. */
#include "lib/base/array.h"

#include "lib/base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { AT_LEAST = 4 };

void *array_grow(void *items, size_t *n, size_t *capacity, size_t size)
{
	size_t wanted = AT_LEAST;
	void *array;

	memcpy(&array, items, sizeof(array));
	if (!capacity || *n == *capacity) {
		while (wanted <= *n)
			wanted *= 2;
		array = xreallocarray(array, wanted, size);
		memcpy(items, &array, sizeof(array));
		if (capacity)
			*capacity = wanted;
	}
	return memset((char *)array + size * (*n)++, 0, size);
}
