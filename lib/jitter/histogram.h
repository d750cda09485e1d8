/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of lengths, in buckets whose width grows with the length, at most a thirty-second of
 * it, with the same edges in every histogram. Only buckets that hold something take memory, so that
 * there can be one for each of thousands of sources. */
#pragma once

#include "lib/base/base.h"

struct histogram_bucket {
	int64_t low, high; /* low <= value < high */
	int64_t count, total;
};

struct histogram {
	struct histogram_bucket *buckets; /* ascending */
	size_t n;
	int64_t count;
};

/* value >= 0. */
void histogram_add(struct histogram *histogram, int64_t value);

/* The mean of the bucket that holds this share of the values (0.5: the median); 0 if there are
 * none. */
int64_t histogram_quantile(const struct histogram *histogram, double share);

/* Frees the buckets. */
void histogram_clear(struct histogram *histogram);
