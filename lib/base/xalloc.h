/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, and arrays that grow. Where there is no memory the process ends with one sentence and
 * exit status 1, which is as safe as being killed: what a tool has changed can be put back by the
 * next one. A size that comes from outside is checked before. Not for libemp-clock, which never
 * ends other people's programs. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void xalloc_fail(void);

/* Names a file that this process is writing, which is removed if the process ends for lack of
 * memory: xalloc_unfinished(NULL, path) when it is begun, xalloc_unfinished(path, NULL) when it is
 * finished. The text must stay until then. */
void xalloc_unfinished(const char *before, const char *path);

/* The argument, which must not be NULL. */
static inline void *xalloc_check(void *memory)
{
	if (!memory)
		xalloc_fail();
	return memory;
}

/* As their namesakes; of size 0 they give at least one byte. */
#define xmalloc(size) xalloc_check(malloc((size) ?: 1))
#define xcalloc(n, size) xalloc_check(calloc((n) ?: 1, size))
#define xreallocarray(items, n, size) xalloc_check(reallocarray(items, (n) ?: 1, size))
#define xstrdup(text) ((char *)xalloc_check(strdup(text)))
#define xstrndup(text, n) ((char *)xalloc_check(strndup(text, n)))
#define xopen_memstream(text, size) ((FILE *)xalloc_check(open_memstream(text, size)))
#define xrealloc(memory, size) xalloc_check(realloc(memory, (size) ?: 1))

/* Arrays that grow by one element at a time: `items`, a pointer of any type, and `n`, a size_t.
 *
 * struct item *item = array_add(list->items, list->n);
 *
 * The new element is all zeros. The array may come from malloc; items = NULL and n = 0 is an empty
 * one. */
#define array_add(items, n) \
	((__typeof__(&*(items)))array_grow(&(items), &(n), NULL, sizeof(*(items))))

/* The same for a long array, which is not reallocated for each element, and for one that is filled
 * again and again (n = 0 between): `capacity`, a size_t, keeps its memory. Start with 0. */
#define array_add_reused(items, n, capacity) \
	((__typeof__(&*(items)))array_grow(&(items), &(n), &(capacity), sizeof(*(items))))

/* For the macros: one more element of `size` bytes in the array whose pointer is at `items`. If
 * `capacity` is NULL, the array is reallocated to the next power of two above n. */
void *array_grow(void *items, size_t *n, size_t *capacity, size_t size);
