/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs handle an interrupt: see interrupt.h. */
#include "lib/host/cpu/interrupt.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int interrupt_write_list(const char *path, const char *list)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, list, strlen(list)) <
		0) /* EIO, EPERM: per-CPU and managed interrupts, and some controllers */
		return errno == EIO || errno == EPERM ? -ENODEV : -errno;
	return 0;
}
