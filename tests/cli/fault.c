/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loaded into a program with LD_PRELOAD: makes one call fail. EMP_FAULT is KIND:N: the N-th call of that kind fails, "memory"
 * (allocations, ENOMEM), "disk" (writing, truncating, renaming, syncing, ENOSPC) or "open" (EMFILE); N is 0: none does.
 * EMP_FAULT_COUNT is a file for the number of calls. What the program starts is left alone. */
#undef _FILE_OFFSET_BITS /* open and open64 are two functions here */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { NONE, MEMORY, DISK, OPEN };

static enum kind kind;
static long fails_at;
static atomic_long calls;
static const char *count_file;
static pid_t self;

/* The function behind the one of this name here. */
#define NEXT(name)                                                 \
	({                                                         \
		static __typeof__(&name) next;                     \
                                                                   \
		if (!next)                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name); \
		next;                                              \
	})

static __attribute__((constructor)) void begin(void)
{
	const char *order = getenv("EMP_FAULT"), *colon = order ? strchr(order, ':') : NULL;

	count_file = getenv("EMP_FAULT_COUNT");
	self = getpid();
	fails_at = colon ? strtol(colon + 1, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	unsetenv("EMP_FAULT");
	if (colon)
		kind = *order == 'm' ? MEMORY : *order == 'd' ? DISK : OPEN;
}

static __attribute__((destructor)) void end(void)
{
	enum kind counted = kind;
	FILE *file;

	kind = NONE;
	file = counted && count_file && getpid() == self ? fopen(count_file, "w") : NULL;
	if (file) {
		fprintf(file, "%ld\n", (long)calls);
		fclose(file);
	}
}

static bool fails(enum kind what, int error)
{
	if (what != kind || getpid() != self || ++calls != fails_at)
		return false;
	errno = error;
	return true;
}

void *malloc(size_t size)
{
	return fails(MEMORY, ENOMEM) ? NULL : NEXT(malloc)(size);
}

void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size) /* dlsym may call it */
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(MEMORY, ENOMEM) ? NULL : NEXT(realloc)(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	return fails(MEMORY, ENOMEM) ? NULL : NEXT(reallocarray)(old, n, size);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	return fails(DISK, ENOSPC) ? -1 : NEXT(write)(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return fails(DISK, ENOSPC) ? -1 : NEXT(pwrite)(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	return fails(DISK, ENOSPC) ? -1 : NEXT(pwrite64)(fd, bytes, n, at);
}

int ftruncate(int fd, off_t length)
{
	return fails(DISK, EIO) ? -1 : NEXT(ftruncate)(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
	return fails(DISK, EIO) ? -1 : NEXT(ftruncate64)(fd, length);
}

int fsync(int fd)
{
	return fails(DISK, EIO) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
	return fails(DISK, EIO) ? -1 : NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
	return fails(DISK, EIO) ? -1 : NEXT(rename)(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return fails(DISK, EIO) ? -1 : NEXT(renameat)(from_fd, from, to_fd, to);
}

FILE *fopen(const char *path, const char *mode)
{
	return fails(OPEN, EMFILE) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fails(OPEN, EMFILE) ? NULL : NEXT(fopen64)(path, mode);
}

/* stdio writes by itself: a buffer that cannot be written is reported by these. */
int fflush(FILE *file)
{
	return fails(DISK, ENOSPC) ? EOF : NEXT(fflush)(file);
}

int fclose(FILE *file)
{
	bool failed = fails(DISK, ENOSPC);
	int error = errno, r = NEXT(fclose)(file);

	if (failed)
		errno = error;
	return failed ? EOF : r;
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define OPEN_AS(name)                                                            \
	int name(const char *path, int flags, ...)                               \
	{                                                                        \
		mode_t mode;                                                     \
		va_list ap;                                                      \
                                                                                 \
		va_start(ap, flags);                                             \
		mode = mode_of(flags, ap);                                       \
		va_end(ap);                                                      \
		return fails(OPEN, EMFILE) ? -1 : NEXT(name)(path, flags, mode); \
	}
#define OPENAT_AS(name)                                                                 \
	int name(int below, const char *path, int flags, ...)                           \
	{                                                                               \
		mode_t mode;                                                            \
		va_list ap;                                                             \
                                                                                        \
		va_start(ap, flags);                                                    \
		mode = mode_of(flags, ap);                                              \
		va_end(ap);                                                             \
		return fails(OPEN, EMFILE) ? -1 : NEXT(name)(below, path, flags, mode); \
	}
OPEN_AS(open)
OPEN_AS(open64)
OPENAT_AS(openat)
OPENAT_AS(openat64)
