/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periods in what no event explains: see residue.h. */
#include "lib/jitter/residue.h"

#include "lib/base/array.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <math.h>

enum {
	LEAST_NS = 2000, /* shorter ones are the processor's own */
	LAGS = 6,        /* spacings from one item: to the next, the one after it … */
	SHORTEST_NS = 50000,
	LONGEST_NS = 200000000,
	MULTIPLES = 3,  /* of the period, at which another item confirms one */
	NEIGHBOURS = 8, /* buckets to each side, from which chance is estimated */
	LEAST_COUNT = 20,
};

void residue_clear(struct residue *residue)
{
	histogram_clear(&residue->spacings);
	histogram_clear(&residue->lengths);
}

static int add_spacings(struct residue *residue, const struct residue_item *items, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 1; r == 0 && k <= LAGS && i + k < n; k++) {
			int64_t spacing = items[i + k].start_ns - items[i].start_ns;

			if (spacing >= SHORTEST_NS && spacing <= LONGEST_NS)
				r = histogram_add(&residue->spacings, spacing);
		}
	return r;
}

/* Of spacings per ns, in the buckets on both sides that are not next to it; empty buckets are part of the range. */
static double around(const struct histogram *h, size_t at)
{
	const struct histogram_bucket *middle = &h->buckets[at];
	int64_t width = middle->high - middle->low;
	int64_t low = middle->low - NEIGHBOURS * width, high = middle->high + NEIGHBOURS * width, count = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct histogram_bucket *b = &h->buckets[i];

		if (b->low >= low && b->high <= high &&
			(b->high <= middle->low - width || b->low >= middle->high + width))
			count += b->count;
	}
	return (double)count / (double)(2 * (NEIGHBOURS - 1) * width);
}

/* The bucket and those next to it: a period near an edge is in two. */
static int64_t cluster_count(const struct histogram *h, size_t at, int64_t *ret_total)
{
	int64_t count = 0;

	*ret_total = 0;
	for (size_t i = at ? at - 1 : 0; i < h->n && i <= at + 1; i++) {
		const struct histogram_bucket *b = &h->buckets[i], *middle = &h->buckets[at];

		if (b->high < middle->low || b->low > middle->high)
			continue;
		count += b->count;
		*ret_total += b->total;
	}
	return count;
}

/* Whether so many cannot be chance: five times as many as around it, and ten standard deviations above that (Poisson). */
static bool stands_out(const struct histogram *h, size_t at, int64_t count)
{
	const struct histogram_bucket *b = &h->buckets[at];
	double expected = around(h, at) * (double)(3 * (b->high - b->low));

	return count >= LEAST_COUNT && (double)count > 5 * expected &&
	       (double)count - expected > 10 * sqrt(expected + 1);
}

static size_t largest(const struct histogram *h)
{
	size_t best = 0;

	for (size_t i = 1; i < h->n; i++)
		if (h->buckets[i].count > h->buckets[best].count)
			best = i;
	return best;
}

/* The shortest that stands out and has at least half of what the largest has: multiples of a period stand out, too. */
int64_t residue_period(const struct histogram *h)
{
	int64_t most = 0, total;

	if (h->n == 0)
		return 0;
	most = cluster_count(h, largest(h), &total);
	for (size_t i = 0; i < h->n; i++) {
		int64_t count = cluster_count(h, i, &total);
		bool peak = (i == 0 || h->buckets[i].count >= h->buckets[i - 1].count) &&
			    (i + 1 == h->n || h->buckets[i].count >= h->buckets[i + 1].count);

		if (peak && count >= most / 2 && stands_out(h, i, count))
			return total / count;
	}
	return 0;
}

/* Whether an item starts within `within` of `at`. */
static bool has_item(const struct residue_item *items, size_t n, int64_t at, int64_t within)
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

static bool is_periodic(const struct residue_item *items, size_t n, size_t i, double period_ns)
{
	int64_t within = (int64_t)(0.006 * period_ns);

	within = within > 6000 ? within : 6000;
	for (int k = 1; k <= MULTIPLES; k++) {
		int64_t off = (int64_t)(k * period_ns);

		if (has_item(items, n, items[i].start_ns - off, within) ||
			has_item(items, n, items[i].start_ns + off, within))
			return true;
	}
	return false;
}

static size_t count_periodic(const struct residue_item *items, size_t n, double period_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += is_periodic(items, n, i, period_ns);
	return count;
}

/* Twice as many as with periods that are wrong for certain. */
static bool period_holds(const struct residue_item *items, size_t n, double period_ns)
{
	size_t found = count_periodic(items, n, period_ns);
	size_t chance = (count_periodic(items, n, 0.73 * period_ns) +
				count_periodic(items, n, 1.37 * period_ns)) /
			2;

	return found > 2 * chance && found >= 2;
}

static void add_periodic(struct residue *residue, const struct residue_item *item)
{
	residue->periodic += item->whole;
	residue->periodic_ns += item->length_ns;
}

static int add_unexplained(struct residue *residue, const struct residue_item *item)
{
	residue->unexplained += item->whole;
	residue->unexplained_ns += item->length_ns;
	return item->whole ? histogram_add(&residue->lengths, item->length_ns) : 0;
}

static int add_longer(struct residue *residue, const struct residue_item *items, size_t n)
{
	int r = add_spacings(residue, items, n);
	bool holds;

	if (r < 0)
		return r;
	residue->period_ns = residue_period(&residue->spacings);
	holds = residue->period_ns && period_holds(items, n, (double)residue->period_ns);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (holds && is_periodic(items, n, i, (double)residue->period_ns))
			add_periodic(residue, &items[i]);
		else
			r = add_unexplained(residue, &items[i]);
	return r;
}

int residue_add(struct residue *residue, const struct residue_item *items, size_t n)
{
	_cleanup_(freep) struct residue_item *longer = NULL;
	size_t n_longer = 0, capacity = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct residue_item *item = NULL;

		if (items[i].length_ns < LEAST_NS) {
			r = add_unexplained(residue, &items[i]);
			continue;
		}
		item = array_add_reused(longer, n_longer, capacity);
		if (!item)
			return -ENOMEM;
		*item = items[i];
	}
	return r < 0 ? r : add_longer(residue, longer, n_longer);
}

void residue_shorter(const struct residue *residue, int64_t below_ns, int64_t *ret_count, int64_t *ret_ns)
{
	const struct histogram *h = &residue->lengths;

	*ret_count = *ret_ns = 0;
	for (size_t i = 0; i < h->n && h->buckets[i].high <= below_ns; i++) {
		*ret_count += h->buckets[i].count;
		*ret_ns += h->buckets[i].total;
	}
}
