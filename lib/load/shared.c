/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that the driver shares with its slaves: see shared.h. */
#include "lib/load/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static size_t size_of(size_t n, size_t file_size)
{
	return sizeof(struct shared) + n * sizeof(struct slave_state) + file_size + 1;
}

static struct shared *map(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int shared_new(struct shared **ret, int *ret_fd, const struct load *load, const char *text, struct error *err)
{
	size_t n = load_slaves(load), size = size_of(n, strlen(text));
	_cleanup_(closep) int fd = memfd_create("emp-load", MFD_CLOEXEC);
	struct shared *s;

	if (fd < 0 || posix_fallocate(fd, 0, (off_t)size) != 0)
		return error_os(err, fd < 0 ? -errno : -ENOMEM, "cannot make memory for %zu slaves", n);
	s = map(fd, size);
	if (!s)
		return error_os(err, -errno, "cannot map memory for %zu slaves", n);
	s->n = n;
	s->file_size = strlen(text);
	strcpy((char *)shared_text(s), text);
	*ret = s;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int shared_open(struct shared **ret, int fd, struct error *err)
{
	struct stat st;

	*ret = fstat(fd, &st) == 0 ? map(fd, (size_t)st.st_size) : NULL;
	return *ret ? 0 : error_os(err, -errno, "cannot map the driver's memory");
}

void shared_free(struct shared *shared)
{
	if (shared)
		munmap(shared, size_of(shared->n, shared->file_size));
}

const char *shared_text(const struct shared *shared)
{
	return (const char *)&shared->slaves[shared->n];
}

void shared_wait(uint32_t *futex)
{
	while (!__atomic_load_n(futex, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, futex, FUTEX_WAIT, 0, NULL);
}

void shared_set(uint32_t *futex)
{
	__atomic_store_n(futex, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX);
}
