/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a program under test has frozen its own cgroup, so that it would never end. Looks after a second, then less and
 * less often, so that a long program is hardly disturbed. Only for program.c. */
#pragma once

#include "lib/host/process/cgroup.h"

struct freeze {
	const struct cgroup *cgroup;
	int64_t begin_ns, look_ns; /* CLOCK_MONOTONIC; look_ns: when to call freeze_stays next, 0: never */
	bool frozen;               /* at the last look */
};

struct freeze freeze_begin(const struct cgroup *cgroup);

/* It was frozen at two looks, a second apart. */
bool freeze_stays(struct freeze *freeze);
