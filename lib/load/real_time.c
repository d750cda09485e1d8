/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See real_time.h. */
#include "lib/load/real_time.h"

#include <errno.h>

static bool is_ordinary(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

int real_time_begin(struct real_time *ret)
{
	static const struct sched_param first = {.sched_priority = 1};

	*ret = (struct real_time){.policy = sched_getscheduler(0)};
	if (ret->policy < 0 || sched_getparam(0, &ret->param) < 0)
		return -errno;
	if (!is_ordinary(ret->policy))
		return 0;
	if (sched_setscheduler(0, SCHED_FIFO | (ret->policy & SCHED_RESET_ON_FORK), &first) < 0)
		return -errno;
	ret->raised = true;
	return 0;
}

void real_time_end(const struct real_time *r)
{
	if (r->raised)
		sched_setscheduler(0, r->policy, &r->param);
}
