/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many samples are enough, and what so many show.
 *
 * Of one run (EMPv6, Tables XX to XXIV): the first half, quarter, ... of it, each discarded from as
 * if it were the whole; and how many a given precision needs.
 *
 * Of a machine: the minimum detectable difference between two means of n samples, which would be
 * found with power 0.8 at the level 0.05, estimated from the machine's own runs of INC.
 *
 * Of separate runs: how much the mean of a program varies from one run to the next. Successive
 * samples share the state of the machine (its frequency, its neighbours, where things are in
 * memory), so that the spread within a run says little about it (Kalibera & Jones 2013). */
#pragma once

#include "lib/protocol/discard.h"
#include "lib/record/profile.h"

struct sample_size {
	size_t n;
	size_t by_cutoff; /* and incomplete ones */
	size_t by_two_sd;
	double mean_ns, sd_ns;  /* of the samples kept; NAN: too few are */
	size_t blocks;          /* how many disjoint blocks of this size the run has */
	double blocks_sd_ns;    /* their mean sd; NAN: not known of one of them */
	double blocks_outliers; /* the mean share of their samples that is discarded */
	bool judged; /* it is the whole run, or has several blocks: a single one says too little */
	/* the sd of the blocks is within 10 % of the whole run's, and their outliers are within 2.5
	 * points, or one sample */
	bool close;
};

enum { N_HALF_WIDTHS = 4 };
extern const double sample_size_half_widths[N_HALF_WIDTHS]; /* as shares of the mean */

struct sample_sizes {
	struct sample_size rows[64]; /* from the whole run down */
	size_t n;
	/* the smallest size for which this and all larger sizes that are judged are close; at most
	 * the whole run */
	size_t suggested;
	/* samples for a 95 % CI of that half width; NAN: not known, or the clock is too coarse */
	double needed[N_HALF_WIDTHS];
	double step_ns; /* of a clock that is too coarse; 0: it is not */
};

/* Of one clock. discarding must be of these samples. */
int sample_sizes_find(struct sample_sizes *ret, const struct discarding *discarding,
	const struct sample *samples, size_t n, bool et, struct error *err);

/* From the PTs of a run, without its L-samples: for each size, from the means of all its disjoint
 * blocks. Sizes with fewer than five blocks are left unknown. */
void mdd_find(struct mdd ret[N_MDD], const struct analysis *analysis);

/* Fills in `duet` of the rows that are known, from the logarithms of the ratios of two equal
 * programs that alternated, of which the first one started first in every other round. Fewer than
 * six say nothing. */
void mdd_add_duet(struct mdd rows[N_MDD], const double *log_ratios, size_t n);

/* Of the PTs of the same samples, by their ranks. */
struct correlation correlation_find(const struct analysis *analysis);

/* From the runs of one program, by their start, and those of another (NULL: none). `without` are
 * the runs that are compared. They do not count, nor do runs at the same time, nor runs of fewer
 * than five samples. Fewer than two degrees of freedom: not known. */
struct run_variation run_variation_find(const struct run_means *a, const struct run_means *b,
	const struct run_mean *without, size_t n_without);
