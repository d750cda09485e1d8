/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process time of a program under test: see program_time.h. */
#include "lib/host/process/program_time.h"

#include "lib/base/clock.h"

/* wait4 and the cgroup tell of the same nanoseconds, rounded down to microseconds; what differs by more ran elsewhere. */
static const int64_t OUTSIDE_NS = 100 * NS_PER_US;
/* Less than a thread or a process needs to start and to end. */
static const int64_t ANOTHER_NS = 10 * NS_PER_US;

void program_time_add(void *data, const struct rusage *ru)
{
	struct spawned *spawned = data;
	int64_t user = ru->ru_utime.tv_sec * NS_PER_S + ru->ru_utime.tv_usec * NS_PER_US;
	int64_t system = ru->ru_stime.tv_sec * NS_PER_S + ru->ru_stime.tv_usec * NS_PER_US;

	spawned->user_ns += user;
	spawned->system_ns += system;
	spawned->pt_ns += user + system;
	if (ru->ru_maxrss * 1024 > spawned->max_rss_bytes)
		spawned->max_rss_bytes = ru->ru_maxrss * 1024;
	spawned->voluntary_switches += ru->ru_nvcsw;
	spawned->involuntary_switches += ru->ru_nivcsw;
}

int64_t program_time_wait(const struct spawned *spawned, const struct schedstat *first)
{
	if (spawned->wait_before_ns < 0 || spawned->escaped || spawned->pt_ns - first->run_ns > ANOTHER_NS)
		return -1;
	return first->wait_ns > spawned->wait_before_ns ? first->wait_ns - spawned->wait_before_ns : 0;
}

void program_time_conclude(
	struct spawned *spawned, const struct cgroup_usage *before, const struct cgroup_usage *after)
{
	int64_t usage_ns = after->usage_ns - before->usage_ns;

	spawned->escaped = spawned->pt_ns > usage_ns + OUTSIDE_NS;
	if (spawned->escaped)
		return;
	spawned->pt_ns = usage_ns;
	spawned->user_ns = after->user_ns - before->user_ns;
	spawned->system_ns = after->system_ns - before->system_ns;
}

static void take_from(int64_t *from_ns, int64_t *ns)
{
	int64_t taken_ns = *ns < *from_ns ? *ns : *from_ns;

	*from_ns -= taken_ns;
	*ns -= taken_ns;
}

/* The kernel's clocks of a process and of its cgroup count the same nanoseconds, so the difference is exact. The work was system
 * calls; the parts of user and system are estimated anyway. */
void program_time_begin(struct spawned *spawned, int64_t used_ns)
{
	int64_t rest_ns = spawned->before_ns = used_ns < spawned->pt_ns ? used_ns : spawned->pt_ns;

	spawned->pt_ns -= rest_ns;
	take_from(&spawned->system_ns, &rest_ns);
	take_from(&spawned->user_ns, &rest_ns);
}
