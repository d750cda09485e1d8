/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The isolated partition of emp-setup: see partition.h. */
#include "lib/host/cpu/partition.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/cpu/cpu_list.h"
#include "lib/host/process/cgroup_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

char *partition_directory(int root_fd)
{
	_cleanup_(freep) char *mount = NULL;
	struct error ignored;

	return cgroup_mount(root_fd, &mount, &ignored) < 0 ? NULL : text_format("%s/emp-isolated", mount);
}

int partition_read(int root_fd, const char *directory, char **ret)
{
	_cleanup_(freep) char *state_path = text_format("%s/cpuset.cpus.partition", directory), *state = NULL;
	_cleanup_(freep) char *cpus_path = text_format("%s/cpuset.cpus", directory), *cpus = NULL;
	struct stat st;
	int r;

	if (fstatat(root_fd, text_below(root_fd, directory), &st, 0) < 0)
		cpus = errno == ENOENT ? xstrdup("none") : NULL;
	else if (text_read_file(root_fd, state_path, &state) < 0 || strcmp(state, "isolated") != 0)
		cpus = xstrdup("member");
	else {
		r = text_read_file(root_fd, cpus_path, &cpus);
		if (r < 0)
			return r;
	}
	*ret = TAKE(cpus);
	return *ret ? 0 : -ENOMEM;
}

static int write_file(int dir_fd, const char *name, const char *value)
{
	_cleanup_(closep) int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

/* The kernel accepts "isolated" and may say in the same file that it is invalid. */
static int isolate(const char *directory, const char *cpus)
{
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *state = NULL;
	int r = fd < 0 ? -errno : write_file(fd, "cpuset.cpus", cpus);

	if (r == 0)
		r = write_file(fd, "cpuset.cpus.partition", "isolated");
	if (r == 0)
		r = text_read_file(fd, "cpuset.cpus.partition", &state);
	return r < 0 ? r : strcmp(state, "isolated") ? -EINVAL : 0;
}

/* The kernel gives the CPUs of a removed partition back later; those of one that is no longer isolated, at once. */
static int dissolve(const char *directory)
{
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *events = NULL;
	int r;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (text_read_file(fd, "cgroup.events", &events) == 0 && strstr(events, "populated 1"))
		return -EBUSY;
	r = write_file(fd, "cpuset.cpus.partition", "member");
	if (r < 0 && r != -ENOENT)
		return r;
	if (rmdir(directory) == 0)
		return 0;
	r = -errno;
	write_file(fd, "cpuset.cpus.partition", "isolated");
	return r;
}

int partition_write(const char *directory, const char *cpus)
{
	bool made;
	int r;

	if (!strcmp(cpus, "none"))
		return dissolve(directory);
	made = mkdir(directory, 0755) == 0;
	if (!made && errno != EEXIST)
		return -errno;
	r = isolate(directory, cpus);
	if (r < 0 && made)
		rmdir(directory);
	return r;
}

bool partition_has(int root_fd, int cpu)
{
	_cleanup_(freep) char *directory = partition_directory(root_fd), *cpus = NULL;

	return directory && partition_read(root_fd, directory, &cpus) == 0 && cpu_list_has(cpus, cpu);
}
