/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms with buckets of variable width: see histogram.h. */
#include "lib/stats/histogram.h"

#include "lib/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PER_OCTAVE_LOG2 = 5 };

/* An octave has 32 buckets; values below 32 have one each. */
static void edges(int64_t value, int64_t *ret_low, int64_t *ret_high)
{
	int shift = 63 - __builtin_clzll((uint64_t)value | 1) - PER_OCTAVE_LOG2;

	shift = shift < 0 ? 0 : shift;
	*ret_low = value >> shift << shift;
	*ret_high = *ret_low + (INT64_C(1) << shift);
}

/* The first bucket whose values are all above `value`, or which holds it. */
static size_t find(const struct histogram *h, int64_t value)
{
	size_t low = 0, high = h->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (h->buckets[middle].high <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct histogram_bucket *insert(struct histogram *h, size_t at, int64_t value)
{
	struct histogram_bucket *bucket = h->buckets + at;

	if (at < h->n && bucket->low <= value)
		return bucket;
	if (!array_add(h->buckets, h->n))
		return NULL;
	bucket = h->buckets + at;
	memmove(bucket + 1, bucket, (h->n - 1 - at) * sizeof(*bucket));
	*bucket = (struct histogram_bucket){};
	edges(value, &bucket->low, &bucket->high);
	return bucket;
}

int histogram_add(struct histogram *h, int64_t value)
{
	struct histogram_bucket *bucket = insert(h, find(h, value), value);

	if (!bucket)
		return -ENOMEM;
	bucket->count++;
	bucket->total += value;
	h->count++;
	return 0;
}

int64_t histogram_quantile(const struct histogram *h, double share)
{
	double rest = share * (double)h->count;

	for (size_t i = 0; i < h->n; i++) {
		rest -= (double)h->buckets[i].count;
		if (rest <= 0)
			return h->buckets[i].total / h->buckets[i].count;
	}
	return 0;
}

void histogram_clear(struct histogram *h)
{
	free(h->buckets);
	*h = (struct histogram){};
}
