/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the limits of the load's workers need: its lines "weight" and "memory", which are limits of
 * their cgroups, and "nice" where another script has a weight. */
#pragma once

#include "lib/host/process/cgroup.h"
#include "lib/load/load_file.h"

/* *ret is NULL where the load has none. Call this after the cgroup of all workers is made, and pass
 * them on to it. -ENOTSUP, -EBUSY, -EACCES…, each with a sentence that says what is missing. The
 * end puts this process back, once the cgroups of the workers are removed. */
struct load_limits;
int load_limits_begin(struct load_limits **ret, const struct load *load, struct error *err);
int load_limits_pass_on(
	const struct load_limits *limits, const struct cgroup *to, struct error *err);
void load_limits_end(struct load_limits *limits);
