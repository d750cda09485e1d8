/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other processes that used the CPU: see others.h. */
#include "lib/protocol/others.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/protocol/cutoffs.h"
#include "lib/protocol/name_families.h"

#include <errno.h>
#include <string.h>

static const double LONG_SHARE = 0.01;

static int find_or_add(struct others *o, const struct name_pattern *patterns, const struct profile *profile,
	const struct source *source, uint32_t *ret)
{
	const char *name = name_group(patterns, source->name);
	struct other *other;

	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->items[i].name, name)) {
			*ret = (uint32_t)i + 1;
			return 0;
		}
	other = array_add(o->items, o->n);
	other->name = xstrdup(name);
	if (!other->name) {
		o->n--;
		return -ENOMEM;
	}
	other->cutoff = profile ? profile_cutoff_of(profile, patterns, source) : NULL;
	other->profiled = other->cutoff;
	other->alone = source->kind == SOURCE_KERNEL || strcmp(name, source->name) != 0;
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
	more = xreallocarray(o->of_daemon, n, sizeof(*more));
	memset(more + o->n_daemons, 0, (n - o->n_daemons) * sizeof(*more));
	o->of_daemon = more;
	o->n_daemons = n;
	return 0;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = text_copy(value);
}

struct other *others_add(struct others *o, const struct name_pattern *patterns, const struct profile *profile,
	const struct source *daemon, const struct execution *e, int64_t et_ns)
{
	struct other *other;

	if (make_room(o, e->source) < 0)
		return NULL;
	if (!o->of_daemon[e->source] &&
		find_or_add(o, patterns, profile, daemon, &o->of_daemon[e->source]) < 0)
		return NULL;
	other = &o->items[o->of_daemon[e->source] - 1];
	other->executions++;
	other->returned |= other->pid != 0 && e->pid != other->pid;
	other->pid = e->pid;
	other->total_ns = saturate_add(other->total_ns, e->pt_ns);
	other->in_sample_ns = saturate_add(other->in_sample_ns, execution_disturbing_ns(e));
	other->long_once |= (double)e->pt_ns >= LONG_SHARE * (double)et_ns;
	if (e->pt_ns <= other->max_ns)
		return other;
	other->max_ns = e->pt_ns;
	other->max_sample = e->sample;
	set_text(&other->unit, daemon->unit);
	set_text(&other->exe, daemon->exe);
	return other;
}

static int by_disturbance(const void *x, const void *y)
{
	const struct other *a = x, *b = y;

	if (a->disturbed_ns != b->disturbed_ns)
		return a->disturbed_ns < b->disturbed_ns ? 1 : -1;
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

static void clear(struct other *other)
{
	free(other->name);
	free(other->unit);
	free(other->exe);
	*other = (struct other){};
}

/* `from` is empty then. */
static void join(struct other *to, struct other *from)
{
	to->total_ns = saturate_add(to->total_ns, from->total_ns);
	to->disturbed_ns = saturate_add(to->disturbed_ns, from->disturbed_ns);
	to->long_once |= from->long_once;
	to->profiled |= from->profiled;
	if (from->max_ns > to->max_ns) {
		char *unit = to->unit;

		to->max_ns = from->max_ns;
		to->max_sample = from->max_sample;
		to->unit = from->unit;
		from->unit = unit;
	}
	clear(from);
}

/* Those of a family of the profile count under its name. */
static void name_profiled(struct other *other, struct family_member *member)
{
	if (!other->cutoff || other->cutoff->names == 0)
		return;
	member->alone = true;
	other->names = 1;
	set_text(&other->name, other->cutoff->daemon);
}

/* Each is joined to the first of the same family: of those that were found, or of the same name. */
static int join_families(
	struct others *o, const struct family_member *members, const struct name_families *families)
{
	for (size_t i = 0; i < o->n; i++)
		if (members[i].family) {
			o->items[i].names = 1;
			set_text(&o->items[i].name, families->items[members[i].family - 1].name);
		}
	for (size_t i = 0; i < o->n; i++) {
		if (!o->items[i].name)
			return -ENOMEM;
		for (size_t k = 0; o->items[i].names && k < i; k++)
			if (o->items[k].names && !strcmp(o->items[k].name, o->items[i].name)) {
				o->items[k].names++;
				join(&o->items[k], &o->items[i]);
				o->items[i] = o->items[--o->n];
				o->items[o->n] = (struct other){};
				i--;
				break;
			}
	}
	return 0;
}

static int find_families(struct others *o)
{
	_cleanup_(freep) struct family_member *members = xcalloc(o->n + 1, sizeof(*members));
	_cleanup_(name_families_clear) struct name_families families = {};
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->n; i++) {
		const struct other *other = &o->items[i];

		members[i] = (struct family_member){other->name, other->exe, other->unit, other->executions,
			other->alone, other->returned, 0};
		name_profiled(&o->items[i], &members[i]);
	}
	if (r == 0)
		r = name_families_find(members, o->n, &families);
	return r < 0 ? r : join_families(o, members, &families);
}

int others_finish(struct others *o)
{
	int r = find_families(o);

	if (o->n > 0)
		qsort(o->items, o->n, sizeof(*o->items), by_disturbance);
	for (size_t i = 0; i < o->n; i++)
		o->items[i].cutoff = NULL;
	free(TAKE(o->of_daemon));
	o->n_daemons = 0;
	return r;
}

void others_clear(struct others *o)
{
	for (size_t i = 0; i < o->n; i++)
		clear(&o->items[i]);
	free(o->items);
	free(o->of_daemon);
	*o = (struct others){};
}
