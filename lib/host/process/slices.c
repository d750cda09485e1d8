/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time slices of the scheduler: see slices.h. */
#include "lib/host/process/slices.h"

#include <sched.h>
#include <sys/syscall.h>

/* struct sched_attr in its first version, which some C libraries declare and others do not. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns; /* runtime_ns: for the fair class, its slice */
};

int slice_set(int64_t slice_ns)
{
	struct sched_attributes a = {.size = sizeof(a)};

	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) < 0)
		return -errno;
	if (a.policy != SCHED_OTHER && a.policy != SCHED_BATCH)
		return -ENOTSUP;
	a.size = sizeof(a);
	a.runtime_ns = (uint64_t)slice_ns;
	if (syscall(SYS_sched_setattr, 0, &a, 0) < 0 ||
		syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) < 0)
		return -errno;
	return slice_ns == 0 || a.runtime_ns == (uint64_t)slice_ns ? 0 : -ENOTSUP;
}
