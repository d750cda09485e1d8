/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup v2 of the program under test, a child of the caller's cgroup. It counts the CPU time of the whole
 * process tree, orphans included, and can kill all of it at once. It needs no controller. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;

struct cgroup_usage {
	int64_t usage_ns, user_ns,
		system_ns; /* of all processes that ever ran in it; microsecond resolution */
};

/* -ENOTSUP: no cgroup v2 is mounted; -ENOSYS: a container's filter refuses to start programs in one; -EACCES,
 * -EROFS…: it cannot be made here; each with a sentence. */
int cgroup_new(struct cgroup **ret, struct error *err);

/* The same for programs on that CPU (-1: any): if the isolated partition of emp-setup has it, below that. */
int cgroup_new_on(struct cgroup **ret, int cpu, struct error *err);

/* The same inside another, which must outlive it and has no processes of its own. */
int cgroup_new_in(struct cgroup **ret, const struct cgroup *parent, struct error *err);

/* Each cgroup below a directory whose owner was killed. Without `each` they are removed, and what still runs in them is killed. */
typedef void cgroup_each(const char *path, void *data);
void cgroup_each_abandoned(const char *directory, cgroup_each *each, void *data);

/* Kills the processes that are still in it, and removes it. */
void cgroup_free(struct cgroup *cgroup);
DEFINE_FREEP(cgroup)

int cgroup_fd(const struct cgroup *cgroup);
uint64_t cgroup_id(const struct cgroup *cgroup); /* as BPF sees it: the inode number */
const char *cgroup_path(const struct cgroup *cgroup);

int cgroup_usage(const struct cgroup *cgroup, struct cgroup_usage *ret, struct error *err);

/* The time in which some of its processes waited for "cpu", "io" or "memory" (PSI), in ns; -1: not known here. */
int64_t cgroup_pressure_ns(const struct cgroup *cgroup, const char *resource);

/* Whether a child of this process is in it, or was when it ended; or in this or another one that this process made. */
bool cgroup_has(const struct cgroup *cgroup, pid_t pid);
bool cgroup_is_ours(const struct cgroup *cgroup, pid_t pid);

/* 1: processes are in it, 0: none. */
int cgroup_populated(const struct cgroup *cgroup, struct error *err);

/* Whether all processes in it are frozen, which they can do themselves. */
bool cgroup_is_frozen(const struct cgroup *cgroup);

/* Stops all processes in it, or lets them continue; -ENOENT: before Linux 5.2. This returns before they have stopped. */
int cgroup_freeze(const struct cgroup *cgroup, bool freeze, struct error *err);

/* How many processes are in it now. */
int cgroup_count(const struct cgroup *cgroup, struct error *err);

/* Waits until it is empty. 1: empty, 0: still populated after timeout_ms. */
int cgroup_wait_empty(const struct cgroup *cgroup, int timeout_ms, struct error *err);

/* SIGKILL to all processes in it and below, fork bombs included. */
int cgroup_kill(struct cgroup *cgroup, struct error *err);

/* Replaces it with a new one if it was ever killed. Linux 6.18 kills whatever CLONE_INTO_CGROUP
 * starts in a cgroup that cgroup.kill was written to before. */
int cgroup_renew(struct cgroup *cgroup, struct error *err);
