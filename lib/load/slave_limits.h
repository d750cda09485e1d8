/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the slaves of a script may have: its lines "weight" and "memory", which are limits of their cgroups, and "nice" where
 * another script has a weight. */
#pragma once

#include "lib/load/load_file.h"

#include "lib/host/process/cgroup.h"

/* What the limits of the load need; *ret is NULL where it has none. Call this after the cgroup of all slaves is made.
 * Failures as of cgroup_controllers_new(). */
int slave_limits_begin(struct cgroup_controllers **ret, const struct load *load, struct error *err);

int slave_limits_set(const struct cgroup *slave, const struct script *script, struct error *err);

/* Whether the kernel has killed processes of the slave that needed more memory than it may have. */
bool slave_limits_exceeded(const struct cgroup *slave, const struct script *script);

enum { LIMIT_SIZE = 24 };

/* "64M", as in the load's file. Returns `buffer`. */
char *slave_limits_memory(char buffer[LIMIT_SIZE], const struct script *script);
