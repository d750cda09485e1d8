/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms: see histogram.h. */
#include "lib/jitter/histogram.h"

enum { PER_OCTAVE_LOG2 = 5 };

/* The first bucket whose values are all above `value`, or which holds it. */
static size_t find_bucket(const struct histogram *h, int64_t value)
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

/* The edges of the bucket of a value: an octave has 32 buckets; values below 32 have one each. */
static struct histogram_bucket empty_bucket(int64_t value)
{
	int shift = 63 - __builtin_clzll((uint64_t)value | 1) - PER_OCTAVE_LOG2;
	struct histogram_bucket bucket = {};

	shift = shift < 0 ? 0 : shift;
	bucket.low = value >> shift << shift;
	bucket.high = bucket.low + (INT64_C(1) << shift);
	return bucket;
}

void histogram_add(struct histogram *h, int64_t value)
{
	size_t at = find_bucket(h, value);
	struct histogram_bucket *bucket;

	if (at == h->n || h->buckets[at].low > value) { /* a new one before it */
		array_add(h->buckets, h->n);
		bucket = h->buckets + at;
		memmove(bucket + 1, bucket, (h->n - 1 - at) * sizeof(*bucket));
		*bucket = empty_bucket(value);
	}
	bucket = h->buckets + at;
	bucket->count++;
	bucket->total += value;
	h->count++;
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
