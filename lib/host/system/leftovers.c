/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What killed processes of EMP left behind: see leftovers.h. */
#include "lib/host/system/leftovers.h"

#include "lib/host/process/cgroup.h"
#include "lib/host/process/process.h"
#include "lib/host/system/tracefs.h"

#include <fts.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

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

/* The traces or directories of dead owners in a directory that nobody has locked. Traces of older
 * versions have no lock: their owners are known by the name only. */
static void find_leftovers(
	struct leftovers *ret, enum leftover_kind kind, int parent_fd, const char *path)
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
			*array_add(ret->items, ret->n) = (struct leftover){
				kind, kind == LEFTOVER_TRACE ? xstrdup(name)
							     : text_format("%s/%s", path, name)};
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

/* In an overlay, only directories have the device of the file system; files have that of their
 * layer. */
void leftover_directory_remove(const char *path)
{
	FTS *tree = fts_open(
		(char *[]){(char *)path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
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
			unlinkat(tracing_fd, text_brief("instances/%s", found->items[i].path),
				AT_REMOVEDIR);
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
		_cleanup_(freep) char *path = text_format("%s/" DIRECTORY "%d-%" PRIu64 "-XXXXXX",
			real, getpid(), process_ref_start_ticks(getpid()));
		_cleanup_(closep) int fd = -1;

		if (!mkdtemp(path)) {
			r = -errno;
			break;
		}
		/* between mkdtemp and the lock, a neighbour may take the new one for abandoned */
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
			st.st_nlink > 0) {
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
		*array_add(ret->items, ret->n) = (struct leftover){
			LEFTOVER_CGROUP, TAKE(abandoned.items[i])};
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
