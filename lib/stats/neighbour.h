/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much a neighbour slows a program down, and what its times would be without one. A neighbour
 * is whoever uses the other hardware thread of the core (lib/host/cpu/neighbour.h); each sample has
 * the share of its time that had one.
 *
 * While it has a neighbour, a program loses the share k of its speed, its slope: of 0.25, it takes
 * a third longer. A sample with the neighbour in a share s of its time did the work of time * (1 -
 * k * s). Speeds were measured to be linear in s for xz, gzip, sha256sum, perl, python and sort,
 * whose k was 0.23 to 0.42, and 0.08 for a loop that hardly branches. k is a property of the
 * program, but neighbours differ: it varies by a tenth or more of itself from one to the next. */
#pragma once

#include "lib/stats/time_series.h"

struct neighbour_sample {
	size_t run; /* any number; the samples of a run stand together, in the order of time */
	int64_t time_ns;
	double share, share_error; /* 0 to 1, and its standard error */
};

struct neighbour_slope {
	/* 0 to NEIGHBOUR_MOST_SLOPE; the standard error of what it will be in another run, beside
	 * other neighbours; the degrees of freedom of that */
	double k, error, df;
};

#define NEIGHBOUR_MOST_SLOPE 0.75
/* The degrees of freedom of a slope that was stored without them: about those of three runs. */
#define NEIGHBOUR_STORED_DF 7.0

/* Of a program of which nothing is known. */
extern const struct neighbour_slope neighbour_slope_unknown;

/* The time without the neighbour. */
static inline double neighbour_without(double time_ns, double share, double k)
{
	return time_ns * (1 - k * share);
}

/* The slope of one program from all its runs. What differs between runs for other reasons does not
 * count: only differences within runs do. Few samples, or samples with equal shares, leave it
 * about as unknown as before. Samples with a time of 0 are ignored. n may be 0. */
struct neighbour_slope neighbour_slope_learn(const struct neighbour_sample *samples, size_t n);

/* What is left of the times of a run's samples without the neighbour. */
struct neighbour_adjustment {
	/* as used: from earlier runs, and from these samples as far as their shares differ */
	struct neighbour_slope slope;
	double mean_share; /* weighted by time */
	double variance;   /* ns², of the mean, from the error of the slope */
};

/* Of one run, or of those of its samples that are left. `earlier`: what other runs say of the
 * slope, or &neighbour_slope_unknown. ret_ns[n]: the times without the neighbour. n > 0. */
struct neighbour_adjustment neighbour_adjust(const struct neighbour_sample *samples, size_t n,
	const struct neighbour_slope *earlier, int64_t *ret_ns);

/* The interval of the mean of adjusted times, by the scatter of these (interval_of_mean), with the
 * error of the slope. */
struct interval neighbour_interval(
	const struct neighbour_adjustment *adjustment, double mean_ns, struct interval by_scatter);
