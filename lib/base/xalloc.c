/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, arrays that grow, and the end of a process without memory: see xalloc.h. */
#include "lib/base/base.h"

static const char *unfinished[8];
static pid_t owner;

void xalloc_unfinished(const char *before, const char *path)
{
	size_t i = 0;

	while (i < ELEMENTS(unfinished) && unfinished[i] != before)
		i++;
	if (i < ELEMENTS(unfinished))
		unfinished[i] = path;
	if (path)
		owner = getpid();
}

_Noreturn void xalloc_fail(void)
{
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	for (size_t i = 0; owner == getpid() && i < ELEMENTS(unfinished); i++)
		if (unfinished[i])
			unlink(unfinished[i]);
	_exit(1); /* at any moment, as if it were killed */
}

void *array_grow(void *items, size_t *n, size_t *capacity, size_t size)
{
	size_t wanted = 4;
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
