/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples would have been enough (EMPv6, Tables XX to XXIV): the first half, quarter, ... of a run,
 * each discarded from as if it were the whole; and how many a given precision needs. */
#pragma once

#include "lib/protocol/discard.h"

struct sample_size {
	size_t n;
	size_t by_cutoff; /* and incomplete ones */
	size_t by_two_sd;
	double mean_ns, sd_ns; /* of the samples kept */
	size_t blocks;         /* disjoint ones of this size in the run; those below are theirs, on average */
	double blocks_sd_ns, blocks_outliers; /* sd; share of samples discarded */
	bool judged; /* the whole run, or several blocks: a single one says too little */
	bool close;  /* both within 10 % and 2.5 points, or one sample, of the whole run's */
};

enum { N_HALF_WIDTHS = 4 };
extern const double sample_size_half_widths[N_HALF_WIDTHS]; /* as shares of the mean */

struct sample_sizes {
	struct sample_size *rows; /* from the whole run down */
	size_t n;
	size_t suggested; /* the smallest size for which this and all larger sizes that are judged are close; at most the whole run */
	double needed[N_HALF_WIDTHS]; /* samples for a 95 % CI of that half width; NAN: not known */
};

/* Of one clock. discarding must be of these samples. */
int sample_sizes_find(struct sample_sizes *ret, const struct discarding *discarding,
	const struct sample *samples, size_t n, bool et, struct error *err);
void sample_sizes_clear(struct sample_sizes *sizes);
