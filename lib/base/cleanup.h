/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Visible ownership: a local marked _cleanup_(…) is released when its scope ends, and TAKE()
 * hands it over. Every opaque type T of the project defines T_free, and T_freep with
 * DEFINE_FREEP(), so that `_cleanup_(T_freep) struct T *x = NULL;` works.
 *
 * A variable that was released is empty: it may be released earlier, by the same call, and once
 * more at the end of its scope. A descriptor that is closed twice may be somebody else's the second
 * time; closing any descriptor of the lab book drops all locks that this process has on it. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f), unused)) /* some are never read */

/* The pointer; the variable is NULL from then on, and no longer frees it. */
#define TAKE(p)                       \
	({                            \
		__auto_type _p = (p); \
		(p) = NULL;           \
		_p;                   \
	})

/* The same for a struct, which is empty then. */
#define TAKE_STRUCT(s)                   \
	({                               \
		__auto_type _s = (s);    \
		(s) = (__typeof__(s)){}; \
		_s;                      \
	})

/* The same for a file descriptor. */
#define TAKE_FD(fd)             \
	({                      \
		int _fd = (fd); \
		(fd) = -1;      \
		_fd;            \
	})

#define DEFINE_FREEP(type)                               \
	static inline void type##_freep(struct type **p) \
	{                                                \
		type##_free(TAKE(*p));                   \
	}

#define ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

static inline void freep(void *p)
{
	free(*(void **)p);
	memset(p, 0, sizeof(void *)); /* a pointer of any type */
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(TAKE_FD(*fd));
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(TAKE(*f));
}

static inline void closedirp(DIR **d)
{
	if (*d)
		closedir(TAKE(*d));
}
