/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up machine: a temporary directory with the files of /proc, /sys and /etc that a test
 * writes. */
#pragma once

#include "tests/unit/check.h"

#include <ftw.h>
#include <sys/stat.h>

static struct tree {
	char path[64];
	int fd;
} tree;

static inline int tree_make(void **state)
{
	strcpy(tree.path, "/tmp/emp-tree-XXXXXX");
	if (!mkdtemp(tree.path))
		return -1;
	tree.fd = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return tree.fd < 0 ? -1 : 0;
}

static inline int tree_drop(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

static inline int tree_remove(void **state)
{
	close(tree.fd);
	nftw(tree.path, tree_drop, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

#define TEST_IN_TREE(name) TEST_WITH(name, tree_make, tree_remove)

/* Makes the directories above `path` (relative) below the tree. */
static inline void tree_parents(const char *path)
{
	char part[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdirat(tree.fd, part, 0755) < 0 && errno != EEXIST)
			abort();
	}
}

static inline void tree_put(const char *path, const char *text)
{
	int fd;

	tree_parents(path);
	fd = openat(tree.fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static inline void tree_link(const char *path, const char *target)
{
	tree_parents(path);
	if (symlinkat(target, tree.fd, path) < 0)
		abort();
}
