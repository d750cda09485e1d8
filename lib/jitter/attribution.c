/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps and intervals, matched and counted: see attribution.h. */
#include "lib/jitter/attribution.h"

#include <math.h>

enum {
	SLACK_NS = 50, /* a reading of the counter may be carried out a little early */
	/* entry and exit are not traced: up to so many times their median is explained */
	EXCESS_FACTOR = 3,
	SMALL_PART = 20,  /* parts below a 20th of the interruption are not in its name */
	PERIOD_LEAST = 5, /* distances from which a period is concluded */
};

void attribution_begin(struct attribution *a, int64_t threshold_ns, struct jitter_sources *sources)
{
	*a = (struct attribution){
		.sources = sources, .outside_source = -1, .cpu.threshold_ns = threshold_ns};
	a->longest = xcalloc(MOST_LONGEST + 1, sizeof(*a->longest));
}

void attribution_clear(struct attribution *a)
{
	const struct source_rows both[] = {a->times, a->frequencies};

	for (size_t k = 0; k < ELEMENTS(both); k++) {
		for (size_t i = 0; i < both[k].n; i++) {
			histogram_clear(&both[k].items[i].lengths);
			histogram_clear(&both[k].items[i].spacings);
		}
		free(both[k].items);
	}
	histogram_clear(&a->user);
	histogram_clear(&a->master);
	histogram_clear(&a->excess);
	unexplained_clear(&a->unexplained);
	unexplained_clear(&a->outside);
	free(a->longest);
	*a = (struct attribution){};
}

/* resumed: this continues the interval before, and is not a start of its own. */
static void source_rows_add(struct source_rows *rows, uint32_t source, int64_t start_ns,
	int64_t length_ns, bool resumed)
{
	struct source_statistics *s;
	struct jitter_source *row;

	while (rows->n <= source)
		array_add(rows->items, rows->n);
	s = &rows->items[source];
	row = &s->row;
	histogram_add(&s->lengths, length_ns);
	if (row->count > 0 && !resumed && start_ns > s->last_start_ns)
		histogram_add(&s->spacings, start_ns - s->last_start_ns);
	if (!resumed || row->count == 0)
		s->last_start_ns = start_ns;
	s->round_ns += length_ns;
	row->min_ns = row->count == 0 || length_ns < row->min_ns ? length_ns : row->min_ns;
	row->max_ns = length_ns > row->max_ns ? length_ns : row->max_ns;
	row->total_ns += length_ns;
	row->squares_ns2 += (double)length_ns * (double)length_ns;
	row->count++;
}

static void source_rows_end_round(struct source_rows *rows, bool first)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct source_statistics *s = &rows->items[i];
		double ns = (double)s->round_ns, step = ns - (double)s->last_round_ns;

		s->row.rounds += s->round_ns > 0;
		s->row.round_squares_ns2 += ns * ns;
		s->row.round_steps_ns2 += first ? 0 : step * step;
		s->last_round_ns = s->round_ns;
		s->round_ns = 0;
	}
}

int64_t source_period(const struct source_statistics *s)
{
	int64_t quarter = histogram_quantile(&s->spacings, 0.25);
	int64_t half = histogram_quantile(&s->spacings, 0.5);
	int64_t most = histogram_quantile(&s->spacings, 0.75);

	if (s->spacings.count < PERIOD_LEAST || (double)(most - quarter) > 0.05 * (double)half)
		return 0;
	return half;
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
	return v->end_ns >= v->start_ns && v->start_ns >= gap->start_ns - SLACK_NS &&
	       v->end_ns <= gap->end_ns + SLACK_NS;
}

static int64_t length_in(const struct trace_interval *v, const struct gap_seen *gap)
{
	int64_t ns = (v->open_ended ? gap->end_ns : v->end_ns) - v->start_ns;

	return ns > 0 ? ns : 0;
}

/* Of an interval in its gap, without those nested in it. */
static int64_t net_in(const struct trace_interval *v, const struct gap_seen *gap)
{
	int64_t ns = v->open_ended ? length_in(v, gap) + v->net_ns : v->net_ns;

	return ns > 0 ? ns : 0;
}

/* *cursor: the first interval that may lie in this gap or a later one. */
static struct matched match_gap(
	const struct gap_seen *gap, const struct trace_interval *items, size_t n, size_t *cursor)
{
	struct matched m = {};

	while (*cursor < n && items[*cursor].start_ns < gap->start_ns - SLACK_NS)
		++*cursor;
	if (*cursor == n || gap->origin == GAP_OUTSIDE_KERNEL)
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

static int64_t gap_length(const struct gap_seen *gap)
{
	return gap->end_ns - gap->start_ns;
}

static struct jitter_match *class_of(struct attribution *a, const struct gap_seen *gap)
{
	int i = 63 - __builtin_clzll((uint64_t)gap_length(gap) | 1);

	return &a->classes[i < MATCH_CLASSES ? i : MATCH_CLASSES - 1];
}

/* The part of a gap that its intervals explain: their own time, and some for entry and exit. */
static int64_t explained_part(const struct attribution *a, const struct gap_seen *gap,
	const struct matched *matched, int64_t allowed_ns)
{
	int64_t ns = matched->covered_ns + (int64_t)matched->n_outer * allowed_ns;

	return gap_length(gap) - ns < a->cpu.threshold_ns ? gap_length(gap) : ns;
}

static int by_start(const void *a, const void *b)
{
	const struct trace_interval *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The first n intervals, all moved around the round by the same random time. The caller frees
 * them. */
static struct trace_interval *shift_intervals(
	struct attribution *a, const struct jitter_round *round, size_t n)
{
	struct trace_interval *shifted = xmalloc(n * sizeof(*shifted));
	int64_t round_ns = round->to_ns > round->from_ns ? round->to_ns - round->from_ns : 1;
	uint64_t range_ns = (uint64_t)(round_ns - round_ns / 10 + 1);
	int64_t by_ns = round_ns / 20 + (int64_t)(random_next(&a->random) % range_ns);

	for (size_t i = 0; i < n; i++) {
		const struct trace_interval *v = &round->intervals[i];
		int64_t off_ns = (v->start_ns - round->from_ns + by_ns) % round_ns;

		shifted[i] = *v;
		shifted[i].start_ns = round->from_ns + off_ns;
		shifted[i].end_ns = shifted[i].start_ns + v->end_ns - v->start_ns;
	}
	qsort(shifted, n, sizeof(*shifted), by_start);
	return shifted;
}

/* How many gaps the first n intervals match after a random shift. */
static void count_chance(
	struct attribution *a, const struct jitter_round *round, size_t n, int64_t allowed_ns)
{
	_cleanup_(freep) struct trace_interval *shifted = shift_intervals(a, round, n);
	size_t cursor = 0;

	for (size_t i = 0; i < round->n_gaps; i++) {
		const struct gap_seen *gap = &round->gaps[i];
		struct matched matched = match_gap(gap, shifted, n, &cursor);

		if (matched.n == 0)
			continue;
		a->cpu.chance++;
		a->cpu.chance_ns += explained_part(a, gap, &matched, allowed_ns);
		class_of(a, gap)->chance++;
	}
}

/* Keeps it if it is one of the longest. */
static void keep_long(struct attribution *a, const struct gap_seen *gap, int64_t source,
	const struct matched *matched)
{
	size_t at = a->n_longest;
	struct long_interruption *entry;

	if (at == MOST_LONGEST && a->longest[at - 1].length_ns >= gap_length(gap))
		return;
	while (at > 0 && a->longest[at - 1].length_ns < gap_length(gap))
		at--;
	memmove(a->longest + at + 1, a->longest + at, (a->n_longest - at) * sizeof(*a->longest));
	a->n_longest += a->n_longest < MOST_LONGEST;
	entry = &a->longest[at];
	*entry = (struct long_interruption){
		.start_ns = gap->start_ns, .length_ns = gap_length(gap), .source = source};
	for (size_t i = 0; source >= 0 && i < matched->n; i++)
		if (lies_in(&matched->items[i], gap) && entry->n_parts < MOST_INTERRUPTION_PARTS) {
			struct trace_interval *part = &entry->parts[entry->n_parts++];

			*part = matched->items[i];
			part->end_ns = part->start_ns + length_in(part, gap);
			part->net_ns = net_in(&matched->items[i], gap);
		}
}

/* The source of a gap in the time domain: the intervals that have more than a small part of it. */
static uint32_t source_of_gap(
	struct attribution *a, const struct gap_seen *gap, const struct matched *matched)
{
	/* the largest first: it is always in it */
	uint32_t parts[1 + MOST_INTERRUPTION_PARTS] = {};
	int64_t most_ns = -1;
	size_t n = 1;

	for (size_t i = 0; i < matched->n; i++) {
		const struct trace_interval *v = &matched->items[i];
		int64_t net_ns = lies_in(v, gap) ? net_in(v, gap) : -1;

		if (net_ns > most_ns) {
			parts[0] = v->source;
			most_ns = net_ns;
		}
		if (net_ns >= 0 && net_ns * SMALL_PART >= matched->covered_ns &&
			n <= MOST_INTERRUPTION_PARTS)
			parts[n++] = v->source;
	}
	return jitter_source_of_parts(a->sources, parts, n);
}

/* Whether the intervals in a gap explain it. Where nothing else proves it, gaps of this length must
 * be matched more often than by chance: by three standard deviations. */
static bool gap_is_explained(
	struct attribution *a, const struct gap_seen *gap, const struct matched *matched)
{
	const struct jitter_match *class = class_of(a, gap);
	double surplus = (double)(class->matched - class->chance);

	if (matched->n == 0)
		return false;
	return matched->switched || gap->origin == GAP_IN_KERNEL ||
	       surplus > 3 * sqrt((double)(class->chance + 1));
}

/* A gap in which the kernel may have run. Returns what of it no event explains. */
static struct unexplained_item take_gap(struct attribution *a, const struct gap_seen *gap,
	const struct matched *matched, int64_t allowed_ns)
{
	int64_t source = -1, explained_ns = 0;

	if (gap_is_explained(a, gap, matched)) {
		source = source_of_gap(a, gap, matched);
		explained_ns = explained_part(a, gap, matched, allowed_ns);
		a->cpu.explained++;
		a->cpu.explained_ns += explained_ns;
		source_rows_add(&a->times, (uint32_t)source, gap->start_ns, matched->covered_ns,
			matched->resumed);
		histogram_add(&a->master, matched->covered_ns);
	}
	for (size_t i = 0; i < matched->n; i++) {
		const struct trace_interval *v = &matched->items[i];

		if (lies_in(v, gap))
			source_rows_add(&a->frequencies, v->source, v->start_ns, net_in(v, gap),
				v->resumed);
	}
	keep_long(a, gap, source, matched);
	return (struct unexplained_item){gap->start_ns, gap_length(gap) - explained_ns, source < 0};
}

/* A gap in which the kernel did not run: a source by itself. */
static struct unexplained_item take_outside(struct attribution *a, const struct gap_seen *gap)
{
	uint32_t source;

	if (a->outside_source < 0)
		a->outside_source = jitter_source_add(a->sources,
			a->sources->outside ?: "outside the kernel", NULL, SOURCE_OUTSIDE);
	source = (uint32_t)a->outside_source;
	source_rows_add(&a->times, source, gap->start_ns, gap_length(gap), false);
	source_rows_add(&a->frequencies, source, gap->start_ns, gap_length(gap), false);
	keep_long(a, gap, source, &(struct matched){});
	return (struct unexplained_item){gap->start_ns, gap_length(gap), true};
}

/* Of the first n intervals, those that lie in no gap in which the kernel may have run. */
static int64_t count_in_no_gap(const struct jitter_round *round, size_t n)
{
	const struct gap_seen *gap = round->gaps, *end = gap + round->n_gaps;
	int64_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trace_interval *v = &round->intervals[i];

		while (gap < end &&
			(gap->origin == GAP_OUTSIDE_KERNEL || gap->end_ns + SLACK_NS < v->start_ns))
			gap++;
		count += v->end_ns >= v->start_ns && (gap == end || !lies_in(v, gap));
	}
	return count;
}

/* Counts a gap, and what is needed to decide on all gaps. */
static void count_gap(struct attribution *a, const struct gap_seen *gap, const struct matched *m)
{
	struct jitter_match *class = class_of(a, gap);
	int64_t excess_ns = gap_length(gap) - m->covered_ns;

	a->origin_known |= gap->origin != GAP_UNKNOWN;
	a->cpu.gaps++;
	a->cpu.gaps_ns += gap_length(gap);
	histogram_add(&a->user, gap_length(gap));
	class->gaps++;
	class->matched += m->n > 0;
	if (m->n_outer > 0)
		histogram_add(&a->excess, excess_ns > 0 ? excess_ns / (int64_t)m->n_outer : 0);
}

/* How many intervals start before the end of the last gap; the others wait for the next round. */
static size_t intervals_of_round(const struct jitter_round *round)
{
	int64_t until_ns = INT64_MIN;
	size_t n = round->n_intervals;

	if (round->n_gaps > 0)
		until_ns = round->gaps[round->n_gaps - 1].end_ns + SLACK_NS;
	while (n > 0 && round->intervals[n - 1].start_ns > until_ns)
		n--;
	return n;
}

/* Decides on each gap. */
static void take_gaps_of_round(struct attribution *a, const struct jitter_round *round,
	const struct matched *matched, int64_t allowed_ns)
{
	size_t room = round->n_gaps, n_rest = 0, n_outside = 0;
	_cleanup_(freep) struct unexplained_item *rest = xcalloc(room, sizeof(*rest));
	_cleanup_(freep) struct unexplained_item *outside = xcalloc(room, sizeof(*outside));

	for (size_t i = 0; i < round->n_gaps; i++) {
		const struct gap_seen *gap = &round->gaps[i];

		if (gap->origin == GAP_OUTSIDE_KERNEL) {
			outside[n_outside++] = take_outside(a, gap);
		} else {
			rest[n_rest] = take_gap(a, gap, &matched[i], allowed_ns);
			n_rest += rest[n_rest].length_ns > 0;
		}
	}
	unexplained_add(&a->unexplained, rest, n_rest);
	unexplained_add(&a->outside, outside, n_outside);
}

size_t attribution_round(struct attribution *a, const struct jitter_round *round)
{
	_cleanup_(freep) struct matched *matched = xcalloc(round->n_gaps, sizeof(*matched));
	size_t n = intervals_of_round(round), cursor = 0;
	int64_t allowed_ns;

	for (size_t i = 0; i < round->n_gaps; i++) {
		matched[i] = match_gap(&round->gaps[i], round->intervals, n, &cursor);
		count_gap(a, &round->gaps[i], &matched[i]);
	}
	allowed_ns = EXCESS_FACTOR * histogram_quantile(&a->excess, 0.5);
	count_chance(a, round, n, allowed_ns);
	take_gaps_of_round(a, round, matched, allowed_ns);

	source_rows_end_round(&a->times, a->cpu.rounds == 0);
	source_rows_end_round(&a->frequencies, a->cpu.rounds == 0);
	a->cpu.rounds++;
	a->cpu.in_no_gap += count_in_no_gap(round, n);
	return n;
}

struct jitter_cpu attribution_sums(const struct attribution *a)
{
	struct unexplained_sums here = unexplained_sums(&a->unexplained);
	struct unexplained_sums outside = unexplained_sums(&a->outside);
	struct jitter_cpu cpu = a->cpu;

	cpu.periodic = here.periodic + outside.periodic;
	cpu.periodic_ns = here.periodic_ns + outside.periodic_ns;
	cpu.outside_kernel = a->origin_known ? outside.rest : -1;
	cpu.outside_kernel_ns = a->origin_known ? outside.rest_ns : -1;
	cpu.unexplained = here.rest;
	cpu.unexplained_ns = here.rest_ns;
	return cpu;
}
