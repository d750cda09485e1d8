/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What dead owners left: see leftovers.h. */
#include "lib/host/system/leftovers.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/process/cgroup.h"
#include "lib/host/process/process.h"
#include "lib/host/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define TRACE "emp-trace-"
#define DIRECTORY "emp-load-"

const char *const leftover_kind_names[N_LEFTOVER_KINDS] = {
	[LEFTOVER_TRACE] = "trace",
	[LEFTOVER_CGROUP] = "cgroup",
	[LEFTOVER_DIRECTORY] = "directory",
};

/* Takes the path over. */
static void add_leftover(struct leftovers *all, enum leftover_kind kind, char *path)
{
	*array_add(all->items, all->n) = (struct leftover){kind, path};
}

void leftovers_clear(struct leftovers *leftovers)
{
	for (size_t i = 0; i < leftovers->n; i++)
		free(leftovers->items[i].path);
	free(leftovers->items);
	*leftovers = (struct leftovers){};
}

/* A directory that is there, and that nobody has locked. */
static bool is_unlocked(int parent_fd, const char *name, struct stat *st)
{
	_cleanup_(closep) int fd = openat(
		parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && fstat(fd, st) == 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* "emp-trace-PID-STARTED", in ms since 1970: pids are reused. */
static char *trace_name_of(pid_t pid)
{
	return text_format(TRACE "%d-%" PRId64, pid, process_ref_started_ns(pid) / NS_PER_MS);
}

char *leftover_trace_name(void)
{
	return trace_name_of(getpid());
}

/* The names of dead owners' traces. Older versions have no lock: their owners are known by the name only. */
static void find_traces(struct leftovers *ret, int tracing_fd)
{
	int fd = openat(tracing_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_cleanup_(freep) char *of_the_living = NULL;
		struct stat st;
		int pid, end = 0;

		if (sscanf(entry->d_name, TRACE "%d-%*u%n", &pid, &end) != 1 || !end || entry->d_name[end])
			continue;
		of_the_living = trace_name_of(pid);
		if (strcmp(entry->d_name, of_the_living) != 0 && is_unlocked(fd, entry->d_name, &st))
			add_leftover(ret, LEFTOVER_TRACE, xstrdup(entry->d_name));
	}
}

void leftovers_remove_traces(void)
{
	_cleanup_(leftovers_clear) struct leftovers found = {};
	_cleanup_(closep) int tracing_fd = geteuid() == 0 ? tracefs_open() : -1;

	if (tracing_fd >= 0)
		find_traces(&found, tracing_fd);
	for (size_t i = 0; i < found.n; i++) {
		_cleanup_(freep) char *path = text_format("instances/%s", found.items[i].path);

		unlinkat(tracing_fd, path, AT_REMOVEDIR); /* refused while somebody reads it */
	}
}

/* "BELOW/emp-load-PID-STARTED-XXXXXX", in clock ticks since the machine was started. */
char *leftover_directory_name(const char *below)
{
	return text_format(
		"%s/" DIRECTORY "%d-%" PRIu64 "-XXXXXX", below, getpid(), process_ref_start_ticks(getpid()));
}

static void find_directories(struct leftovers *ret, const char *below)
{
	_cleanup_(closedirp) DIR *dir = opendir(below);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;
		uint64_t ticks;
		int pid, random = 0, end = 0;

		sscanf(entry->d_name, DIRECTORY "%d-%" SCNu64 "-%n%*[A-Za-z0-9]%n", &pid, &ticks, &random,
			&end);
		if (end != random + 6 || entry->d_name[end] || process_ref_start_ticks(pid) == ticks)
			continue;
		if (is_unlocked(dirfd(dir), entry->d_name, &st) && st.st_uid == geteuid())
			add_leftover(ret, LEFTOVER_DIRECTORY, text_format("%s/%s", below, entry->d_name));
	}
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

void leftovers_remove_directories(const char *below)
{
	_cleanup_(leftovers_clear) struct leftovers found = {};

	find_directories(&found, below);
	for (size_t i = 0; i < found.n; i++)
		leftover_directory_remove(found.items[i].path);
}

static void add_cgroup(const char *path, void *data)
{
	add_leftover(data, LEFTOVER_CGROUP, xstrdup(path));
}

/* Where loads have their directories, if their files do not say otherwise. */
static const char *const *load_places(void)
{
	static const char *places[] = {"/tmp", NULL, NULL};
	const char *own = getenv("TMPDIR");

	places[1] = own && *own == '/' && strcmp(own, "/tmp") != 0 ? own : NULL;
	return places;
}

void leftovers_find(struct leftovers *ret)
{
	_cleanup_(closep) int tracing_fd = tracefs_open();
	_cleanup_(freep) char *cgroups = NULL;

	*ret = (struct leftovers){};
	if (tracing_fd >= 0)
		find_traces(ret, tracing_fd);
	if (cgroup_mount(AT_FDCWD, &cgroups, &(struct error){}) == 0)
		cgroup_each_abandoned(cgroups, add_cgroup, ret);
	for (const char *const *place = load_places(); *place; place++)
		find_directories(ret, *place);
}

void leftovers_remove(void)
{
	_cleanup_(freep) char *cgroups = NULL;

	if (geteuid() != 0)
		return;
	leftovers_remove_traces();
	if (cgroup_mount(AT_FDCWD, &cgroups, &(struct error){}) == 0)
		cgroup_each_abandoned(cgroups, NULL, NULL);
	for (const char *const *place = load_places(); *place; place++)
		leftovers_remove_directories(*place);
}
