/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples in blocks: means and variances of samples that were taken in several blocks, in random
 * order, each under one setting; what a step from one setting to another changes; and where the
 * variance of all samples comes from.
 *
 * The model is hierarchical: a sample is the mean of its setting, plus the deviation of its block
 * (the state of the machine at that time, random), plus its own. The variance of a sample is that
 * of both. Intervals are those of the generalized pivotal quantities (Weerahandi 1993): mean
 * squares are drawn from their distributions given the data. Times are not normal, and a mean
 * square of times with long tails has fewer degrees of freedom than its samples: Box's (1953).
 * Those of sd, CV and of the variance that a step removes are also those of a bootstrap of the
 * blocks, whichever is wider, since one long sample may make most of a variance. */
#pragma once

#include "lib/base/base.h"

/* Times of one block, in the order of time. */
struct time_block {
	int round; /* blocks of one round are near to each other in time */
	int64_t *times_ns;
	size_t n;
};

struct time_blocks {
	struct time_block *items;
	size_t n;
};

/* Appends an empty block, or returns the last one if it is that one. */
struct time_block *time_blocks_add(struct time_blocks *blocks, int round);
void time_block_append(struct time_block *block, int64_t time_ns);
/* All times, one block after another; the caller frees them. */
int64_t *time_blocks_join(const struct time_blocks *blocks, size_t *ret_n);
void time_blocks_clear(struct time_blocks *blocks);

/* NAN: not known. */
struct block_interval {
	double low, high; /* at 95 % */
};

struct block_summary {
	size_t n_blocks, n; /* blocks with samples, samples */
	double mean_ns;     /* of the means of the blocks */
	double error_ns;    /* the standard error of the mean; NAN: one sample */
	struct block_interval mean_interval;
	double sd_ns; /* of a sample in any block; NAN: one sample */
	struct block_interval sd_interval;
	double cv; /* sd / mean */
	struct block_interval cv_interval;
	int64_t min_ns, max_ns;

	/* The variance of the means of blocks, and that within them, with their degrees of freedom;
	 * 0: not known, as of one block. */
	double of_means, of_means_df;
	double within, within_df;
	double per_block; /* samples of a block: the harmonic mean */
};

/* All are known from two blocks of two samples on. Of one block, the variance between blocks is
 * taken for 0. */
struct block_summary block_summary_of(const struct time_blocks *blocks);

/* A step of settings: what it changes in the times of one program, or of several. Before and after
 * are compared within each round, since the machine drifts. */
struct round_ratio {
	double ratio; /* after / before; NAN: no round has both */
	struct block_interval interval;
	double p; /* that the step changes nothing; NAN: fewer than two rounds */
};

struct step_effect {
	struct round_ratio time;   /* of the means of blocks */
	struct round_ratio spread; /* of how far the samples of a block are from their median */
};

/* before[n], after[n]: of n programs, each of which counts as much as another. */
struct step_effect step_effect_of(
	const struct time_blocks *before, const struct time_blocks *after, size_t n);

struct variance_share {
	double share; /* NAN: not known */
	struct block_interval interval;
};

struct step_shares {
	/* of the first setting's variance, that the step removes; below 0: it adds some */
	struct variance_share removed;
	/* of the variance of samples before and after it, as many of each, that the change of the
	 * mean explains */
	struct variance_share explained;
};

/* Of one program. first: the setting whose variance is the whole; it may be `before`. */
struct step_shares step_shares_of(const struct time_blocks *before, const struct time_blocks *after,
	const struct time_blocks *first);

/* Where the variance of all samples of some settings, as many of each, comes from. */
enum variance_part { VARIANCE_SETTINGS, VARIANCE_BLOCKS, VARIANCE_SAMPLES, N_VARIANCE_PARTS };

struct variance_shares {
	struct variance_share parts[N_VARIANCE_PARTS];
};

struct variance_shares variance_shares_of(const struct time_blocks *settings, size_t n);

/* Of several p-values, whether each is below `level` adjusted for their number (Holm 1979).
 * NAN: never. */
void p_values_judge(const double *p, size_t n, double level, bool *ret);
