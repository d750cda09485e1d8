/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's file system of traces: see tracefs.h. */
#include "lib/host/system/tracefs.h"

#include "lib/base/base.h"

#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* -ENOENT: nothing is mounted there, and it is a directory of the file system `around`. */
static int open_mounted(const char *path, __fsword_t around)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	return fs.f_type != around ? TAKE_FD(fd) : -ENOENT;
}

int tracefs_open(void)
{
	const bool has_place = access("/sys/kernel/tracing", F_OK) == 0; /* users learn no more */
	_cleanup_(closep) int context = -1, root = -1;
	int fd = open_mounted("/sys/kernel/tracing", SYSFS_MAGIC);

	if (fd == -ENOENT)
		fd = open_mounted("/sys/kernel/debug/tracing", DEBUGFS_MAGIC);
	if (fd != -ENOENT)
		return fd;
	if (!has_place)
		return -ENOENT;
	/* glibc has functions for these calls since 2.36 only */
	context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno == ENODEV ? -ENOENT : -errno;
	root = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	fd = root < 0 ? root : openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Whether a file of an instance can be read and holds something else. */
static bool differs(int instances_fd, const char *instance, const char *file, const char *idle)
{
	_cleanup_(freep) char *text = path_text(instances_fd, "%s/%s", instance, file);

	return text && strcmp(text, idle) != 0;
}

char *tracefs_recording(int tracing_fd)
{
	int fd = openat(tracing_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	char *names = NULL;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (*name != '.' && differs(fd, name, "tracing_on", "0") &&
			(differs(fd, name, "current_tracer", "nop") ||
				differs(fd, name, "events/enable", "0")))
			text_append(&names, ", ", "%s", name);
	}
	return names;
}
