/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loaded into a program with LD_PRELOAD: makes one call fail. EMP_FAULT is KIND:N: the N-th call of
 * that kind fails, "memory" (allocations, ENOMEM), "open" (EMFILE) or "book" (what SQLite does with
 * its files, EIO: the system calls of its VFS are replaced by its own interface for that); N is 0:
 * none does. EMP_FAULT_COUNT is a file for the number of calls. What the program starts is left
 * alone. For system calls see inject.c. */
#undef _FILE_OFFSET_BITS /* open and open64 are two functions here */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { NONE, MEMORY, OPEN, BOOK };

static enum kind kind;
static long fails_at;
static atomic_long calls;
static const char *count_file;
static pid_t self;

/* of tools with a book */
extern __typeof__(sqlite3_vfs_find) sqlite3_vfs_find __attribute__((weak));

/* The function behind the one of this name here. */
#define NEXT(name)                                                 \
	({                                                         \
		static __typeof__(&name) next;                     \
                                                                   \
		if (!next)                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name); \
		next;                                              \
	})

static bool fails(enum kind what, int error)
{
	if (what != kind || getpid() != self || ++calls != fails_at)
		return false;
	errno = error;
	return true;
}

static ssize_t book_pread(int fd, void *bytes, size_t n, off64_t at)
{
	return fails(BOOK, EIO) ? -1 : pread64(fd, bytes, n, at);
}

static ssize_t book_pwrite(int fd, const void *bytes, size_t n, off64_t at)
{
	return fails(BOOK, EIO) ? -1 : pwrite64(fd, bytes, n, at);
}

static int book_ftruncate(int fd, off_t length)
{
	return fails(BOOK, EIO) ? -1 : ftruncate(fd, length);
}

static void *book_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return fails(BOOK, EIO) ? MAP_FAILED : mmap(at, size, protection, flags, fd, offset);
}

static int book_unlink(const char *path)
{
	return fails(BOOK, EIO) ? -1 : unlink(path);
}

static void replace_calls(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls_of_vfs[] = {
		{"pread", (sqlite3_syscall_ptr)book_pread},
		{"pread64", (sqlite3_syscall_ptr)book_pread},
		{"pwrite", (sqlite3_syscall_ptr)book_pwrite},
		{"pwrite64", (sqlite3_syscall_ptr)book_pwrite},
		{"ftruncate", (sqlite3_syscall_ptr)book_ftruncate},
		{"mmap", (sqlite3_syscall_ptr)book_mmap},
		{"unlink", (sqlite3_syscall_ptr)book_unlink},
	};
	sqlite3_vfs *vfs = sqlite3_vfs_find ? sqlite3_vfs_find(NULL) : NULL;

	for (size_t i = 0; vfs && i < sizeof(calls_of_vfs) / sizeof(*calls_of_vfs); i++)
		vfs->xSetSystemCall(vfs, calls_of_vfs[i].name, calls_of_vfs[i].call);
}

static __attribute__((constructor)) void begin(void)
{
	const char *order = getenv("EMP_FAULT"), *colon = order ? strchr(order, ':') : NULL;

	count_file = getenv("EMP_FAULT_COUNT");
	self = getpid();
	fails_at = colon ? strtol(colon + 1, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	unsetenv("EMP_FAULT");
	if (colon && *order == 'm')
		kind = MEMORY;
	else if (colon)
		kind = *order == 'b' ? BOOK : OPEN;
	if (kind == BOOK)
		replace_calls();
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

FILE *fopen(const char *path, const char *mode)
{
	return fails(OPEN, EMFILE) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fails(OPEN, EMFILE) ? NULL : NEXT(fopen64)(path, mode);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define OPEN_AS(name, parameters, ...)                                                  \
	int name parameters                                                             \
	{                                                                               \
		mode_t mode;                                                            \
		va_list ap;                                                             \
                                                                                        \
		va_start(ap, flags);                                                    \
		mode = mode_of(flags, ap);                                              \
		va_end(ap);                                                             \
		return fails(OPEN, EMFILE) ? -1 : NEXT(name)(__VA_ARGS__, flags, mode); \
	}
OPEN_AS(open, (const char *path, int flags, ...), path)
OPEN_AS(open64, (const char *path, int flags, ...), path)
OPEN_AS(openat, (int below, const char *path, int flags, ...), below, path)
OPEN_AS(openat64, (int below, const char *path, int flags, ...), below, path)
