/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up /sys/devices/system/cpu that answers writes as the kernel does: one write is one value,
 * unknown governors are refused, limits are clamped, some settings change others. Plain files are
 * not enough for that: sysfs is written without truncation. Mounted with FUSE over a directory of
 * plain files that tests make (fake_cpu.sh). Usage: fake_cpu FILES MOUNTPOINT
 *
 * FILES/.faults has lines "PATH ERRNO [COUNT]": writes to PATH fail so, COUNT times. FILES/.writes
 * gets a line "PATH VALUE RESULT" for each write. */
#define FUSE_USE_VERSION 31

#include "lib/base/cleanup.h"
#include "tests/machine/fake_cpu_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

int files;

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int fake_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	if (fstatat(files, below(path), st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st->st_mode))
		st->st_size = 4096; /* as sysfs has it */
	return 0;
}

static int fake_readlink(const char *path, char *buffer, size_t size)
{
	ssize_t n = readlinkat(files, below(path), buffer, size - 1);

	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return 0;
}

static int fake_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
	struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	int fd = openat(files, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' || entry->d_name[1] == '\0' || entry->d_name[1] == '.')
			fill(buffer, entry->d_name, NULL, 0, 0);
	return 0;
}

static int fake_open(const char *path, struct fuse_file_info *info)
{
	struct stat st;

	info->direct_io = 1;
	return fstatat(files, below(path), &st, 0) < 0 ? -errno : 0;
}

static int fake_read(
	const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *info)
{
	_cleanup_(closep) int fd = openat(files, below(path), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, buffer, size, offset);

	if (is_offline(below(path)))
		return -EBUSY;
	return n < 0 ? -errno : (int)n;
}

static int fake_write(const char *path, const char *buffer, size_t size, off_t offset,
	struct fuse_file_info *info)
{
	_cleanup_(closep) int log = openat(
		files, ".writes", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	char value[VALUE_SIZE];
	int r;

	snprintf(value, sizeof(value), "%.*s", (int)size, buffer);
	value[strcspn(value, "\n")] = '\0';
	if (log >= 0)
		dprintf(log, "%s %s ", below(path), value);
	r = store(below(path), value);
	if (log >= 0)
		dprintf(log, "%d\n", r);
	return r < 0 ? r : (int)size;
}

static int fake_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	return 0; /* sysfs does not mind */
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = fake_getattr,
		.readlink = fake_readlink,
		.readdir = fake_readdir,
		.open = fake_open,
		.read = fake_read,
		.write = fake_write,
		.truncate = fake_truncate,
	};
	char *arguments[] = {argv[0], argc == 3 ? argv[2] : NULL, (char *)"-f", (char *)"-s",
		(char *)"-oallow_other,default_permissions,fsname=fake_cpu", NULL};

	if (argc != 3) {
		fprintf(stderr, "usage: fake_cpu FILES MOUNTPOINT\n");
		return 2;
	}
	files = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files < 0) {
		perror(argv[1]);
		return 1;
	}
	return fuse_main(5, arguments, &operations, NULL);
}
