/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps units from being started: see change.h.
 *
 * A mask is a link to /dev/null with the unit's name, which systemd makes. For a unit whose own file is in /etc,
 * a mask in /run has no effect, and the name in /etc is taken: a drop-in gives it a condition that never holds. */
#include "setup/apply/change.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char DROP_IN[] = "# Made by \"emp-setup apply\", removed by \"emp-setup restore\".\n"
			      "[Unit]\nConditionPathExists=/dev/null/no-start-while-timing\n";

static const char *root_of(const struct entry *e)
{
	return e->persistent ? "/etc/systemd/system" : "/run/systemd/system";
}

static bool is_masked(const struct entry *e)
{
	_cleanup_(freep) char *path = text_format("%s/%s", root_of(e), e->name);
	char target[16] = "";

	return path && readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "/dev/null");
}

static int write_drop_in(const char *directory, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/90-emp-setup.conf", directory);
	_cleanup_(closep) int fd = -1;

	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make %s", directory);
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644) : -1;
	if (fd < 0 || write(fd, DROP_IN, strlen(DROP_IN)) != (ssize_t)strlen(DROP_IN))
		return error_os(err, fd < 0 ? -errno : -EIO, "cannot write %s", path ?: directory);
	return fsync(fd) < 0 ? error_os(err, -errno, "cannot write %s", path) : 0;
}

static int remove_drop_in(const char *directory, struct error *err)
{
	_cleanup_(freep) char *path = text_format("%s/90-emp-setup.conf", directory);

	if (!path)
		return error_oom(err);
	if (unlink(path) < 0 && errno != ENOENT)
		return error_os(err, -errno, "cannot remove %s", path);
	if (rmdir(directory) < 0 && errno != ENOENT && errno != ENOTEMPTY)
		return error_os(err, -errno, "cannot remove %s", directory);
	return 0;
}

int change_block(struct units *units, const struct entry *e, bool blocked, struct error *err)
{
	_cleanup_(freep) char *directory = text_format("%s/%s.d", root_of(e), e->name);

	if (!directory)
		return error_oom(err);
	if (e->block == BLOCK_DROP_IN)
		return blocked ? write_drop_in(directory, err) : remove_drop_in(directory, err);
	if (e->block == BLOCK_NONE || is_masked(e) == blocked)
		return 0;
	return blocked ? units_mask(units, e->name, e->persistent, err)
		       : units_unmask(units, e->name, e->persistent, err);
}
