/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's lock: see lock.h. No file is ever written to, truncated or removed here. */
#include "lib/host/system/lock.h"

#include "lib/host/process/cgroup.h"
#include "lib/host/process/process.h"
#include "lib/host/system/tracefs.h"

#include <fts.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

/* What EMP's processes leave behind if they are killed together with what cleans up after them: private
 * traces, cgroups and the directories of loads. */

#define TRACE "emp-trace-"
#define DIRECTORY "emp-load-"

const char *const leftover_kind_names[N_LEFTOVER_KINDS] = {
	[LEFTOVER_TRACE] = "trace",
	[LEFTOVER_CGROUP] = "cgroup",
	[LEFTOVER_DIRECTORY] = "directory",
};

void leftovers_clear(struct leftovers *leftovers)
{
	for (size_t i = 0; i < leftovers->n; i++)
		free(leftovers->items[i].path);
	free(leftovers->items);
	*leftovers = (struct leftovers){};
}

/* "emp-trace-PID-STARTED", in ms since 1970: pids are reused. */
char *leftover_trace_name(pid_t pid)
{
	return text_format(TRACE "%d-%" PRId64, pid, process_ref_started_ns(pid) / NS_PER_MS);
}

static bool owner_has_ended(enum leftover_kind kind, const char *name)
{
	_cleanup_(freep) char *of_the_living = NULL;
	int pid, random = 0, end = 0;
	uint64_t ticks;

	if (kind == LEFTOVER_TRACE) {
		if (sscanf(name, TRACE "%d-%*u%n", &pid, &end) != 1 || !end || name[end])
			return false;
		of_the_living = leftover_trace_name(pid);
		return strcmp(name, of_the_living) != 0;
	}
	sscanf(name, DIRECTORY "%d-%" SCNu64 "-%n%*[A-Za-z0-9]%n", &pid, &ticks, &random, &end);
	return end == random + 6 && !name[end] && process_ref_start_ticks(pid) != ticks;
}

/* The traces or directories of dead owners in a directory that nobody has locked. Traces of older versions have no lock: their
 * owners are known by the name only. */
static void find_leftovers(struct leftovers *ret, enum leftover_kind kind, int parent_fd, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = openat(parent_fd, path, flags);
	_cleanup_(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		_cleanup_(closep) int found = -1;
		struct stat st;

		if (!owner_has_ended(kind, name))
			continue;
		found = openat(fd, name, flags | O_NOFOLLOW | O_NONBLOCK);
		if (found < 0 || fstat(found, &st) < 0 || flock(found, LOCK_SH | LOCK_NB) < 0)
			continue;
		if (kind == LEFTOVER_TRACE || st.st_uid == geteuid())
			*array_add(ret->items, ret->n) = (struct leftover){kind,
				kind == LEFTOVER_TRACE ? xstrdup(name) : text_format("%s/%s", path, name)};
	}
}

/* Where loads have theirs, if their files do not say otherwise. */
static void find_directories(struct leftovers *ret)
{
	const char *own = getenv("TMPDIR");

	find_leftovers(ret, LEFTOVER_DIRECTORY, AT_FDCWD, "/tmp");
	if (own && *own == '/' && strcmp(own, "/tmp") != 0)
		find_leftovers(ret, LEFTOVER_DIRECTORY, AT_FDCWD, own);
}

/* In an overlay, only directories have the device of the file system; files have that of their layer. */
void leftover_directory_remove(const char *path)
{
	FTS *tree = fts_open((char *[]){(char *)path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info != FTS_D)
			remove(entry->fts_accpath);
	if (tree)
		fts_close(tree);
}

static void remove_found(const struct leftovers *found, int tracing_fd)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->items[i].kind == LEFTOVER_TRACE) /* refused while somebody reads it */
			unlinkat(tracing_fd, text_brief("instances/%s", found->items[i].path), AT_REMOVEDIR);
		else
			leftover_directory_remove(found->items[i].path);
}

int leftover_directory_make(const char *below, char **ret_path, int *ret_fd, struct error *err)
{
	_cleanup_(leftovers_clear) struct leftovers found = {};
	_cleanup_(freep) char *real = realpath(below, NULL);
	int r = real ? -EAGAIN : -errno;
	struct stat st;

	if (real)
		find_leftovers(&found, LEFTOVER_DIRECTORY, AT_FDCWD, real);
	remove_found(&found, -1);
	for (int i = 0; r == -EAGAIN && i < 100; i++) {
		/* "emp-load-PID-STARTED-XXXXXX", in clock ticks since the machine was started */
		_cleanup_(freep) char *path = text_format("%s/" DIRECTORY "%d-%" PRIu64 "-XXXXXX", real,
			getpid(), process_ref_start_ticks(getpid()));
		_cleanup_(closep) int fd = -1;

		if (!mkdtemp(path)) {
			r = -errno;
			break;
		}
		/* between mkdtemp and the lock, a neighbour may take the new one for abandoned */
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0) {
			*ret_path = TAKE(path);
			*ret_fd = TAKE_FD(fd);
			return 0;
		}
	}
	return error_os(err, r, "cannot make a directory in '%s'", below);
}

void leftovers_find(struct leftovers *ret)
{
	_cleanup_(closep) int tracing_fd = tracefs_open();
	_cleanup_(freep) char *cgroups = NULL;
	_cleanup_(paths_clear) struct paths abandoned = {};

	*ret = (struct leftovers){};
	if (tracing_fd >= 0)
		find_leftovers(ret, LEFTOVER_TRACE, tracing_fd, "instances");
	if (cgroup_mount(AT_FDCWD, &cgroups, NULL) == 0)
		cgroups_abandoned(&abandoned, cgroups, true);
	for (size_t i = 0; i < abandoned.n; i++)
		*array_add(ret->items, ret->n) = (struct leftover){LEFTOVER_CGROUP, TAKE(abandoned.items[i])};
	find_directories(ret);
}

void leftovers_remove(bool only_traces)
{
	_cleanup_(leftovers_clear) struct leftovers found = {};
	_cleanup_(closep) int tracing_fd = geteuid() == 0 ? tracefs_open() : -1;
	_cleanup_(freep) char *cgroups = NULL;

	if (geteuid() != 0)
		return;
	if (tracing_fd >= 0)
		find_leftovers(&found, LEFTOVER_TRACE, tracing_fd, "instances");
	if (!only_traces && cgroup_mount(AT_FDCWD, &cgroups, NULL) == 0)
		cgroups_abandoned(NULL, cgroups, true);
	if (!only_traces)
		find_directories(&found);
	remove_found(&found, tracing_fd);
}

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
		return root ? error_os(err, -errno, "cannot open the host's lock %s", HOST_LOCK) : -ENOENT;
	if (group && fchown(fd, 0, group->gr_gid) == 0) /* it may lock the file, too */
		fchmod(fd, 0660);
	return TAKE_FD(fd);
}

/* -EBUSY with a sentence that names the process that has locked the file at `path`, as the kernel tells everybody. 0: none that is
 * visible here, or the file is in an overlay of several file systems, where it has other numbers for the kernel. */
static int check_holder(const char *path, struct error *err)
{
	_cleanup_(freep) char *locks = path_text(AT_FDCWD, "/proc/locks"), *name = NULL;
	char wanted[64];
	int64_t since_ns;
	struct stat st;
	int pid = 0;

	if (stat(path, &st) < 0)
		return 0;
	snprintf(wanted, sizeof(wanted), " %02x:%02x:%lu ", major(st.st_dev), minor(st.st_dev),
		(unsigned long)st.st_ino);
	for (char *rest = locks, *line; pid <= 0 && (line = strsep(&rest, "\n"));)
		if (!strstr(line, wanted) || sscanf(line, "%*s FLOCK ADVISORY WRITE %d", &pid) != 1)
			pid = 0;
	if (pid <= 0)
		return 0;
	name = path_text(AT_FDCWD, "/proc/%d/comm", pid);
	since_ns = process_ref_started_ns(pid);
	if (!name || !since_ns)
		return error_say(err, -EBUSY, "process %d has locked this machine; wait for it", pid);
	for (char *c = name; *c; c++) /* the process chose it */
		if (*c < ' ' || *c > '~')
			*c = '?';
	return error_say(err, -EBUSY, "%s (process %d, since %s) has locked this machine; wait for it%s",
		name, pid, text_moment(since_ns),
		!strcmp(name, "emp-calibrate") ? ", or see 'emp-calibrate status'" : "");
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
		"another process, which cannot be named here, has locked this machine (%s); wait for it",
		path);
}

static int check_lock(const char *path, struct error *err)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
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
	_cleanup_(closep) int fd = named ? open_named_lock(path, err) : open_host_lock(err);
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
