/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods of unexplained gaps: see unexplained.h. */
#include "lib/jitter/unexplained.h"

#include <math.h>

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
	if ((double)count < 3 * expected)
		return 0;
	return ((double)count - expected) / sqrt(expected + 1);
}

/* How far an item may be from where its period puts it: bins are no more precise. */
static int64_t tolerance_ns(double period_ns)
{
	return 6000 + (int64_t)(0.0005 * period_ns);
}

/* Whether a spacing is nearly a period that was found before, or a multiple of it. Items that this
 * period has left, an early tick and the late one after it, have such spacings. */
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

/* The period itself, or the one that it is a multiple of: with few items, a multiple may be found
 * first. */
static int64_t fundamental_ns(const struct spacing_bin *bins, int64_t period_ns)
{
	for (int k = MOST_MULTIPLE; k > 1; k--) {
		int64_t at = period_ns / k / BIN_NS;

		if (at * BIN_NS >= SHORTEST_NS && bin_height(bins, (int)at) > 5)
			return bin_centre_ns(bins, (int)at);
	}
	return bin_centre_ns(bins, (int)(period_ns / BIN_NS));
}

/* The period that this bin shows; 0: none. The bin must stand out, and be the highest beside it.
 * The multiples of a period stand out, too; those of a distance between two items that each have a
 * period do not. */
static int64_t period_at(const struct unexplained_period *periods, size_t n_before, int at)
{
	const struct spacing_bin *bins = periods[n_before].spacings;
	const double STANDS_OUT = 10;
	int64_t ns;
	int twice;

	for (int i = at - PEAK; i <= at + PEAK; i++)
		if (i >= 0 && i < BINS && bins[i].count > bins[at].count)
			return 0;
	if (bin_height(bins, at) <= STANDS_OUT)
		return 0;

	ns = bin_centre_ns(bins, at);
	twice = (int)(2 * ns / BIN_NS);
	if (twice + PEAK >= BINS)
		return 0;
	if (bin_height(bins, twice - 1) <= STANDS_OUT && bin_height(bins, twice + 1) <= STANDS_OUT)
		return 0;
	if (is_multiple(ns, periods, n_before) ||
		is_multiple(fundamental_ns(bins, ns), periods, n_before))
		return 0;
	return ns;
}

/* The shortest period; 0: none. */
static int64_t find_period(const struct unexplained_period *periods, size_t n_before)
{
	int64_t ns = 0;

	for (int at = SHORTEST_NS / BIN_NS; ns == 0 && at < BINS; at++)
		ns = period_at(periods, n_before, at);
	return ns;
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

/* Whether twice as many items have the period as have periods that are wrong for certain. */
static bool period_holds(const struct unexplained_item *items, size_t n, double period_ns)
{
	size_t found = 0, wrong = 0; /* two of these for each item */

	for (size_t i = 0; i < n; i++) {
		found += is_periodic(items, n, i, period_ns);
		wrong += is_periodic(items, n, i, 0.73 * period_ns);
		wrong += is_periodic(items, n, i, 1.37 * period_ns);
	}
	return found >= 2 && found > wrong / 2 * 2;
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

		add_spacings(p, items, n);
		if (!p->period_ns)
			p->period_ns = find_period(unexplained->periods, i);
		if (!p->period_ns)
			break;
		p->period_ns = fundamental_ns(p->spacings, p->period_ns);
		if (!period_holds(items, n, (double)p->period_ns))
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
