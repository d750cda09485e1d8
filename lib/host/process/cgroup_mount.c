/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cgroup v2 is: see cgroup_mount.h. */
#include "lib/host/process/cgroup_mount.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

int cgroup_parse_mount(char *mounts, char **ret, struct error *err)
{
	bool outside = false;
	char *line, *rest;

	for (line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char mount[512], root[512];

		if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*s %*s %*s %511s %511s", root, mount) != 2)
			continue;
		if (!strncmp(root, "/..", 3)) { /* of another cgroup namespace: our paths are not in it */
			outside = true;
			continue;
		}
		*ret = xstrdup(mount);
		return 0;
	}
	return error_say(err, -ENOTSUP,
		outside ? "cgroup v2 is mounted for another cgroup namespace only"
			: "no cgroup v2 is mounted");
}

int cgroup_parse_own(char *text, char **ret, struct error *err)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, "0::/", 4)) {
			*ret = xstrdup(line + 3);
			return 0;
		}
	return error_say(err, -ENOTSUP, "this process is in no cgroup v2");
}

static int find(int root_fd, const char *path, int (*parse)(char *text, char **ret, struct error *err),
	char **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(root_fd, path, &text);

	return r < 0 ? error_os(err, r, "cannot read %s", path) : parse(text, ret, err);
}

int cgroup_mount(int root_fd, char **ret, struct error *err)
{
	return find(root_fd, "/proc/self/mountinfo", cgroup_parse_mount, ret, err);
}

int cgroup_of(pid_t pid, char **ret, struct error *err)
{
	_cleanup_(freep) char *mount = NULL, *own = NULL;
	char file[64] = "/proc/self/cgroup";
	int r = cgroup_mount(AT_FDCWD, &mount, err);

	if (pid)
		snprintf(file, sizeof(file), "/proc/%d/cgroup", pid);
	if (r == 0)
		r = find(AT_FDCWD, file, cgroup_parse_own, &own, err);
	if (r < 0)
		return r;
	*ret = text_format("%s%s", mount, strcmp(own, "/") ? own : "");
	return 0;
}
