/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: see lock.h. */
#include "lib/host/system/lock.h"

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define HOST_LOCK "/run/lock/emp.lock"

/* Whether the file can be written, or created in its directory. */
static bool may_write(const char *path, const char *directory)
{
	return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 ||
	       (errno == ENOENT && faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0);
}

int lock_path(const char *book, char **ret, struct error *err)
{
	const char *named = getenv("EMP_LOCK");
	char *path;

	if (named && *named)
		path = strdup(named);
	else if (may_write(HOST_LOCK, "/run/lock"))
		path = strdup(HOST_LOCK);
	else
		path = text_format("%s.lock", book);
	if (!path)
		return error_oom(err);
	*ret = path;
	return 0;
}

/* Every user may write to /run/lock, so the file is checked. */
static int open_file(const char *path, struct error *err)
{
	_cleanup_(closep) int fd = -1;
	struct stat st;

	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0666);
		if (fd >= 0)
			fchmod(fd, 0666); /* whatever the umask: others must be able to lock it too */
		else if (errno == EEXIST)
			return -EAGAIN;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_os(err, -errno, "cannot open the host's lock %s", path);
	if (!S_ISREG(st.st_mode))
		return error_say(err, -EINVAL, "the host's lock %s is not a regular file; remove it", path);
	return TAKE_FD(fd);
}

/* Whether `path` is still the file that was locked: its last holder may just have removed it. */
static bool is_current(int fd, const char *path)
{
	struct stat held, there;

	return fstat(fd, &held) == 0 && stat(path, &there) == 0 && held.st_ino == there.st_ino &&
	       held.st_dev == there.st_dev;
}

/* Names the holder. Right after a change of holder, the file still names the last one. */
static int say_busy(int fd, const char *path, struct error *err)
{
	char text[256], moment[TEXT_TIME_SIZE], what[200];
	long long pid, since_ns;

	for (int i = 0; i < 20; i++) {
		ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		if (sscanf(text, "%lld %lld %199[^\n]", &pid, &since_ns, what) == 3 &&
			(kill((pid_t)pid, 0) == 0 || errno == EPERM))
			return error_say(err, -EBUSY,
				"process %lld has locked this machine since %s (%s); wait for it, or see 'emp-calibrate status'",
				pid, text_moment(moment, since_ns), what);
		usleep(10000);
	}
	return error_say(err, -EBUSY,
		"another process has locked this machine (%s), and is not visible here; wait for it", path);
}

static void write_holder(int fd, const char *what)
{
	_cleanup_(freep) char *text = text_format(
		"%d %lld %s\n", getpid(), (long long)clock_ns(CLOCK_REALTIME), what);

	if (text && ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, text, strlen(text), 0); /* only for others to read */
}

int lock_take(struct lock *ret, const char *path, const char *what, struct error *err)
{
	for (int i = 0; i < 100; i++) {
		_cleanup_(closep) int fd = open_file(path, err);
		char *copy;

		if (fd == -EAGAIN)
			continue;
		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return errno == EWOULDBLOCK
				       ? say_busy(fd, path, err)
				       : error_os(err, -errno, "cannot take the host's lock %s", path);
		if (!is_current(fd, path))
			continue;
		copy = strdup(path);
		if (!copy)
			return error_oom(err);
		write_holder(fd, what);
		*ret = (struct lock){TAKE_FD(fd), copy};
		return 0;
	}
	return error_say(err, -EBUSY, "the host's lock %s is busy; try again", path);
}

int lock_look(const char *path, struct error *err)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0; /* without permission to look, it is ignored */
	return say_busy(fd, path, err);
}

void lock_release(struct lock *lock)
{
	if (!lock || lock->fd < 0)
		return;
	unlink(lock->path); /* before the release: another process that opened it sees that it is not current */
	close(lock->fd);
	free(lock->path);
	*lock = (struct lock){.fd = -1};
}
