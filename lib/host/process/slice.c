/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See slice.h. */
#include "lib/host/process/slice.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct sched_attr in its first version, which some C libraries declare and others do not. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns; /* runtime_ns: for the fair class, its slice */
};

static int get(struct attributes *ret)
{
	*ret = (struct attributes){.size = sizeof(*ret)};
	return syscall(SYS_sched_getattr, 0, ret, sizeof(*ret), 0) < 0 ? -errno : 0;
}

int slice_set(int64_t slice_ns)
{
	struct attributes a;
	int r = get(&a);

	if (r < 0)
		return r;
	if (a.policy != SCHED_OTHER && a.policy != SCHED_BATCH)
		return -ENOTSUP;
	a.size = sizeof(a);
	a.runtime_ns = (uint64_t)slice_ns;
	if (syscall(SYS_sched_setattr, 0, &a, 0) < 0)
		return -errno;
	r = get(&a);
	return r < 0 ? r : slice_ns == 0 || a.runtime_ns == (uint64_t)slice_ns ? 0 : -ENOTSUP;
}

bool slice_can_be_set(void)
{
	bool can = slice_set(10 * NS_PER_MS) == 0;

	return slice_set(0) == 0 && can;
}

int64_t slice_tick_ns(void)
{
	struct timespec tick;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 ? timespec_ns(tick) : 0;
}
