/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Masks and drop-ins: see block.h. */
#include "setup/apply/block.h"

#include "setup/apply/crash_point.h"
#include "setup/audit/checks.h"

bool path_is_mask(const char *path)
{
	char target[16] = "";

	return readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "/dev/null");
}

/* The mask or the drop-in of a unit; the caller frees it. */
static char *block_path(const struct entry *e)
{
	return text_format("%s/%s%s", e->persistent ? "/etc/systemd/system" : "/run/systemd/system",
		e->name, e->block == BLOCK_DROP_IN ? ".d/" DROP_IN_NAME : "");
}

bool entry_is_blocked(const struct entry *e)
{
	_cleanup_(freep) char *path = block_path(e);

	if (e->block == BLOCK_DROP_IN)
		return access(path, F_OK) == 0;
	return e->block == BLOCK_MASK && path_is_mask(path);
}

static int set_drop_in(const char *path, bool there, struct error *err)
{
	static const char text[] =
		"# Made by \"emp-setup apply\", removed by \"emp-setup restore\".\n"
		"[Unit]\nConditionPathExists=/dev/null/no-start-while-timing\n";
	_cleanup_(freep) char *directory = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	_cleanup_(closep) int fd = -1;

	if (!there) {
		if (unlink(path) < 0 && errno != ENOENT)
			return error_os(err, -errno, "cannot remove %s", path);
		if (rmdir(directory) < 0 && errno != ENOENT && errno != ENOTEMPTY)
			return error_os(err, -errno, "cannot remove %s", directory);
		return 0;
	}
	if (mkdir(directory, 0755) < 0 && errno != EEXIST)
		return error_os(err, -errno, "cannot make %s", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return error_os(err, fd < 0 ? -errno : -EIO, "cannot write %s", path);
	return fsync(fd) < 0 ? error_os(err, -errno, "cannot write %s", path) : 0;
}

void entries_block(struct units *units, struct entry *const *entries, size_t n, bool blocked,
	struct report *report)
{
	const enum outcome failed = blocked ? OUTCOME_REFUSED : OUTCOME_FAILED;
	struct error why = {};

	for (size_t i = 0; i < n; i++) {
		const struct entry *e = entries[i];
		_cleanup_(freep) char *path = block_path(e);
		int r = 0;

		if (e->block == BLOCK_DROP_IN)
			r = set_drop_in(path, blocked, &why);
		else if (path_is_mask(path) != blocked)
			r = units_mask(units, e->name, blocked, e->persistent, &why);
		if (r < 0)
			report_entry(report, e, failed, NULL, NULL, why.text);
		crash_point();
	}
	if (n == 0)
		return;
	if (units_reload(units, &why) < 0)
		report_add(report, CHECK_ID_SERVICES, "-", failed, NULL, NULL, why.text);
	crash_point();
}
