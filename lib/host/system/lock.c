/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: see lock.h. No file is ever written to, truncated or removed here. */
#include "lib/host/system/lock.h"

#include "lib/host/cpu/cpus.h"
#include "lib/host/process/process.h"
#include "lib/host/system/leftovers.h"

#include <grp.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

static const char HOST_LOCK[] = RUN_DIRECTORY "/lock", HOST_TURNS[] = RUN_DIRECTORY "/measuring";

int run_directory_open(const char *path, struct error *err)
{
	bool made = geteuid() == 0 && mkdir(path, 0755) == 0;
	_cleanup_(closep) int directory = open(
		path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (directory < 0 || fstat(directory, &st) < 0)
		return -ENOENT;
	if (made)
		fchmod(directory, 0755); /* whatever the umask */
	else if (st.st_uid != 0 || st.st_mode & 022)
		return error_say(
			err, -EPERM, "%s must belong to root, and only root may write to it", path);
	return TAKE_FD(directory);
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
		return error_os(err, -errno, "cannot open the host's lock %s", path);
	if (!S_ISREG(st.st_mode))
		return error_say(err, -EINVAL,
			"the host's lock %s is not a regular file; name another", path);
	return TAKE_FD(fd);
}

/* `name` in /run/emp. -ENOENT: there is none that this user can open. */
static int open_host_lock(const char *name, struct error *err)
{
	const bool root = geteuid() == 0;
	const struct group *group = root ? getgrnam("emp") : NULL;
	_cleanup_(closep) int directory = run_directory_open(RUN_DIRECTORY, err), fd = -1;

	if (directory < 0)
		return directory;
	fd = openat(directory, name,
		O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (root ? O_CREAT : 0), 0600);
	if (fd < 0)
		return root ? error_os(err, -errno,
				      "cannot open the host's lock " RUN_DIRECTORY "/%s", name)
			    : -ENOENT;
	if (group && fchown(fd, 0, group->gr_gid) == 0) /* it may lock the file, too */
		fchmod(fd, 0660);
	return TAKE_FD(fd);
}

/* The process that has locked some of the bytes from `first` to `last` of the file at `path`, as
 * the kernel tells everybody, by flock(2) ("FLOCK") or fcntl(2) ("POSIX"). 0: none that is visible
 * here, or the file is in an overlay of several file systems, where it has other numbers for the
 * kernel. */
static pid_t find_holder(const char *path, const char *kind, uint64_t first, uint64_t last)
{
	_cleanup_(freep) char *locks = path_text(AT_FDCWD, "/proc/locks");
	char found[16], of[64], wanted[64], end[32];
	struct stat st;
	uint64_t begin;
	int pid;

	if (stat(path, &st) < 0)
		return 0;
	snprintf(wanted, sizeof(wanted), "%02x:%02x:%lu", major(st.st_dev), minor(st.st_dev),
		(unsigned long)st.st_ino);
	for (char *rest = locks, *line; (line = strsep(&rest, "\n"));)
		if (sscanf(line, "%*s %15s ADVISORY WRITE %d %63s %" SCNu64 " %31s", found, &pid,
			    of, &begin, end) == 5 &&
			!strcmp(found, kind) && !strcmp(of, wanted) && pid > 0 && begin <= last &&
			(!strcmp(end, "EOF") || strtoull(end, NULL, 10) >= first))
			return pid;
	return 0;
}

/* "emp-measure (process 12, since 2026-11-21 14:03:59)", "process 12"; *ret_name, if it is known,
 * is freed by the caller. */
static const char *holder_text(pid_t pid, char **ret_name)
{
	char *name = *ret_name = path_text(AT_FDCWD, "/proc/%d/comm", pid);
	int64_t since_ns = process_ref_started_ns(pid);

	for (char *c = name; c && *c; c++) /* the process chose it */
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (!name || !since_ns)
		return text_brief("process %d", pid);
	return text_brief("%s (process %d, since %s)", name, pid, text_moment(since_ns));
}

/* -EBUSY with a sentence that names the process that has locked the file at `path`. */
static int check_holder(const char *path, struct error *err)
{
	_cleanup_(freep) char *name = NULL;
	pid_t pid = find_holder(path, "FLOCK", 0, 0);
	const char *holder;

	if (pid == 0)
		return 0;
	holder = holder_text(pid, &name);
	return error_say(err, -EBUSY, "%s has locked this machine; wait for it%s", holder,
		name && !strcmp(name, "emp-calibrate") ? ", or see 'emp-calibrate status'" : "");
}

/* A process that checks the lock holds it for a moment. */
static int lock_file(int fd, const char *path, struct error *err)
{
	for (int i = 0; i < 20; i++) {
		int r;

		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return error_os(err, -errno, "cannot take the host's lock %s", path);
		r = check_holder(path, err);
		if (r < 0)
			return r;
		usleep(10000);
	}
	return error_say(err, -EBUSY,
		"another process, which cannot be named here, has locked this machine (%s); "
		"wait for it",
		path);
}

static int check_lock(const char *path, struct error *err)
{
	_cleanup_(closep) int fd = open(
		path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int r = check_holder(path, err);

	if (r < 0)
		return r;
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return lock_file(fd, path, err); /* one that cannot be named */
}

/* EMP_LOCK names a file that stands for the host's lock. */
static const char *named_lock(void)
{
	const char *named = getenv("EMP_LOCK");

	return named && *named ? named : NULL;
}

int lock_take(int *ret_fd, const char *book, struct error *err)
{
	_cleanup_(freep) char *own = text_format("%s.lock", book);
	const char *named = named_lock(), *path = named ?: HOST_LOCK;
	_cleanup_(closep) int fd = named ? open_named_lock(path, err) : open_host_lock("lock", err);
	int r = 0;

	if (fd == -ENOENT && !named) {
		r = check_lock(HOST_LOCK, err);
		path = own;
		fd = r < 0 ? r : open_named_lock(own, err);
	}
	if (fd < 0)
		return fd;
	r = lock_file(fd, path, err);
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	leftovers_remove(false);
	return 0;
}

int lock_look(const char *book, struct error *err)
{
	_cleanup_(freep) char *own = text_format("%s.lock", book);
	int r = check_lock(named_lock() ?: HOST_LOCK, err);

	return r < 0 || named_lock() ? r : check_lock(own, err);
}

/* A core has the number of its first CPU. */
static int core_of(int cpu)
{
	_cleanup_(freep) int *threads = NULL;
	size_t n;

	cpu_core_threads(AT_FDCWD, cpu, &threads, &n);
	return n > 0 ? threads[0] : cpu;
}

static bool descends_from(pid_t ancestor)
{
	enum { MOST = 1000 };
	pid_t pid = getpid();

	for (int i = 0; pid > 1 && pid != ancestor && i < MOST; i++) {
		_cleanup_(freep) char *stat = path_text(AT_FDCWD, "/proc/%d/stat", pid);
		struct process process;

		if (!stat || process_parse(stat, &process) != 1)
			return false;
		pid = process.parent;
	}
	return pid == ancestor;
}

/* Bytes of the file stand for cores. 1: taken, 0: *ret_pid has some of them (0: it cannot be
 * named); -errno. */
static int lock_bytes(int fd, off_t first, off_t n, pid_t *ret_pid)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = n};

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 1;
	if (errno != EACCES && errno != EAGAIN)
		return -errno;
	if (fcntl(fd, F_GETLK, &lock) < 0)
		return -errno;
	*ret_pid = lock.l_type == F_UNLCK || lock.l_pid < 0 ? 0 : lock.l_pid;
	return 0;
}

/* The cores of these CPUs, or none of them. */
static int lock_cores(int fd, const cpu_set_t *cpus, pid_t *ret_pid)
{
	int r = 1;

	if (!cpus)
		return lock_bytes(fd, 0, 0, ret_pid);
	for (int cpu = 0; r > 0 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus))
			r = lock_bytes(fd, core_of(cpu), 1, ret_pid);
	if (r <= 0)
		fcntl(fd, F_SETLK, &(struct flock){.l_type = F_UNLCK, .l_whence = SEEK_SET});
	return r;
}

/* Who cannot open the file can still see who has locked it. */
static pid_t find_turn(const char *path, const cpu_set_t *cpus)
{
	pid_t pid = cpus ? 0 : find_holder(path, "POSIX", 0, UINT64_MAX);

	for (int cpu = 0; cpus && pid == 0 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus))
			pid = find_holder(
				path, "POSIX", (uint64_t)core_of(cpu), (uint64_t)core_of(cpu));
	return pid;
}

int turn_take(int *fd, const char *book, const cpu_set_t *cpus, struct error *err)
{
	const char *named = named_lock();
	_cleanup_(freep) char *name = NULL, *own = text_format("%s.measuring", book);
	_cleanup_(freep) char *path = named ? text_format("%s.measuring", named)
					    : xstrdup(HOST_TURNS);
	pid_t pid = find_turn(path, cpus);
	int r = pid == 0 || pid == getpid();

	if (*fd < 0)
		*fd = named ? open_named_lock(path, NULL) : open_host_lock("measuring", NULL);
	if (*fd < 0)
		*fd = open_named_lock(own, NULL);
	if (*fd < 0) /* this user's measurements hinder no others, and the book will say why */
		*fd = -1;
	else if (r > 0)
		r = lock_cores(*fd, cpus, &pid);
	if (r < 0)
		return error_os(err, r, "cannot wait for other measurements by locking %s", path);
	/* One that cannot be named is outside of this process's namespace, and may be what it
	 * descends from. */
	if (r > 0 || pid == 0 || descends_from(pid))
		return 1;
	error_say(err, 0, "%s", holder_text(pid, &name));
	return 0;
}
