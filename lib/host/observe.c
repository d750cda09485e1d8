/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample: see observe.h. */
#include "lib/host/observe.h"

#include "lib/base/clock.h"

#include <errno.h>

/* The program's own processes are its PT, not somebody else's. */
static void drop_program(struct usages *usages)
{
	size_t kept = 0;

	for (size_t i = 0; i < usages->n; i++)
		if (!usages->items[i].program)
			usages->items[kept++] = usages->items[i];
	usages->n = kept;
}

int observe_sample(const struct spawn *spawn, struct observation *ret, struct error *err)
{
	int64_t begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct observation o = {};
	int r;

	if (spawn->accounting) {
		r = accounting_before(spawn->accounting, spawn->cgroup ? cgroup_id(spawn->cgroup) : 0, err);
		if (r < 0)
			return r;
	}
	r = spawn_run(spawn, &o.spawned, err);
	if (r < 0)
		return r;
	if (spawn->accounting) {
		r = accounting_after(spawn->accounting, &o.usages, err);
		if (r < 0)
			return r;
		drop_program(&o.usages);
	}
	o.observer_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	if (o.spawned.end == SPAWN_INTERRUPTED)
		return -EINTR;
	*ret = o;
	return 0;
}
