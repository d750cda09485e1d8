/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each daemon used in a run: see analysis.h. */
#include "lib/protocol/analysis.h"

#include <search.h>

enum { FIRST_SOURCES = 64 };

/* In the tree by_name: a name, and the index of its daemon + 1. */
struct daemon_key {
	const char *name;
	uint32_t daemon;
};

static int by_daemon_name(const void *a, const void *b)
{
	return strcmp(((const struct daemon_key *)a)->name, ((const struct daemon_key *)b)->name);
}

/* The daemon of a source that was not seen before, which may be a new one: its index + 1. */
static uint32_t daemon_of_source(
	struct daemons *d, const struct name_pattern *patterns, const struct source *source)
{
	const char *name = name_group(patterns, source->name);
	struct daemon_key *key = xmalloc(sizeof(*key)), **node;
	struct daemon_statistics *daemon;

	*key = (struct daemon_key){name, (uint32_t)d->n + 1};
	node = xalloc_check(tsearch(key, &d->by_name, by_daemon_name));
	if (*node != key) {
		free(key);
		return (*node)->daemon;
	}
	daemon = array_add(d->items, d->n);
	key->name = daemon->name = xstrdup(name);
	daemon->alone = source->kind == SOURCE_KERNEL || strcmp(name, source->name) != 0;
	for (size_t zone = 0; zone < N_ZONES; zone++)
		daemon->seen[zone] = RUNNING_NONE;
	return key->daemon;
}

struct daemon_statistics *daemons_add(struct daemons *d, const struct name_pattern *patterns,
	const struct source *source, const struct execution *e, int64_t ns)
{
	struct daemon_statistics *daemon;

	if (e->source >= d->n_sources) {
		size_t n = d->n_sources ?: FIRST_SOURCES;

		while (n <= e->source)
			n *= 2;
		d->of_source = xreallocarray(d->of_source, n, sizeof(*d->of_source));
		memset(d->of_source + d->n_sources, 0, (n - d->n_sources) * sizeof(*d->of_source));
		d->n_sources = n;
	}
	if (!d->of_source[e->source])
		d->of_source[e->source] = daemon_of_source(d, patterns, source);
	daemon = &d->items[d->of_source[e->source] - 1];
	daemon->executions++;
	daemon->returned |= daemon->pid != 0 && e->pid != daemon->pid;
	daemon->pid = e->pid;
	if (ns <= daemon->max_ns)
		return daemon;
	daemon->max_ns = ns;
	daemon->max_sample = e->sample;
	if (daemon->max_source != e->source) {
		daemon->max_source = e->source;
		free(daemon->unit);
		free(daemon->exe);
		daemon->unit = text_copy(source->unit);
		daemon->exe = text_copy(source->exe);
	}
	return daemon;
}

static void daemon_clear(struct daemon_statistics *daemon)
{
	free(daemon->name);
	free(daemon->unit);
	free(daemon->exe);
	free(daemon->long_executions);
}

/* Adds what `from` used to `to`, and frees it. */
static void join_daemon(struct daemon_statistics *to, struct daemon_statistics *from)
{
	if (from->max_ns > to->max_ns) {
		to->max_ns = from->max_ns;
		to->max_sample = from->max_sample;
		to->max_source = from->max_source;
		free(to->unit);
		free(to->exe);
		to->unit = TAKE(from->unit);
		to->exe = TAKE(from->exe);
	}
	if (from->n_long_executions > 0) {
		to->long_executions = xreallocarray(to->long_executions,
			to->n_long_executions + from->n_long_executions, sizeof(*to->long_executions));
		memcpy(to->long_executions + to->n_long_executions, from->long_executions,
			from->n_long_executions * sizeof(*to->long_executions));
		to->n_long_executions += from->n_long_executions;
	}
	for (size_t zone = 0; zone < N_ZONES; zone++)
		to->seen[zone] = running_join(&to->seen[zone], &from->seen[zone]);
	to->names++;
	to->n_present += from->n_present;
	to->et_ns += from->et_ns;
	to->pt_ns += from->pt_ns;
	to->profiled |= from->profiled;
	to->total_ns = saturate_add(to->total_ns, from->total_ns);
	to->long_once |= from->long_once;
	to->disturbed_ns = saturate_add(to->disturbed_ns, from->disturbed_ns);
	daemon_clear(from);
}

static int by_sample(const void *a, const void *b)
{
	const struct long_execution *x = a, *y = b;

	return (x->sample > y->sample) - (x->sample < y->sample);
}

void daemons_join_families(struct daemons *d, const char *const *known, size_t n)
{
	_cleanup_(freep) struct family_member *members = xcalloc(d->n, sizeof(*members));
	size_t kept = 0;

	tdestroy(TAKE(d->by_name), free); /* its names change */
	free(TAKE(d->of_source));
	for (size_t i = 0; i < d->n; i++) {
		const struct daemon_statistics *daemon = &d->items[i];

		members[i] = (struct family_member){daemon->name, daemon->exe, daemon->unit,
			daemon->executions, daemon->alone, daemon->returned, NULL};
	}
	name_families_find(members, d->n, known, n);
	for (size_t i = 0; i < d->n; i++)
		if (members[i].family) {
			d->items[i].names = 1;
			free(d->items[i].name);
			d->items[i].name = members[i].family;
		}
	for (size_t i = 0, k; i < d->n; i++) { /* each is joined to the first of its name */
		for (k = d->items[i].names ? 0 : kept; k < kept; k++)
			if (d->items[k].names && !strcmp(d->items[k].name, d->items[i].name))
				break;
		if (k == kept)
			d->items[kept++] = d->items[i];
		else
			join_daemon(&d->items[k], &d->items[i]);
	}
	d->n = kept;
	for (size_t i = 0; i < d->n; i++)
		if (d->items[i].names && d->items[i].n_long_executions > 0)
			qsort(d->items[i].long_executions, d->items[i].n_long_executions,
				sizeof(*d->items[i].long_executions), by_sample);
}

void daemons_clear(struct daemons *d)
{
	for (size_t i = 0; i < d->n; i++)
		daemon_clear(&d->items[i]);
	free(d->items);
	free(d->of_source);
	tdestroy(d->by_name, free);
	*d = (struct daemons){};
}
