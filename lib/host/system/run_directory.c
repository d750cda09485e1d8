/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See run_directory.h. */
#include "lib/host/system/run_directory.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

int run_directory_open(const char *path, struct error *err)
{
	bool made = geteuid() == 0 && mkdir(path, 0755) == 0;
	_cleanup_(closep) int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (directory < 0 || fstat(directory, &st) < 0)
		return -ENOENT;
	if (made)
		fchmod(directory, 0755); /* whatever the umask */
	else if (st.st_uid != 0 || st.st_mode & 022)
		return error_say(err, -EPERM, "%s must belong to root, and only root may write to it", path);
	return TAKE_FD(directory);
}
