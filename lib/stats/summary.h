/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summary statistics of an array of times, as in the papers' tables; quantiles, the bulk and levels
 * of arrays; bounds of proportions; and sums that run along. */
#pragma once

#include "lib/base/base.h"

#include <math.h>

struct summary {
	size_t n;
	int64_t min_ns, max_ns;
	double mean_ns, median_ns;
	double sd_ns;          /* n - 1; 0 for n < 2 */
	double relative_error; /* sd / mean (EMP, Table XVIII) */
};

/* values_ns[n], in any order. n = 0 gives zeros. */
struct summary summary_of(const int64_t *values_ns, size_t n);

/* To be shown: what so few values do not say is not known (NAN). */
static inline double summary_mean(const struct summary *s)
{
	return s->n > 0 ? s->mean_ns : NAN;
}

static inline double summary_sd(const struct summary *s)
{
	return s->n > 1 ? s->sd_ns : NAN;
}

/* Location and width of the bulk of an array, however extreme a minority of its values is. */

/* In place. */
void sort_ascending(int64_t *values, size_t n);

/* The quantile p (0 to 1) of ascending values, interpolated (Hyndman & Fan 1996, type 7). n > 0. */
double quantile_of(const int64_t *ascending, size_t n, double p);

/* values[n], in any order. NAN: n = 0. */
double median_of(const int64_t *values, size_t n);

/* The shortest interval that contains half of the values (Rousseeuw & Leroy 1988). Unlike the MAD
 * it is not symmetric about the median, and so one long tail does not widen it. */
struct shorth {
	double middle;
	double sd; /* of normal values with a half this wide */
};

struct shorth shorth_of(const int64_t *ascending, size_t n); /* n > 0 */

/* The sd of normal values whose first and last deciles are as far apart: up to a tenth of outliers
 * on either side does not widen it. n > 0. */
double decile_sd_of(const int64_t *ascending, size_t n);

/* The lower end of the one-sided 95 % interval of k out of n (Wilson 1927); 0 for n = 0. */
double proportion_at_least(size_t k, size_t n);

/* The 95 % interval of the rate behind k out of n (Clopper & Pearson 1934), n > 0: right in 95 % of
 * cases at least, however few there are. */
void proportion_interval(size_t k, size_t n, double *ret_low, double *ret_high);

/* Two levels in a set of values, as of a machine with two speeds, in any order. */

struct two_levels {
	size_t n_low;     /* values in the lower one; 0: there are too few values */
	double low, high; /* medians */
	double apart;     /* their distance, in sd of the wider one */
};

/* The division of ascending values into two parts of at least `least` each that lie furthest apart
 * in terms of their own width. quantum: the step in which the values were recorded. */
struct two_levels two_levels_of(const int64_t *ascending, size_t n, size_t least, int64_t quantum);

/* Maximum, mean and sd of values in one pass, without storing them. */

struct running {
	uint64_t n;
	int64_t max_ns; /* -1: no value yet */
	double mean_ns, squares;
};

#define RUNNING_NONE ((struct running){.max_ns = -1})

/* Welford 1962. */
static inline void running_add(struct running *r, int64_t value_ns)
{
	double off = (double)value_ns - r->mean_ns;

	r->mean_ns += off / (double)++r->n;
	r->squares += off * ((double)value_ns - r->mean_ns);
	if (value_ns > r->max_ns)
		r->max_ns = value_ns;
}

/* Adds b to a (Chan, Golub & LeVeque 1983). */
static inline struct running running_join(const struct running *a, const struct running *b)
{
	double n = (double)(a->n + b->n), off = b->mean_ns - a->mean_ns;

	if (a->n == 0 || b->n == 0)
		return a->n == 0 ? *b : *a;
	return (struct running){
		.n = a->n + b->n,
		.max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns,
		.mean_ns = a->mean_ns + off * (double)b->n / n,
		.squares = a->squares + b->squares + off * off * (double)a->n * (double)b->n / n,
	};
}

static inline double running_sum(const struct running *r)
{
	return r->mean_ns * (double)r->n;
}

static inline double running_sum_of_squares(const struct running *r)
{
	return r->squares + r->mean_ns * running_sum(r);
}

static inline double running_sd(const struct running *r) /* n - 1; 0 for n < 2 */
{
	return r->n < 2 ? 0 : sqrt(r->squares / (double)(r->n - 1));
}

/* Gaps in a tail that the tail itself does not explain.
 *
 * In n values with an exponential tail, the gaps between the largest values, each multiplied by its
 * rank from the top, are independent and have the same mean (Rényi 1953). A gap much longer than
 * its inner neighbours is therefore a break between two populations. Values beyond a gap never
 * enter the estimate, so that many outliers do not mask one another (Burridge & Taylor 2006;
 * Wilkinson 2018). */

struct tail_gap {
	size_t beyond;  /* values beyond it */
	double size;    /* without what rounding may contribute */
	double longest; /* the longest that the gaps before it explain: size > longest is a break */
};

enum tail { TAIL_HIGH, TAIL_LOW };

/* The gaps in a tail of ascending values, from the innermost outwards; at most half of the values
 * are beyond the first. quantum: the step in which the values were recorded. alpha: the probability
 * of a false break. The caller frees them. */
struct tail_gap *spacings_gaps(const int64_t *ascending, size_t n, enum tail tail, int64_t quantum,
	double alpha, size_t *ret_n);

/* The largest step that all values are whole multiples of; 1 for n = 0. */
int64_t quantum_of(const int64_t *values, size_t n);
