/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: see lock.h. No file is ever written to, truncated or removed here. */
#include "lib/host/system/lock.h"

#include "lib/base/cleanup.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/host/process/process.h"
#include "lib/host/system/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const char HOST_LOCK[] = RUN_DIRECTORY "/lock";

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

static int lock_cannot_open(int r, const char *path, struct error *err)
{
	return error_os(err, r, "cannot open the host's lock %s", path);
}

/* A file of the user's: EMP_LOCK or BOOK.lock. */
static int open_named_lock(const char *path, struct error *err)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	_cleanup_(closep) int fd = open(path, flags);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags | O_CREAT, 0666);
	if (fd < 0 || fstat(fd, &st) < 0)
		return lock_cannot_open(-errno, path, err);
	if (!S_ISREG(st.st_mode))
		return error_say(
			err, -EINVAL, "the host's lock %s is not a regular file; name another", path);
	return TAKE_FD(fd);
}

/* -ENOENT: there is no lock of the host that this user can open. */
static int open_host_lock(struct error *err)
{
	const bool root = geteuid() == 0;
	const struct group *group = root ? getgrnam("emp") : NULL;
	_cleanup_(closep) int directory = run_directory_open(RUN_DIRECTORY, err), fd = -1;

	if (directory < 0)
		return directory;
	fd = openat(
		directory, "lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (root ? O_CREAT : 0), 0600);
	if (fd < 0)
		return root ? lock_cannot_open(-errno, HOST_LOCK, err) : -ENOENT;
	if (group && fchown(fd, 0, group->gr_gid) == 0) /* it may lock the file, too */
		fchmod(fd, 0660);
	return TAKE_FD(fd);
}

/* The process that has locked the file at `path`, as the kernel tells everybody; 0: none that is visible here, or the file
 * is in an overlay of several file systems, where it has other numbers for the kernel. */
static pid_t lock_holder(const char *path)
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
	_cleanup_(freep) char *name = path_text(AT_FDCWD, "/proc/%d/comm", pid);
	char moment[TEXT_TIME_SIZE];
	int64_t since_ns = process_ref_started_ns(pid);

	if (!name || !since_ns)
		return error_say(err, -EBUSY, "process %d has locked this machine; wait for it", pid);
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return error_say(err, -EBUSY, "%s (process %d, since %s) has locked this machine; wait for it%s",
		name, pid, text_moment(moment, since_ns),
		!strcmp(name, "emp-calibrate") ? ", or see 'emp-calibrate status'" : "");
}

/* A process that checks the lock holds it for a moment. */
static int lock_file(int fd, const char *path, struct error *err)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid;

		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return error_os(err, -errno, "cannot take the host's lock %s", path);
		pid = lock_holder(path);
		if (pid)
			return say_held(pid, err);
		usleep(10000);
	}
	return error_say(err, -EBUSY,
		"another process, which cannot be named here, has locked this machine (%s); wait for it",
		path);
}

static int check_lock(const char *path, struct error *err)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	pid_t pid = lock_holder(path);

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

static int take_lock(const char *path, int fd, struct lock *ret, struct error *err)
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
		return take_lock(named_lock(), open_named_lock(named_lock(), err), ret, err);
	fd = open_host_lock(err);
	if (fd != -ENOENT)
		return take_lock(HOST_LOCK, fd, ret, err);
	r = check_lock(HOST_LOCK, err);
	return r < 0 ? r : take_lock(own, open_named_lock(own, err), ret, err);
}

int lock_look(const char *book, struct error *err)
{
	_cleanup_(freep) char *own = text_format("%s.lock", book);
	int r;

	if (named_lock())
		return check_lock(named_lock(), err);
	r = check_lock(HOST_LOCK, err);
	return r < 0 ? r : check_lock(own, err);
}

void lock_release(struct lock *lock)
{
	if (!lock || lock->fd < 0)
		return;
	close(lock->fd);
	*lock = (struct lock){.fd = -1};
}
