/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other processes that used the CPU: see others.h. */
#include "lib/protocol/others.h"

#include "lib/base/array.h"
#include "lib/base/saturate.h"
#include "lib/protocol/cutoffs.h"

#include <errno.h>
#include <string.h>

static const double LONG_SHARE = 0.01;

static int find_or_add(struct others *o, const struct profile *profile, const char *name, uint32_t *ret)
{
	struct other *other;

	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->items[i].name, name)) {
			*ret = (uint32_t)i + 1;
			return 0;
		}
	other = array_add(o->items, o->n);
	if (!other)
		return -ENOMEM;
	other->name = strdup(name);
	if (!other->name) {
		o->n--;
		return -ENOMEM;
	}
	other->cutoff = profile ? profile_cutoff(profile, name) : NULL;
	other->profiled = other->cutoff;
	*ret = (uint32_t)o->n;
	return 0;
}

static int make_room(struct others *o, size_t id)
{
	uint32_t *more;
	size_t n = o->n_daemons ?: 64;

	if (id < o->n_daemons)
		return 0;
	while (n <= id)
		n *= 2;
	more = reallocarray(o->of_daemon, n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + o->n_daemons, 0, (n - o->n_daemons) * sizeof(*more));
	o->of_daemon = more;
	o->n_daemons = n;
	return 0;
}

struct other *others_add(struct others *o, const struct name_pattern *patterns, const struct profile *profile,
	const struct source *daemon, const struct execution *e, int64_t et_ns)
{
	struct other *other;

	if (make_room(o, e->source) < 0)
		return NULL;
	if (!o->of_daemon[e->source] &&
		find_or_add(o, profile, name_group(patterns, daemon->name), &o->of_daemon[e->source]) < 0)
		return NULL;
	other = &o->items[o->of_daemon[e->source] - 1];
	other->total_ns = saturate_add(other->total_ns, e->pt_ns);
	other->in_sample_ns = saturate_add(other->in_sample_ns, execution_disturbing_ns(e));
	other->long_once |= (double)e->pt_ns >= LONG_SHARE * (double)et_ns;
	if (e->pt_ns <= other->max_ns)
		return other;
	other->max_ns = e->pt_ns;
	other->max_sample = e->sample;
	free(other->unit);
	other->unit = daemon->unit ? strdup(daemon->unit) : NULL;
	return other;
}

static int by_disturbance(const void *x, const void *y)
{
	const struct other *a = x, *b = y;

	if (a->disturbed_ns != b->disturbed_ns)
		return a->disturbed_ns < b->disturbed_ns ? 1 : -1;
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

void others_finish(struct others *o)
{
	if (o->n > 0)
		qsort(o->items, o->n, sizeof(*o->items), by_disturbance);
	for (size_t i = 0; i < o->n; i++)
		o->items[i].cutoff = NULL;
	free(TAKE(o->of_daemon));
	o->n_daemons = 0;
}

void others_clear(struct others *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->items[i].name);
		free(o->items[i].unit);
	}
	free(o->items);
	free(o->of_daemon);
	*o = (struct others){};
}
