/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block devices in /sys/block: see block_devices.h. */
#include "lib/host/disk/block_devices.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <fcntl.h>
#include <stdbool.h>

/* A device with requests has queues, in "mq". */
static bool has_requests(int fd, const char *name)
{
	_cleanup_(freep) char *size = text_format("%s/size", name), *queues = text_format("%s/mq", name);
	int64_t sectors = 0;

	return size && queues && faccessat(fd, queues, F_OK, 0) == 0 &&
	       text_read_int(fd, size, &sectors) == 0 && sectors > 0;
}

size_t block_devices_count(int root_fd)
{
	int fd = openat(root_fd, text_below(root_fd, "/sys/block"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t n = 0;

	while (directory && (entry = readdir(directory)))
		n += entry->d_name[0] != '.' && has_requests(fd, entry->d_name);
	return n;
}
