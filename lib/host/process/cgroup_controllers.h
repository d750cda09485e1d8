/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controllers of cgroup v2, such as "cpu" and "memory", for cgroups that this process makes.
 *
 * A cgroup passes a controller on to its children only if it has no processes of its own (the root cgroup aside). So, as
 * long as the object lives, this process is in a child of the cgroup that it was started in, and that one passes the
 * controllers on. */
#pragma once

#include "lib/host/process/cgroup.h"

struct cgroup_controllers;

enum { CONTROLLERS_MOST = 4 };

/* `names` ends with NULL, has CONTROLLERS_MOST at most, and must outlive the object. Make the cgroups that shall have the controllers before this.
 * -ENOTSUP, -EBUSY, -EACCES…, each with a sentence that says what is missing. */
int cgroup_controllers_new(struct cgroup_controllers **ret, const char *const *names, struct error *err);

/* The children of the cgroup shall have them too. */
int cgroup_controllers_pass_on(
	const struct cgroup_controllers *controllers, const struct cgroup *to, struct error *err);

/* Puts this process back, once the cgroups that have the controllers are removed. */
void cgroup_controllers_free(struct cgroup_controllers *controllers);
DEFINE_FREEP(cgroup_controllers)

/* Writes a limit: "memory.max". */
int cgroup_limit(const struct cgroup *cgroup, const char *file, int64_t value, struct error *err);

/* How many of its processes the kernel has killed because it had reached its memory.max; 0 without the controller. */
int64_t cgroup_oom_kills(const struct cgroup *cgroup);
