/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU limits of control groups: see cgroup_limits.h. */
#include "lib/host/process/cgroup_limits.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { PATH_LENGTH = 512, USUAL_WEIGHT = 100, USUAL_SHARES = 1024 };

/* Where a hierarchy is mounted, and which of its groups is visible there. */
struct mount {
	char root[PATH_LENGTH], point[PATH_LENGTH];
	bool v2;
};

/* Whether a comma-separated list has "cpu". */
static bool has_cpu(const char *list)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (!strncmp(p, "cpu", 3) && strchr(", \n", p[3]))
			return true;
	return false;
}

/* One line of mountinfo: "36 32 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw". Version 1 lists the controllers of
 * a hierarchy last. */
static bool parse_mount(const char *line, struct mount *ret)
{
	const char *type = strstr(line, " - cgroup"), *options;

	if (!type || sscanf(line, "%*s %*s %*s %511s %511s", ret->root, ret->point) != 2)
		return false;
	ret->v2 = !strncmp(type, " - cgroup2 ", 11);
	options = strrchr(line, ' ');
	return ret->v2 || has_cpu(options + 1);
}

/* The group of this process in the hierarchy; the caller frees it. "0::/a" in version 2, "4:cpu,cpuacct:/a" in 1. */
static char *own_group(const char *groups, bool v2)
{
	for (const char *line = groups; *line; line = strchrnul(line, '\n'), line += *line == '\n') {
		const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		_cleanup_(freep) char *controllers = path ? xstrndup(list + 1, (size_t)(path - list - 1))
							  : NULL;

		if (!controllers || !(v2 ? !strncmp(line, "0::", 3) : has_cpu(controllers)))
			continue;
		return xstrndup(path + 1, strcspn(path + 1, "\n"));
	}
	return NULL;
}

/* The directory of a group: its path below the one that is mounted. */
static char *directory_of(const struct mount *m, const char *group)
{
	size_t len = strlen(m->root);

	if (len > 1 && !strncmp(group, m->root, len) && strchr("/", group[len]))
		group += len;
	return text_format("%s%s", m->point, strcmp(group, "/") ? group : "");
}

static int64_t read_int(int root_fd, const char *directory, const char *name)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, name);
	int64_t value;

	return path && text_read_int(root_fd, path, &value) == 0 ? value : -1;
}

/* In CPUs; 0: no limit. */
static double read_quota(int root_fd, const char *directory, bool v2)
{
	_cleanup_(freep) char *path = text_format("%s/cpu.max", directory), *text = NULL;
	int64_t quota = -1, period = 0;

	if (!v2) {
		quota = read_int(root_fd, directory, "cpu.cfs_quota_us");
		period = read_int(root_fd, directory, "cpu.cfs_period_us");
	} else if (!path || text_read_file(root_fd, path, &text) < 0 ||
		   sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) /* "max 100000" */
		return 0;
	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static void read_group(struct cgroup_limits *l, int root_fd, const char *directory, bool v2)
{
	double quota = read_quota(root_fd, directory, v2);
	int64_t weight = read_int(root_fd, directory, v2 ? "cpu.weight" : "cpu.shares");

	if (quota > 0 && (l->quota <= 0 || quota < l->quota)) {
		free(l->quota_of);
		l->quota_of = xstrdup(directory);
		l->quota = quota;
	}
	if (weight < 0)
		return;
	weight = weight * 100 / (v2 ? USUAL_WEIGHT : USUAL_SHARES);
	if (weight < 100 && (l->weight < 0 || weight < l->weight)) {
		free(l->weight_of);
		l->weight_of = xstrdup(directory);
	}
	l->weight = l->weight < 0 || weight < l->weight ? weight : l->weight;
}

/* A group and all above it that are visible. */
static void read_groups(struct cgroup_limits *l, int root_fd, const struct mount *m, char *directory)
{
	size_t top = strlen(m->point);

	for (;;) {
		char *slash = strrchr(directory, '/');

		read_group(l, root_fd, directory, m->v2);
		if (strlen(directory) <= top || !slash)
			return;
		*slash = '\0';
	}
}

int cgroup_limits_read(struct cgroup_limits *ret, int root_fd)
{
	_cleanup_(freep) char *mounts = NULL, *groups = NULL;
	struct cgroup_limits l = {.weight = -1};
	bool any = false;
	int r = text_read_file(root_fd, "/proc/self/mountinfo", &mounts);

	if (r == 0)
		r = text_read_file(root_fd, "/proc/self/cgroup", &groups);
	if (r < 0)
		return r;
	for (char *rest, *line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		_cleanup_(freep) char *group = NULL, *directory = NULL;
		struct mount m;

		if (parse_mount(line, &m))
			group = own_group(groups, m.v2);
		directory = group ? directory_of(&m, group) : NULL;
		if (!directory)
			continue;
		read_groups(&l, root_fd, &m, directory);
		any = true;
	}
	if (!any)
		return -ENOENT;
	*ret = l;
	return 0;
}

void cgroup_limits_clear(struct cgroup_limits *l)
{
	free(l->quota_of);
	free(l->weight_of);
	*l = (struct cgroup_limits){};
}
