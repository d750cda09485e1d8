/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup v2 of the program under test, a child of the caller's cgroup. It counts the CPU time
 * of the whole process tree, orphans included, and can kill all of it at once. It needs no
 * controller. */
#pragma once

#include "lib/base/base.h"

#include <sys/types.h>

struct cgroup {
	char *path;
	int fd;      /* of the directory, locked while it has an owner */
	uint64_t id; /* as BPF sees it: the inode number */
	/* for cgroup.c; they stay open, because they are read twice a sample */
	int events_fd, stat_fd;
	bool killed;
};

struct cgroup_usage {
	int64_t usage_ns, user_ns,
		system_ns; /* of all processes that ever ran in it; microsecond resolution */
};

/* A new one below a directory; NULL: the caller's own cgroup. -ENOTSUP: no cgroup v2 is mounted;
 * -ENOSYS: a container's filter refuses to start programs in one; -EACCES, -EROFS…: it cannot be
 * made here; each with a sentence. */
int cgroup_new(struct cgroup **ret, const char *directory, struct error *err);

/* The same inside another, by its path, which must outlive it and has no processes of its own. */
int cgroup_new_in(struct cgroup **ret, const char *parent, struct error *err);

/* The paths of the cgroups in a directory, or also of all below it, whose owner was killed;
 * paths_clear() frees them. `ret` NULL: they are removed, and what still runs in them is killed. */
void cgroups_abandoned(struct paths *ret, const char *directory, bool below);

/* Kills the processes that are still in it, and removes it. */
void cgroup_free(struct cgroup *cgroup);
DEFINE_FREEP(cgroup)

int cgroup_usage(const struct cgroup *cgroup, struct cgroup_usage *ret, struct error *err);

/* Whether a child of this process is in it, or was when it ended; any_of_ours: in it or in another
 * one that this process made. */
bool cgroup_has(const struct cgroup *cgroup, pid_t pid, bool any_of_ours);

/* 1 or 0: whether it is "populated", that is, processes are in it; or "frozen", which they can do
 * themselves. */
int cgroup_is(const struct cgroup *cgroup, const char *state, struct error *err);

/* Sends the processes that are in it or below it now a signal, unless that is 0; returns how many
 * they are. */
int cgroup_signal(const struct cgroup *cgroup, int signal, struct error *err);

/* Waits until it is empty. 1: empty, 0: still populated after timeout_ms. */
int cgroup_wait_empty(const struct cgroup *cgroup, int timeout_ms, struct error *err);

/* SIGKILL to all processes in it and below, fork bombs included. */
int cgroup_kill(struct cgroup *cgroup, struct error *err);

/* Replaces it with a new one if it was ever killed. Linux 6.18 kills whatever CLONE_INTO_CGROUP
 * starts in a cgroup that cgroup.kill was written to before. */
int cgroup_renew(struct cgroup *cgroup, struct error *err);

/* Sets a limit ("memory.max"); or "cgroup.freeze", which stops all processes in it (1) or lets them
 * continue (0), and returns before they have stopped. */
int cgroup_set(const struct cgroup *cgroup, const char *file, int64_t value, struct error *err);

/* The directory that cgroup v2 is mounted on. -ENOTSUP: it is not mounted. */
int cgroup_mount(int root_fd, char **ret, struct error *err);

/* The directory of the cgroup that a process is in; pid 0: this process. -ENOTSUP: there is
 * none. */
int cgroup_of(pid_t pid, char **ret, struct error *err);

/* The control groups that this process is in, and all above them: of cgroup v2, and of the
 * hierarchy of a controller in version 1. What is above a container's own root is not visible. */

struct cgroup_above {
	char *directory; /* where its files are, below root_fd */
	/* "/docker/4f2a1b"; "/": the first that is visible, which is a container's if it has
	 * limits */
	char *name;
	bool v2;
};

struct cgroups_above {
	struct cgroup_above *items; /* of each hierarchy, from its own group upwards */
	size_t n;
};

/* -ENOENT: there are none; -errno without a sentence. */
int cgroups_above_find(struct cgroups_above *ret, int root_fd, const char *controller);
void cgroups_above_clear(struct cgroups_above *above);

/* How much CPU time the control groups that this process is in let it have: by the cpu controller
 * of cgroup v2 or v1, in its own group and those above. */

struct cgroup_limits {
	double quota;   /* the smallest, in CPUs: 0.2 stands for 20 % of one; 0: no limit */
	char *quota_of; /* the directory of the group that has it; NULL: none */
	int64_t weight; /* the smallest, in percent of the usual; -1: not known */
	/* the directory of the group that has it; NULL: none has less than usual */
	char *weight_of;
};

/* -ENOENT: no cpu controller is mounted; -errno without a sentence. Nothing is written to `ret`
 * then. */
int cgroup_limits_read(struct cgroup_limits *ret, int root_fd);
void cgroup_limits_clear(struct cgroup_limits *limits);
