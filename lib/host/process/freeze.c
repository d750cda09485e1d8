/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that freeze themselves: see freeze.h. */
#include "lib/host/process/freeze.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"

static const int64_t FIRST_NS = NS_PER_S, MOST_NS = 10 * NS_PER_S;

struct freeze freeze_begin(const struct cgroup *cgroup)
{
	int64_t now_ns = cgroup ? clock_ns(CLOCK_MONOTONIC) : 0;

	return (struct freeze){cgroup, now_ns, cgroup ? now_ns + FIRST_NS : 0, false};
}

bool freeze_stays(struct freeze *f)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC), pause_ns = FIRST_NS;
	bool was = f->frozen;

	if (!f->look_ns || now_ns < f->look_ns)
		return false;
	f->frozen = cgroup_is_frozen(f->cgroup);
	if (!f->frozen)
		pause_ns = now_ns - f->begin_ns < MOST_NS ? now_ns - f->begin_ns : MOST_NS;
	f->look_ns = now_ns + pause_ns;
	return was && f->frozen;
}
