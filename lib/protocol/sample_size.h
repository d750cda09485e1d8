/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples would have been enough (EMPv6, Tables XX to XXIV): the first half, quarter, ... of a run,
 * each discarded from as if it were the whole. */
#pragma once

#include "lib/protocol/discard.h"

struct sample_size {
	size_t n;
	size_t by_cutoff; /* and incomplete ones */
	size_t by_two_sd;
	double mean_ns, sd_ns; /* of the samples kept */
	bool close; /* sd within 10 % of the whole run's, outliers within 2.5 points or one sample */
};

struct sample_sizes {
	struct sample_size *rows; /* from the whole run down */
	size_t n;
	size_t suggested; /* the smallest size for which this and all larger sizes are close; at most the whole run */
};

/* Of one clock. discarding must be of these samples. */
int sample_sizes_find(struct sample_sizes *ret, const struct discarding *discarding,
	const struct sample *samples, size_t n, bool et, struct error *err);
void sample_sizes_clear(struct sample_sizes *sizes);
