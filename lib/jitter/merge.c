/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps and intervals, merged: see merge.h.
 *
 * An interval explains the gap around it if the kernel may have run in that gap. As a check, the same intervals are shifted by a
 * random time within the round, and it is counted how many gaps they would explain then. Where it is not known whether the kernel
 * ran, gaps of a length at which that is as good are not attributed, unless a switch from the loop's thread and back to it proves
 * who had the CPU. */
#include "lib/jitter/merge.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/random.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
	SLACK_NS = 50,     /* a reading of the counter may be carried out a little early */
	EXCESS_FACTOR = 3, /* entry and exit are not traced: up to so many times their median is explained */
	SMALL_PART = 20,   /* parts below a 20th of the interruption are not in its name */
};

int merge_begin(struct merge *m, int64_t threshold_ns, struct jitter_sources *sources, struct error *err)
{
	*m = (struct merge){.threshold_ns = threshold_ns, .sources = sources, .outside_source = -1};
	m->longest = xcalloc(MERGE_LONGEST + 1, sizeof(*m->longest));
	return 0;
}

void merge_clear(struct merge *m)
{
	histogram_clear(&m->user);
	histogram_clear(&m->master);
	histogram_clear(&m->excess);
	source_rows_clear(&m->times);
	source_rows_clear(&m->frequencies);
	residue_clear(&m->residue);
	residue_clear(&m->outside);
	free(m->longest);
	*m = (struct merge){};
}

static bool is_closed(const struct trace_interval *v)
{
	return v->end_ns >= v->start_ns;
}

/* The intervals that lie in a gap. Some may have no end yet, or lie outside the gap. */
struct matched {
	const struct trace_interval *items;
	size_t n;
	int64_t covered_ns; /* by those that are not nested */
	size_t n_outer;
	bool switched;
	bool resumed; /* a task goes on that was preempted */
};

static bool lies_in(const struct trace_interval *v, const struct gap_seen *gap)
{
	return is_closed(v) && v->start_ns >= gap->start_ns - SLACK_NS && v->end_ns <= gap->end_ns + SLACK_NS;
}

static int64_t length_in(const struct trace_interval *v, const struct gap_seen *gap)
{
	int64_t ns = (v->open_ended ? gap->end_ns : v->end_ns) - v->start_ns;

	return ns > 0 ? ns : 0;
}

/* *cursor: the first interval that may lie in this gap or a later one. */
static struct matched match(
	const struct gap_seen *gap, const struct trace_interval *items, size_t n, size_t *cursor)
{
	struct matched m = {};

	while (*cursor < n && items[*cursor].start_ns < gap->start_ns - SLACK_NS)
		++*cursor;
	if (*cursor == n || gap->place == GAP_OUTSIDE_KERNEL)
		return m;
	m.items = items + *cursor;
	for (size_t i = *cursor; i < n && items[i].start_ns <= gap->end_ns + SLACK_NS; i++) {
		if (!lies_in(&items[i], gap))
			continue;
		m.n = i + 1 - *cursor;
		if (items[i].depth == 0) {
			m.covered_ns += length_in(&items[i], gap);
			m.n_outer++;
		}
		m.switched |= items[i].switched;
		m.resumed |= items[i].resumed;
	}
	return m;
}

static int class_of(int64_t length_ns)
{
	int i = 63 - __builtin_clzll((uint64_t)length_ns | 1);

	return i < MERGE_CLASSES ? i : MERGE_CLASSES - 1;
}

static int64_t length_of(const struct gap_seen *gap)
{
	return gap->end_ns - gap->start_ns;
}

/* What of a gap its intervals explain: themselves, and some time for entry and exit. */
static int64_t explained_of(
	const struct merge *m, const struct gap_seen *gap, const struct matched *matched, int64_t allowed_ns)
{
	int64_t ns = matched->covered_ns + (int64_t)matched->n_outer * allowed_ns;

	return length_of(gap) - ns < m->threshold_ns ? length_of(gap) : ns;
}

static int by_start(const void *a, const void *b)
{
	const struct trace_interval *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The intervals moved by the same random time, around the round. */
static struct trace_interval *shift(
	struct merge *m, int64_t from_ns, int64_t to_ns, const struct trace_interval *items, size_t n)
{
	struct trace_interval *shifted = xmalloc((n ?: 1) * sizeof(*shifted));
	int64_t round_ns = to_ns > from_ns ? to_ns - from_ns : 1;
	int64_t by_ns = round_ns / 20 +
			(int64_t)(random_next(&m->random) % (uint64_t)(round_ns - round_ns / 10 + 1));

	for (size_t i = 0; shifted && i < n; i++) {
		int64_t length_ns = items[i].end_ns - items[i].start_ns;

		shifted[i] = items[i];
		shifted[i].start_ns = from_ns + (items[i].start_ns - from_ns + by_ns) % round_ns;
		shifted[i].end_ns = shifted[i].start_ns + length_ns;
	}
	if (shifted)
		qsort(shifted, n, sizeof(*shifted), by_start);
	return shifted;
}

static int count_chance(struct merge *m, int64_t from_ns, int64_t to_ns, const struct gap_seen *gaps,
	size_t n_gaps, const struct trace_interval *items, size_t n, int64_t allowed_ns)
{
	_cleanup_(freep) struct trace_interval *shifted = shift(m, from_ns, to_ns, items, n);
	size_t cursor = 0;

	if (!shifted)
		return -ENOMEM;
	for (size_t i = 0; i < n_gaps; i++) {
		struct matched matched = match(&gaps[i], shifted, n, &cursor);

		if (matched.n == 0)
			continue;
		m->chance++;
		m->chance_ns += explained_of(m, &gaps[i], &matched, allowed_ns);
		m->classes[class_of(length_of(&gaps[i]))].chance++;
	}
	return 0;
}

/* The first pass: what is needed to decide on each gap. */
static int count_matches(struct merge *m, const struct gap_seen *gaps, size_t n_gaps,
	const struct trace_interval *items, size_t n)
{
	size_t cursor = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_gaps; i++) {
		struct matched matched = match(&gaps[i], items, n, &cursor);
		struct match_class *class = &m->classes[class_of(length_of(&gaps[i]))];
		int64_t excess_ns = length_of(&gaps[i]) - matched.covered_ns;

		m->gaps++;
		m->gaps_ns += length_of(&gaps[i]);
		histogram_add(&m->user, length_of(&gaps[i]));
		class->gaps++;
		class->matched += matched.n > 0;
		if (matched.n_outer > 0)
			histogram_add(
				&m->excess, excess_ns > 0 ? excess_ns / (int64_t)matched.n_outer : 0);
	}
	return r;
}

/* Whether gaps of this length are matched more often than by chance: three standard deviations. */
static bool class_is_attributed(const struct match_class *class)
{
	double off = (double)(class->matched - class->chance);

	return off > 3 * sqrt((double)(class->chance + 1));
}

/* Of an interval in its gap, without those nested in it. */
static int64_t net_of(const struct trace_interval *v, const struct gap_seen *gap)
{
	int64_t ns = v->open_ended ? length_in(v, gap) + v->net_ns : v->net_ns;

	return ns > 0 ? ns : 0;
}

/* The source in the time domain: those with more than a small part of it. */
static int64_t name_interruption(struct merge *m, const struct gap_seen *gap, const struct matched *matched)
{
	uint32_t parts[1 + MERGE_MOST_PARTS] = {}; /* the largest first: it is always in it */
	int64_t most_ns = -1;
	size_t n = 1;

	for (size_t i = 0; i < matched->n; i++) {
		const struct trace_interval *v = &matched->items[i];
		int64_t net_ns = lies_in(v, gap) ? net_of(v, gap) : -1;

		if (net_ns > most_ns) {
			parts[0] = v->source;
			most_ns = net_ns;
		}
		if (net_ns >= 0 && net_ns * SMALL_PART >= matched->covered_ns && n <= MERGE_MOST_PARTS)
			parts[n++] = v->source;
	}
	return jitter_source_of_parts(m->sources, parts, n);
}

static void keep_long(
	struct merge *m, const struct gap_seen *gap, int64_t source, const struct matched *matched)
{
	size_t at = m->n_longest;
	struct long_interruption *entry;

	if (at == MERGE_LONGEST && m->longest[at - 1].length_ns >= length_of(gap))
		return;
	while (at > 0 && m->longest[at - 1].length_ns < length_of(gap))
		at--;
	memmove(m->longest + at + 1, m->longest + at, (m->n_longest - at) * sizeof(*m->longest));
	m->n_longest += m->n_longest < MERGE_LONGEST;
	entry = &m->longest[at];
	*entry = (struct long_interruption){
		.start_ns = gap->start_ns, .length_ns = length_of(gap), .source = source};
	for (size_t i = 0; source >= 0 && i < matched->n; i++)
		if (lies_in(&matched->items[i], gap) && entry->n_parts < MERGE_MOST_PARTS) {
			struct trace_interval *part = &entry->parts[entry->n_parts++];

			*part = matched->items[i];
			part->end_ns = part->start_ns + length_in(part, gap);
			part->net_ns = net_of(&matched->items[i], gap);
		}
}

/* In the time domain: what the trace saw of it. */
static int add_explained(
	struct merge *m, const struct gap_seen *gap, const struct matched *matched, int64_t source)
{
	int r = source_rows_add(
		&m->times, (uint32_t)source, gap->start_ns, matched->covered_ns, matched->resumed);

	histogram_add(&m->master, matched->covered_ns);
	return r;
}

/* The residue of the round so far. */
struct rest {
	struct residue_item *items;
	size_t n, capacity;
};

static void rest_clear(struct rest *rest)
{
	free(rest->items);
}

static int add_rest(struct rest *rest, int64_t start_ns, int64_t length_ns, bool whole)
{
	struct residue_item *item = array_add_reused(rest->items, rest->n, rest->capacity);

	*item = (struct residue_item){start_ns, length_ns, whole};
	return 0;
}

static int add_frequencies(struct merge *m, const struct gap_seen *gap, const struct matched *matched)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < matched->n; i++) {
		const struct trace_interval *v = &matched->items[i];

		if (lies_in(v, gap))
			r = source_rows_add(
				&m->frequencies, v->source, v->start_ns, net_of(v, gap), v->resumed);
	}
	return r;
}

/* Not by this kernel: a source by itself. */
static int take_outside(struct merge *m, const struct gap_seen *gap, struct rest *outside)
{
	uint32_t source;

	if (m->outside_source < 0)
		m->outside_source = jitter_source_outside(m->sources);
	if (m->outside_source < 0)
		return -ENOMEM;
	source = (uint32_t)m->outside_source;
	if (source_rows_add(&m->times, source, gap->start_ns, length_of(gap), false) < 0 ||
		source_rows_add(&m->frequencies, source, gap->start_ns, length_of(gap), false) < 0)
		return -ENOMEM;
	keep_long(m, gap, source, &(struct matched){});
	return add_rest(outside, gap->start_ns, length_of(gap), true);
}

static int take_gap(struct merge *m, const struct gap_seen *gap, const struct matched *matched,
	int64_t allowed_ns, struct rest *rest)
{
	bool attributed = matched->n > 0 &&
			  (matched->switched || gap->place == GAP_IN_KERNEL ||
				  class_is_attributed(&m->classes[class_of(length_of(gap))]));
	int64_t source = attributed ? name_interruption(m, gap, matched) : -1, explained_ns = 0;
	int r = 0;

	if (source == -ENOMEM)
		return -ENOMEM;
	if (source >= 0) {
		explained_ns = explained_of(m, gap, matched, allowed_ns);
		m->explained++;
		m->explained_ns += explained_ns;
		r = add_explained(m, gap, matched, source);
	}
	if (r == 0)
		r = add_frequencies(m, gap, matched);
	keep_long(m, gap, source, matched);
	if (r == 0 && explained_ns < length_of(gap))
		r = add_rest(rest, gap->start_ns, length_of(gap) - explained_ns, source < 0);
	return r;
}

/* Intervals that lie in no gap in which the kernel may have run. */
static int64_t count_in_no_gap(
	const struct gap_seen *gaps, size_t n_gaps, const struct trace_interval *items, size_t n)
{
	int64_t count = 0;
	size_t gap = 0;

	for (size_t i = 0; i < n; i++) {
		while (gap < n_gaps && (gaps[gap].place == GAP_OUTSIDE_KERNEL ||
					       gaps[gap].end_ns + SLACK_NS < items[i].start_ns))
			gap++;
		count += is_closed(&items[i]) && (gap == n_gaps || !lies_in(&items[i], &gaps[gap]));
	}
	return count;
}

static size_t count_used(
	const struct gap_seen *gaps, size_t n_gaps, const struct trace_interval *items, size_t n)
{
	int64_t until_ns = n_gaps > 0 ? gaps[n_gaps - 1].end_ns + SLACK_NS : INT64_MIN;

	while (n > 0 && items[n - 1].start_ns > until_ns)
		n--;
	return n;
}

int merge_round(struct merge *m, int64_t from_ns, int64_t to_ns, const struct gap_seen *gaps, size_t n_gaps,
	const struct trace_interval *items, size_t n_items, size_t *ret_used)
{
	size_t n = count_used(gaps, n_gaps, items, n_items), cursor = 0;
	_cleanup_(rest_clear) struct rest rest = {}, outside = {};
	int64_t allowed_ns;
	int r;

	*ret_used = n;
	r = count_matches(m, gaps, n_gaps, items, n);
	allowed_ns = EXCESS_FACTOR * histogram_quantile(&m->excess, 0.5);
	if (r == 0)
		r = count_chance(m, from_ns, to_ns, gaps, n_gaps, items, n, allowed_ns);
	for (size_t i = 0; r == 0 && i < n_gaps; i++) {
		struct matched matched = match(&gaps[i], items, n, &cursor);

		m->place_known |= gaps[i].place != GAP_UNKNOWN;
		r = gaps[i].place == GAP_OUTSIDE_KERNEL ? take_outside(m, &gaps[i], &outside)
							: take_gap(m, &gaps[i], &matched, allowed_ns, &rest);
	}
	source_rows_end_round(&m->times, m->rounds == 0);
	source_rows_end_round(&m->frequencies, m->rounds == 0);
	m->rounds++;
	m->in_no_gap += count_in_no_gap(gaps, n_gaps, items, n);
	if (r == 0)
		r = residue_add(&m->residue, rest.items, rest.n);
	return r < 0 ? r : residue_add(&m->outside, outside.items, outside.n);
}
