/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine can resolve: the difference between two means of n samples that would be found with power 0.8 at the
 * level 0.05, estimated from the machine's own runs of INC. */
#pragma once

#include "lib/protocol/analysis.h"

/* From the PTs of a run, without its L-samples: for each size, from the means of all its disjoint blocks. Sizes with
 * fewer than five blocks are left unknown. -ENOMEM. */
int resolving_find(struct resolving ret[N_RESOLVING], const struct analysis *analysis);

/* Fills in `duet` of the rows that are known, from the logarithms of the ratios of two equal programs that alternated, of which the first
 * one started first in every other round. Fewer than six say nothing. */
void resolving_add_duet(struct resolving rows[N_RESOLVING], const double *log_ratios, size_t n);

/* Of the PTs of the same samples, by their ranks. -ENOMEM. */
int correlation_find(struct correlation *ret, const struct analysis *analysis);

/* The row for the largest size up to n; NULL: none is known. */
const struct resolving *resolving_for(const struct resolving rows[N_RESOLVING], size_t n);
