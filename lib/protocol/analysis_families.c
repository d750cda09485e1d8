/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tallies of names that are a family become one: see analysis_internal.h. */
#include "lib/protocol/analysis_internal.h"

#include "lib/base/xalloc.h"

#include <errno.h>
#include <string.h>

static struct family_member member_of(const struct analysis_feed *feed, const struct daemon_tally *tally)
{
	const struct source *source = &feed->daemons->items[tally->longest];
	struct family_member member = {
		.name = tally->name,
		.exe = source->exe,
		.unit = source->unit,
		.alone = source->kind == SOURCE_KERNEL || strcmp(source->name, tally->name) != 0,
		.returned = tally->returned,
	};

	for (size_t zone = 0; zone < N_ZONES; zone++)
		member.executions += tally->seen[zone].n;
	return member;
}

static int by_sample(const void *a, const void *b)
{
	const struct long_execution *x = a, *y = b;

	return (x->sample > y->sample) - (x->sample < y->sample);
}

static int take_longs(struct daemon_tally *to, struct daemon_tally *from)
{
	size_t n = to->n_longs + from->n_longs;
	struct long_execution *longs = n > 0 ? xreallocarray(to->longs, n, sizeof(*longs)) : NULL;

	if (n == 0)
		return 0;
	if (!longs)
		return -ENOMEM;
	if (from->n_longs > 0)
		memcpy(longs + to->n_longs, from->longs, from->n_longs * sizeof(*longs));
	to->longs = longs;
	to->n_longs = to->capacity = n;
	free(TAKE(from->longs));
	from->n_longs = 0;
	return 0;
}

/* `from` is then one that never ran. */
static int join(struct daemon_tally *to, struct daemon_tally *from)
{
	for (size_t zone = 0; zone < N_ZONES; zone++)
		to->seen[zone] = running_join(&to->seen[zone], &from->seen[zone]);
	to->n_present += from->n_present;
	to->et_ns += from->et_ns;
	to->pt_ns += from->pt_ns;
	if (from->longest_ns > to->longest_ns) {
		to->longest_ns = from->longest_ns;
		to->longest = from->longest;
	}
	from->longest_ns = 0;
	return take_longs(to, from);
}

static int join_all(struct analysis_feed *feed, const struct family_member *members)
{
	struct daemon_tally **first = xcalloc(feed->families.n + 1, sizeof(*first));
	int r = 0;

	for (size_t i = 0; r == 0 && i < feed->n_tallies; i++) {
		struct daemon_tally **family = &first[members[i].family], *tally = &feed->tallies[i];

		if (members[i].family && *family)
			r = join(*family, tally);
		else
			*family = tally;
	}
	for (size_t i = 0; r == 0 && i < feed->families.n; i++) {
		struct daemon_tally *family = first[i + 1];

		family->name = feed->families.items[i].name;
		family->names = feed->families.items[i].names;
		if (family->n_longs > 0)
			qsort(family->longs, family->n_longs, sizeof(*family->longs), by_sample);
	}
	free(first);
	return r;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct daemon_tally *)a)->name, ((const struct daemon_tally *)b)->name);
}

static int add_known(struct analysis_feed *feed, struct family_member *members)
{
	int r = 0;

	for (size_t k = 0; k < ELEMENTS(feed->like); k++)
		for (size_t i = 0; r == 0 && feed->like[k] && i < feed->like[k]->n_statistics; i++)
			if (feed->like[k]->statistics[i].names > 0)
				r = name_families_add_known(&feed->families,
					feed->like[k]->statistics[i].name, members, feed->n_tallies);
	return r;
}

int families_join(struct analysis_feed *feed)
{
	_cleanup_(freep) struct family_member *members = xcalloc(feed->n_tallies + 1, sizeof(*members));
	int r = 0;

	for (size_t i = 0; r == 0 && i < feed->n_tallies; i++)
		members[i] = member_of(feed, &feed->tallies[i]);
	if (r == 0)
		r = add_known(feed, members);
	if (r == 0)
		r = name_families_find(members, feed->n_tallies, &feed->families);
	if (r < 0 || feed->families.n == 0)
		return r;
	r = join_all(feed, members);
	if (r == 0)
		qsort(feed->tallies, feed->n_tallies, sizeof(*feed->tallies), by_name);
	return r;
}
