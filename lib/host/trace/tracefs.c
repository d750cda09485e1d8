/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See tracefs.h. */
#include "lib/host/trace/tracefs.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
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
	context = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno == ENODEV ? -ENOENT : -errno;
	root = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	fd = root < 0 ? root : openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_recording(int instances_fd, const char *name)
{
	static const char *const files[] = {"tracing_on", "current_tracer", "events/enable"};
	static const char *const idle[] = {"0", "nop", "0"};
	bool busy[ELEMENTS(files)] = {};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		_cleanup_(freep) char *path = text_format("%s/%s", name, files[i]), *text = NULL;

		busy[i] = path && text_read_file(instances_fd, path, &text) == 0 &&
			  strcmp(text, idle[i]) != 0;
	}
	return busy[0] && (busy[1] || busy[2]);
}

char *tracefs_recording(int tracing_fd)
{
	int fd = openat(tracing_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	char *names = NULL;

	while (dir && (entry = readdir(dir))) {
		_cleanup_(freep) char *before = names;

		if (*entry->d_name == '.' || !is_recording(fd, entry->d_name)) {
			before = NULL;
			continue;
		}
		names = text_format("%s%s%s", before ?: "", before ? ", " : "", entry->d_name);
	}
	return names;
}
