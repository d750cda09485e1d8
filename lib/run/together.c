/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of a duet: see together.h. */
#include "lib/run/together.h"

#include "lib/base/xalloc.h"
#include "lib/host/process/signals.h"
#include "lib/run/sample.h"

#include <errno.h>

bool together_alone_is_due(const struct sampling_plan *plan, const struct sampling *s)
{
	return s->n_alone < plan->alone &&
	       (uint64_t)s->run->n_samples * plan->alone >= (uint64_t)s->n_alone * s->samples;
}

/* The first failure; those after it have no sentence. */
static int for_each(
	int (*hook)(struct sampling *, struct error *), struct sampling *items, size_t n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; hook && r == 0 && i < n; i++)
		r = hook(&items[i], err);
	return r;
}

/* A program that was killed because another one did not end has not failed itself. */
static int check(const struct sampling *items, const struct observation *o, size_t n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		if (o[i].part.repetitions > 0)
			r = sample_check(&items[i], &o[i].spawned, err);
	return r;
}

/* 1: this process was stopped meanwhile. */
static int observe(const struct sampling_plan *plan, struct sampling *items, size_t n,
	struct observation *ret, struct error *err)
{
	_cleanup_(freep) const struct spawn **spawns = xcalloc(n, sizeof(struct spawn *));
	struct duet_plan duet = *plan->duet;
	int r;

	for (size_t i = 0; i < n; i++)
		spawns[i] = items[i].spawn;
	if (interrupt_pending())
		return -EINTR;
	interrupt_was_stopped(); /* forget earlier stops */
	duet.first = items[0].run->n_samples % n;
	r = observe_duet(&duet, plan->all, spawns, n, plan->counters, ret, err);
	if (r == 0)
		r = check(items, ret, n, err);
	if (r < 0 || !interrupt_was_stopped())
		return r;
	for (size_t i = 0; i < n; i++)
		items[i].again++;
	return 1;
}

static int take_once(const struct sampling_plan *plan, struct sampling *items, size_t n, struct error *err)
{
	_cleanup_(freep) struct observation *seen = xcalloc(n, sizeof(*seen));
	int r = seen ? observe(plan, items, n, seen, err) : error_oom(err);

	for (size_t i = 0; r == 0 && i < n; i++)
		r = sample_store(plan, &items[i], &seen[i], err);
	return r;
}

int together_take(const struct sampling_plan *plan, struct sampling *items, size_t n, struct error *err)
{
	int tries = 0, r;
	bool stopped;

	do {
		r = for_each(plan->hooks.prepare, items, n, err);
		if (r == 0)
			r = take_once(plan, items, n, err);
		stopped = r > 0;
		if (r >= 0)
			r = for_each(plan->hooks.conclude, items, n, err);
		if (r == 0 && stopped)
			r = sample_again(&items[0], ++tries, err);
	} while (r == 0 && stopped);
	return r;
}
