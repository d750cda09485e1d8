/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One emp-setup at a time: see lock.h. The file goes with its holder, so that nothing of us stays. */
#include "setup/lock.h"

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char PATH[] = "/run/emp-setup.lock";

/* Whether the file that we have locked is still the one of that name. */
static bool is_current(int fd)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(PATH, &named) == 0 && ours.st_ino == named.st_ino &&
	       ours.st_dev == named.st_dev;
}

static int say_busy(int fd, struct error *err)
{
	char pid[24] = "";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	return error_say(err, -EBUSY, "another emp-setup is at work%s%.*s", n > 0 ? ", process " : "",
		n > 0 ? (int)n : 0, pid);
}

int lock_take(int *ret, struct error *err)
{
	for (;;) {
		_cleanup_(closep) int fd = open(PATH, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

		if (fd < 0)
			return error_os(err, -errno, "cannot open %s", PATH);
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK ? say_busy(fd, err)
						    : error_os(err, -errno, "cannot lock %s", PATH);
		if (!is_current(fd))
			continue; /* its holder removed it while we waited */
		if (ftruncate(fd, 0) == 0)
			dprintf(fd, "%d", (int)getpid());
		*ret = TAKE_FD(fd);
		return 0;
	}
}

void lock_release(int *fd)
{
	if (*fd < 0)
		return;
	unlink(PATH);
	close(*fd);
	*fd = -1;
}
