/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: see lock.h. No file is ever written to, truncated or removed here. */
#include "lib/host/system/lock.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/process/process_ref.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/run_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const char HOST_LOCK[] = RUN_DIRECTORY "/lock";

static int say_cannot_open(int r, const char *path, struct error *err)
{
	return error_os(err, r, "cannot open the host's lock %s", path);
}

/* A file of the user's: EMP_LOCK or BOOK.lock. */
static int open_named(const char *path, struct error *err)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	_cleanup_(closep) int fd = open(path, flags);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags | O_CREAT, 0666);
	if (fd < 0 || fstat(fd, &st) < 0)
		return say_cannot_open(-errno, path, err);
	if (!S_ISREG(st.st_mode))
		return error_say(
			err, -EINVAL, "the host's lock %s is not a regular file; name another", path);
	return TAKE_FD(fd);
}

/* Lets the group emp lock it. */
static void admit_group(int fd)
{
	const struct group *group = getgrnam("emp");

	if (group && fchown(fd, 0, group->gr_gid) == 0)
		fchmod(fd, 0660);
}

/* -ENOENT: there is no lock of the host that this user can open. */
static int open_host(struct error *err)
{
	const bool root = geteuid() == 0;
	_cleanup_(closep) int directory = run_directory_open(RUN_DIRECTORY, err), fd = -1;

	if (directory < 0)
		return directory;
	fd = openat(
		directory, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (root ? O_CREAT : 0), 0600);
	if (fd < 0)
		return root ? say_cannot_open(-errno, HOST_LOCK, err) : -ENOENT;
	if (root)
		admit_group(fd);
	return TAKE_FD(fd);
}

/* The process that has locked the file at `path`, as the kernel tells everybody; 0: none that is visible here, or the file
 * is in an overlay of several file systems, where it has other numbers for the kernel. */
static pid_t find_holder(const char *path)
{
	_cleanup_(freep) char *locks = NULL;
	char *line, *rest, wanted[64];
	struct stat st;
	int pid;

	if (stat(path, &st) < 0 || text_read_file(AT_FDCWD, "/proc/locks", &locks) < 0)
		return 0;
	snprintf(wanted, sizeof(wanted), " %02x:%02x:%lu ", major(st.st_dev), minor(st.st_dev),
		(unsigned long)st.st_ino);
	for (line = strtok_r(locks, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strstr(line, wanted) && sscanf(line, "%*s FLOCK ADVISORY WRITE %d", &pid) == 1 && pid > 0)
			return pid;
	return 0;
}

/* -EBUSY. The process chose its name. */
static int say_held(pid_t pid, struct error *err)
{
	_cleanup_(freep) char *name = NULL;
	char path[64], moment[TEXT_TIME_SIZE];
	int64_t since_ns = process_ref_started_ns(pid);

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (text_read_file(AT_FDCWD, path, &name) < 0 || !since_ns)
		return error_say(err, -EBUSY, "process %d has locked this machine; wait for it", pid);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return error_say(err, -EBUSY, "%s (process %d, since %s) has locked this machine; wait for it%s",
		name, pid, text_moment(moment, since_ns),
		!strcmp(name, "emp-calibrate") ? ", or see 'emp-calibrate status'" : "");
}

/* Somebody who looks holds it for a moment. */
static int lock_file(int fd, const char *path, struct error *err)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid;

		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return error_os(err, -errno, "cannot take the host's lock %s", path);
		pid = find_holder(path);
		if (pid)
			return say_held(pid, err);
		usleep(10000);
	}
	return error_say(err, -EBUSY,
		"another process, which cannot be named here, has locked this machine (%s); wait for it",
		path);
}

static int look_at(const char *path, struct error *err)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	pid_t pid = find_holder(path);

	if (pid)
		return say_held(pid, err);
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return lock_file(fd, path, err); /* one that cannot be named */
}

/* The file that EMP_LOCK names, NULL: none. */
static const char *named_lock(void)
{
	const char *named = getenv("EMP_LOCK");

	return named && *named ? named : NULL;
}

static int take(const char *path, int fd, struct lock *ret, struct error *err)
{
	_cleanup_(closep) int owned = fd;
	int r = fd < 0 ? fd : lock_file(fd, path, err);

	if (r < 0)
		return r;
	ret->fd = TAKE_FD(owned);
	leftovers_remove();
	return 0;
}

int lock_take(struct lock *ret, const char *book, struct error *err)
{
	_cleanup_(freep) char *own = text_format("%s.lock", book);
	int fd, r;

	if (named_lock())
		return take(named_lock(), open_named(named_lock(), err), ret, err);
	fd = open_host(err);
	if (fd != -ENOENT)
		return take(HOST_LOCK, fd, ret, err);
	r = look_at(HOST_LOCK, err);
	return r < 0 ? r : take(own, open_named(own, err), ret, err);
}

int lock_look(const char *book, struct error *err)
{
	_cleanup_(freep) char *own = text_format("%s.lock", book);
	int r;

	if (named_lock())
		return look_at(named_lock(), err);
	r = look_at(HOST_LOCK, err);
	return r < 0 ? r : look_at(own, err);
}

void lock_release(struct lock *lock)
{
	if (!lock || lock->fd < 0)
		return;
	close(lock->fd);
	*lock = (struct lock){.fd = -1};
}
