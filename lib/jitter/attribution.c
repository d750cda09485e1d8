/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps, attributed to intervals: see jitter_internal.h.
 *
 * An interval explains the gap around it if the kernel may have run in that gap. As a check, the
 * same intervals are shifted by a random time within the round, and it is counted how many gaps
 * they would explain then. Where it is not known whether the kernel ran, gaps of a length at which
 * that is as good are not attributed, unless a switch from the loop's thread and back to it proves
 * who had the CPU. */
#include "lib/jitter/jitter_internal.h"

#include <math.h>

/* Gaps that no event explains: whether they occur at fixed periods, as the interrupts of a virtual
 * machine's host do. */

enum {
	LEAST_NS = 2000, /* shorter ones are the processor's own */
	BIN_NS = 4000,
	SHORTEST_NS = 50000,
	LONGEST_NS = 200000000,
	BINS = LONGEST_NS / BIN_NS,
	MOST_PAIRS = 256, /* with those after it, of each item */
	PEAK = 2,         /* bins to each side of the middle */
	BESIDE = 40,      /* bins to each side, from which chance is estimated */
	MULTIPLES = 3,    /* of the period, to both sides, at which other items confirm one */
	LEAST_NEIGHBOURS = 2,
	MOST_MULTIPLE = 10,
	LEAST_COUNT = 20,
};

void unexplained_clear(struct unexplained *unexplained)
{
	for (int i = 0; i < UNEXPLAINED_PERIODS; i++)
		free(unexplained->periods[i].spacings);
}

static void add_spacings(
	struct unexplained_period *period, const struct unexplained_item *items, size_t n)
{
	period->spacings = period->spacings ?: xcalloc(BINS, sizeof(*period->spacings));
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && k <= i + MOST_PAIRS; k++) {
			int64_t spacing_ns = items[k].start_ns - items[i].start_ns;

			if (spacing_ns >= LONGEST_NS)
				break;
			period->spacings[spacing_ns / BIN_NS].count++;
			period->spacings[spacing_ns / BIN_NS].total_ns += spacing_ns;
		}
}

static struct spacing_bin sum_bins(const struct spacing_bin *bins, int at, int to_each_side)
{
	struct spacing_bin sum = {};

	for (int i = at - to_each_side; i <= at + to_each_side; i++)
		if (i >= 0 && i < BINS) {
			sum.count += bins[i].count;
			sum.total_ns += bins[i].total_ns;
		}
	return sum;
}

static int64_t bin_centre_ns(const struct spacing_bin *bins, int at)
{
	struct spacing_bin sum = sum_bins(bins, at, PEAK);

	return sum.total_ns / sum.count;
}

/* How many standard deviations (Poisson) above what is beside them; 0: too few. */
static double bin_height(const struct spacing_bin *bins, int at)
{
	int64_t count = sum_bins(bins, at, PEAK).count, wider;
	double expected;

	if (count < LEAST_COUNT)
		return 0;
	wider = sum_bins(bins, at, BESIDE).count - sum_bins(bins, at, 2 * PEAK).count;
	expected = (double)wider * (2 * PEAK + 1) / (2 * (BESIDE - 2 * PEAK));
	return (double)count < 3 * expected ? 0 : ((double)count - expected) / sqrt(expected + 1);
}

/* How far off an item may be: a bin is so precise. */
static int64_t tolerance_ns(double period_ns)
{
	return 6000 + (int64_t)(0.0005 * period_ns);
}

/* Nearly that of a period that was found before, or of its multiples: what it left, an early tick
 * and the late one after it, has such spacings. */
static bool is_multiple(int64_t ns, const struct unexplained_period *before, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t off_ns = ns % before[i].period_ns,
			close_ns = tolerance_ns((double)ns) + before[i].period_ns / 100;

		if (off_ns <= close_ns || before[i].period_ns - off_ns <= close_ns)
			return true;
	}
	return false;
}

/* The same period, or that of which it is a multiple: from few items, it may be found first. */
static int64_t fundamental_ns(const struct spacing_bin *bins, int64_t period_ns)
{
	for (int k = MOST_MULTIPLE; k > 1; k--) {
		int64_t at = period_ns / k / BIN_NS;

		if (at * BIN_NS >= SHORTEST_NS && bin_height(bins, (int)at) > 5)
			return bin_centre_ns(bins, (int)at);
	}
	return bin_centre_ns(bins, (int)(period_ns / BIN_NS));
}

/* The shortest that stands out, and is the highest beside it; 0: none. The multiples of a period
 * stand out, too; those of a distance between two items that each have a period do not. */
static int64_t find_period(const struct unexplained_period *periods, size_t n_before)
{
	const struct spacing_bin *bins = periods[n_before].spacings;
	const double STANDS_OUT = 10;

	for (int at = SHORTEST_NS / BIN_NS; at < BINS; at++) {
		bool highest = true;
		int64_t ns;
		int twice;

		for (int i = at - PEAK; i <= at + PEAK; i++)
			highest &= i < 0 || i >= BINS || bins[i].count <= bins[at].count;
		if (!highest || bin_height(bins, at) <= STANDS_OUT)
			continue;
		ns = bin_centre_ns(bins, at);
		twice = (int)(2 * ns / BIN_NS);
		if (twice + PEAK < BINS &&
			(bin_height(bins, twice - 1) > STANDS_OUT ||
				bin_height(bins, twice + 1) > STANDS_OUT) &&
			!is_multiple(ns, periods, n_before) &&
			!is_multiple(fundamental_ns(bins, ns), periods, n_before))
			return ns;
	}
	return 0;
}

/* Whether an item starts within `within` of `at`. */
static bool has_item(const struct unexplained_item *items, size_t n, int64_t at, int64_t within)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle].start_ns < at - within)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && items[low].start_ns <= at + within;
}

/* Whether enough of the items that a period would have around this one are there: a neighbour that
 * chance puts there is not enough. */
static bool is_periodic(const struct unexplained_item *items, size_t n, size_t i, double period_ns)
{
	int64_t close_ns = tolerance_ns(period_ns);
	int there = 0;

	for (int k = 1; k <= MULTIPLES; k++) {
		int64_t off_ns = (int64_t)(k * period_ns);

		there += has_item(items, n, items[i].start_ns - off_ns, close_ns);
		there += has_item(items, n, items[i].start_ns + off_ns, close_ns);
	}
	return there >= LEAST_NEIGHBOURS;
}

/* Counts the items that have the period, and moves the others to `rest`. Returns how many those
 * are. */
static size_t take_periodic(struct unexplained_period *p, const struct unexplained_item *items,
	size_t n, struct unexplained_item *rest)
{
	size_t n_rest = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_periodic(items, n, i, (double)p->period_ns)) {
			rest[n_rest++] = items[i];
			continue;
		}
		p->items++;
		p->count += items[i].whole;
		p->total_ns += items[i].length_ns;
	}
	p->firm = p->items >= LEAST_COUNT;
	return n_rest;
}

void unexplained_add(
	struct unexplained *unexplained, const struct unexplained_item *all, size_t n_all)
{
	_cleanup_(freep) struct unexplained_item *room = xmalloc(2 * n_all * sizeof(*room));
	struct unexplained_item *items = room, *spare = room + n_all;
	size_t n = 0;

	for (size_t i = 0; i < n_all; i++) {
		unexplained->rest += all[i].whole;
		unexplained->rest_ns += all[i].length_ns;
		if (all[i].length_ns >= LEAST_NS)
			items[n++] = all[i];
	}
	/* each among the items without those before it */
	for (size_t i = 0; i < UNEXPLAINED_PERIODS; i++) {
		struct unexplained_period *p = &unexplained->periods[i];
		struct unexplained_item *before = items;
		int64_t count = p->count, total_ns = p->total_ns;
		size_t found = 0, wrong = 0; /* two of these for each item */

		add_spacings(p, items, n);
		if (!p->period_ns)
			p->period_ns = find_period(unexplained->periods, i);
		if (!p->period_ns)
			break;
		p->period_ns = fundamental_ns(p->spacings, p->period_ns);
		/* It holds if twice as many items have it as have periods that are wrong for
		 * certain. */
		for (size_t k = 0; k < n; k++) {
			found += is_periodic(items, n, k, (double)p->period_ns);
			wrong += is_periodic(items, n, k, 0.73 * (double)p->period_ns);
			wrong += is_periodic(items, n, k, 1.37 * (double)p->period_ns);
		}
		if (found < 2 || found <= wrong / 2 * 2)
			continue;
		n = take_periodic(p, items, n, spare);
		items = spare;
		spare = before;
		unexplained->rest -= p->count - count;
		unexplained->rest_ns -= p->total_ns - total_ns;
	}
}

struct unexplained_sums unexplained_sums(const struct unexplained *unexplained)
{
	struct unexplained_sums sums = {.rest = unexplained->rest, .rest_ns = unexplained->rest_ns};

	for (size_t i = 0; i < UNEXPLAINED_PERIODS; i++) {
		const struct unexplained_period *p = &unexplained->periods[i];

		*(p->firm ? &sums.periodic : &sums.rest) += p->count;
		*(p->firm ? &sums.periodic_ns : &sums.rest_ns) += p->total_ns;
	}
	return sums;
}

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
	int64_t quarter = histogram_quantile(&s->spacings, 0.25),
		half = histogram_quantile(&s->spacings, 0.5),
		most = histogram_quantile(&s->spacings, 0.75);

	return s->spacings.count >= PERIOD_LEAST && (double)(most - quarter) <= 0.05 * (double)half
		       ? half
		       : 0;
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

/* What of a gap its intervals explain: themselves, and some time for entry and exit. */
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

/* How many gaps the first n intervals match if all are moved, around the round, by the same random
 * time. */
static void count_chance(
	struct attribution *a, const struct jitter_round *round, size_t n, int64_t allowed_ns)
{
	_cleanup_(freep) struct trace_interval *shifted = xmalloc(n * sizeof(*shifted));
	int64_t round_ns = round->to_ns > round->from_ns ? round->to_ns - round->from_ns : 1;
	int64_t by_ns = round_ns / 20 + (int64_t)(random_next(&a->random) %
						  (uint64_t)(round_ns - round_ns / 10 + 1));
	size_t cursor = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trace_interval *v = &round->intervals[i];

		shifted[i] = *v;
		shifted[i].start_ns = round->from_ns +
				      (v->start_ns - round->from_ns + by_ns) % round_ns;
		shifted[i].end_ns = shifted[i].start_ns + v->end_ns - v->start_ns;
	}
	qsort(shifted, n, sizeof(*shifted), by_start);
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

/* A gap in which the kernel may have run. Returns what of it no event explains. */
static struct unexplained_item take_gap(struct attribution *a, const struct gap_seen *gap,
	const struct matched *matched, int64_t allowed_ns)
{
	const struct jitter_match *class = class_of(a, gap);
	/* gaps of this length are matched more often than by chance: three standard deviations */
	bool proven = matched->switched || gap->origin == GAP_IN_KERNEL ||
		      (double)(class->matched - class->chance) >
			      3 * sqrt((double)(class->chance + 1));
	int64_t source = -1, explained_ns = 0;

	if (matched->n > 0 && proven) {
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

size_t attribution_round(struct attribution *a, const struct jitter_round *round)
{
	_cleanup_(freep) struct matched *matched = xcalloc(round->n_gaps, sizeof(*matched));
	_cleanup_(freep) struct unexplained_item *rest = xcalloc(round->n_gaps, sizeof(*rest));
	_cleanup_(freep) struct unexplained_item *outside = xcalloc(
		round->n_gaps, sizeof(*outside));
	size_t n = round->n_intervals, cursor = 0, n_rest = 0, n_outside = 0;
	int64_t until_ns = INT64_MIN, allowed_ns;

	if (round->n_gaps > 0)
		until_ns = round->gaps[round->n_gaps - 1].end_ns + SLACK_NS;
	while (n > 0 && round->intervals[n - 1].start_ns > until_ns)
		n--;
	/* The first pass: what is needed to decide on each gap. */
	for (size_t i = 0; i < round->n_gaps; i++) {
		const struct gap_seen *gap = &round->gaps[i];
		const struct matched m = matched[i] = match_gap(gap, round->intervals, n, &cursor);
		struct jitter_match *class = class_of(a, gap);
		int64_t excess_ns = gap_length(gap) - m.covered_ns;

		a->origin_known |= gap->origin != GAP_UNKNOWN;
		a->cpu.gaps++;
		a->cpu.gaps_ns += gap_length(gap);
		histogram_add(&a->user, gap_length(gap));
		class->gaps++;
		class->matched += m.n > 0;
		if (m.n_outer > 0)
			histogram_add(
				&a->excess, excess_ns > 0 ? excess_ns / (int64_t)m.n_outer : 0);
	}
	allowed_ns = EXCESS_FACTOR * histogram_quantile(&a->excess, 0.5);
	count_chance(a, round, n, allowed_ns);
	for (size_t i = 0; i < round->n_gaps; i++) {
		const struct gap_seen *gap = &round->gaps[i];

		if (gap->origin == GAP_OUTSIDE_KERNEL) {
			outside[n_outside++] = take_outside(a, gap);
		} else {
			rest[n_rest] = take_gap(a, gap, &matched[i], allowed_ns);
			n_rest += rest[n_rest].length_ns > 0;
		}
	}
	source_rows_end_round(&a->times, a->cpu.rounds == 0);
	source_rows_end_round(&a->frequencies, a->cpu.rounds == 0);
	a->cpu.rounds++;
	a->cpu.in_no_gap += count_in_no_gap(round, n);
	unexplained_add(&a->unexplained, rest, n_rest);
	unexplained_add(&a->outside, outside, n_outside);
	return n;
}

struct jitter_cpu attribution_sums(const struct attribution *a)
{
	struct unexplained_sums here = unexplained_sums(&a->unexplained),
				outside = unexplained_sums(&a->outside);
	struct jitter_cpu cpu = a->cpu;

	cpu.periodic = here.periodic + outside.periodic;
	cpu.periodic_ns = here.periodic_ns + outside.periodic_ns;
	cpu.outside_kernel = a->origin_known ? outside.rest : -1;
	cpu.outside_kernel_ns = a->origin_known ? outside.rest_ns : -1;
	cpu.unexplained = here.rest;
	cpu.unexplained_ns = here.rest_ns;
	return cpu;
}
