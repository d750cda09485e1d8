/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods in what no event explains: see unexplained.h. */
#include "lib/jitter/unexplained.h"

#include "lib/base/cleanup.h"
#include "lib/base/xalloc.h"

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

static void add_spacings(struct unexplained_period *period, const struct unexplained_item *items, size_t n)
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

static int64_t count_bins(const struct spacing_bin *bins, int from, int to)
{
	int64_t count = 0;

	for (int i = from < 0 ? 0 : from; i <= to && i < BINS; i++)
		count += bins[i].count;
	return count;
}

/* How many standard deviations (Poisson) above what is beside them; 0: too few. */
static double bin_height(const struct spacing_bin *bins, int at)
{
	int64_t count = count_bins(bins, at - PEAK, at + PEAK), wider;
	double expected;

	if (count < LEAST_COUNT)
		return 0;
	wider = count_bins(bins, at - BESIDE, at + BESIDE) - count_bins(bins, at - 2 * PEAK, at + 2 * PEAK);
	expected = (double)wider * (2 * PEAK + 1) / (2 * (BESIDE - 2 * PEAK));
	return (double)count < 3 * expected ? 0 : ((double)count - expected) / sqrt(expected + 1);
}

static bool bin_stands_out(const struct spacing_bin *bins, int at)
{
	return bin_height(bins, at) > 10;
}

static bool bin_is_highest(const struct spacing_bin *bins, int at)
{
	for (int i = at - PEAK; i <= at + PEAK; i++)
		if (i >= 0 && i < BINS && bins[i].count > bins[at].count)
			return false;
	return true;
}

static int64_t bin_centre_ns(const struct spacing_bin *bins, int at)
{
	int64_t total_ns = 0, count = 0;

	for (int i = at - PEAK; i <= at + PEAK; i++)
		if (i >= 0 && i < BINS) {
			count += bins[i].count;
			total_ns += bins[i].total_ns;
		}
	return total_ns / count;
}

/* The multiples of a period stand out, too; those of a distance between two items that each have one do not. */
static bool is_repeated(const struct spacing_bin *bins, int64_t period_ns)
{
	int64_t at = 2 * period_ns / BIN_NS;

	return at + PEAK < BINS && (bin_stands_out(bins, (int)at - 1) || bin_stands_out(bins, (int)at + 1));
}

/* How far off an item may be: a bin is so precise. */
static int64_t tolerance_ns(double period_ns)
{
	return 6000 + (int64_t)(0.0005 * period_ns);
}

/* Nearly that of a period that was found before, or of its multiples: what it left, an early tick and the late one after it, has
 * such spacings. */
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

/* The shortest that stands out; 0: none. */
static int64_t find_period(const struct unexplained_period *periods, size_t n_before)
{
	const struct spacing_bin *bins = periods[n_before].spacings;

	for (int at = SHORTEST_NS / BIN_NS; at < BINS; at++) {
		int64_t ns;

		if (!bin_is_highest(bins, at) || !bin_stands_out(bins, at))
			continue;
		ns = bin_centre_ns(bins, at);
		if (is_repeated(bins, ns) && !is_multiple(ns, periods, n_before) &&
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

/* Whether enough of the items that a period would have around this one are there: a neighbour that chance puts there is not enough. */
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

static size_t count_periodic(const struct unexplained_item *items, size_t n, double period_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += is_periodic(items, n, i, period_ns);
	return count;
}

/* Twice as many as with periods that are wrong for certain. */
static bool period_holds(const struct unexplained_item *items, size_t n, double period_ns)
{
	size_t found = count_periodic(items, n, period_ns);
	size_t chance = (count_periodic(items, n, 0.73 * period_ns) +
				count_periodic(items, n, 1.37 * period_ns)) /
			2;

	return found > 2 * chance && found >= 2;
}

static void add_rest(struct unexplained *unexplained, const struct unexplained_item *item)
{
	unexplained->rest += item->whole;
	unexplained->rest_ns += item->length_ns;
}

void unexplained_add(struct unexplained *unexplained, const struct unexplained_item *all, size_t n_all)
{
	_cleanup_(freep) struct unexplained_item *room = xmalloc(2 * n_all * sizeof(*room));
	struct unexplained_item *items = room, *spare = room + n_all;
	size_t n = 0;

	for (size_t i = 0; i < n_all; i++)
		if (all[i].length_ns < LEAST_NS)
			add_rest(unexplained, &all[i]);
		else
			items[n++] = all[i];
	for (int i = 0; i < UNEXPLAINED_PERIODS; i++) { /* each among the items without those before it */
		struct unexplained_period *p = &unexplained->periods[i];
		struct unexplained_item *before = items;
		size_t n_rest = 0;

		add_spacings(p, items, n);
		if (!p->period_ns)
			p->period_ns = find_period(unexplained->periods, (size_t)i);
		if (!p->period_ns)
			break;
		p->period_ns = fundamental_ns(p->spacings, p->period_ns);
		if (!period_holds(items, n, (double)p->period_ns))
			continue;
		/* Counts the items that have the period, and moves the others to `rest`. Returns how many
		 * those are. */
		for (size_t k = 0; k < n; k++) {
			if (!is_periodic(items, n, k, (double)p->period_ns)) {
				spare[n_rest++] = items[k];
				continue;
			}
			p->items++;
			p->count += items[k].whole;
			p->total_ns += items[k].length_ns;
		}
		n = n_rest;
		items = spare;
		spare = before;
	}
	for (size_t i = 0; i < n; i++)
		add_rest(unexplained, &items[i]);
}

bool unexplained_period_is_firm(const struct unexplained_period *period)
{
	return period->items >= LEAST_COUNT;
}

struct unexplained_sums unexplained_sums(const struct unexplained *unexplained)
{
	struct unexplained_sums sums = {.rest = unexplained->rest, .rest_ns = unexplained->rest_ns};

	for (const struct unexplained_period *p = unexplained->periods;
		p < unexplained->periods + UNEXPLAINED_PERIODS; p++) {
		bool firm = unexplained_period_is_firm(p);

		*(firm ? &sums.periodic : &sums.rest) += p->count;
		*(firm ? &sums.periodic_ns : &sums.rest_ns) += p->total_ns;
	}
	return sums;
}
