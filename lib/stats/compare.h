/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two samples of times differ, by how much, and the minimum detectable difference. */
#pragma once

#include "lib/stats/comparison_verdict.h"
#include "lib/stats/summary.h"

/* The ratio of two times that were taken together, from the logarithms of the ratios of all pairs:
 * what slows both by the same factor cancels. */

struct log_ratio {
	size_t n;
	double mean, se; /* of log (b / a). NAN: se with n < 2 */
	double sd;       /* of one pair; NAN: n < 2 */
	double df;
	/* Hodges & Lehmann (1963), 95 % by signed ranks; NAN: n < 6, n > 2000 */
	double robust, robust_low, robust_high;
	/* the sd as if they had been taken in turn: by a of one pair and b of the next; NAN: n <
	 * 4 */
	double neighbours_sd;
};

/* Pairs in the order of time, all above 0. a_first (may be NULL): which of a pair started first,
 * which may matter: with two of each kind and more, the mean is that of both kinds' means, and the
 * sd is within them. */
struct log_ratio log_ratio_of(
	const int64_t *a_ns, const int64_t *b_ns, const bool *a_first, size_t n);

/* What is uncertain about a mean beside the scatter of the times. */
struct mean_error {
	double variance; /* 0: nothing */
	double df;       /* degrees of freedom, where there is something */
};

/* Adds such an error of the logarithm. */
void log_ratio_add_error(struct log_ratio *ratio, struct mean_error error);

/* Half the width of the interval of the mean at 1 - alpha, by Student's t; NAN: not known. */
double log_ratio_half(const struct log_ratio *ratio, double alpha);

/* How the samples were taken, which decides what chance may explain. */
enum design {
	DESIGN_SEPARATE,    /* in two runs, and how runs differ is not known: no verdict */
	DESIGN_BETWEEN,     /* in two runs, and how separate runs differ is known */
	DESIGN_PAIRS,       /* in turn: the values of a and b with one index are neighbours */
	DESIGN_INDEPENDENT, /* each by itself */
	DESIGN_DUET,        /* together: as pairs, and what slows both by the same factor cancels */
};

/* Of which times: CPU time or elapsed time. */
enum comparison_clock { COMPARISON_PT, COMPARISON_ET, N_COMPARISON_CLOCKS };

/* When both of a pair were taken, in any unit. */
struct sample_times {
	double a, b;
};

struct compare_plan {
	enum design design;
	/* DESIGN_BETWEEN: the sd of the means of separate runs, as a share of the mean */
	double between;
	double between_df;             /* the degrees of freedom of that estimate */
	const bool *a_first;           /* DESIGN_DUET: which of each pair started first */
	const struct sample_times *at; /* DESIGN_PAIRS: of each pair; NULL: not known */
	int64_t step_ns;               /* of the clock; 0 or 1: not known, and found in the times */
	/* DESIGN_DUET: at most so much of each mean, as a share, is what sharing the CPU's caches
	 * with the other added */
	double shared_a, shared_b;
	struct mean_error error_a, error_b; /* ns² */
};

struct comparison {
	enum comparison_clock clock;
	enum design design;
	/* One call took the samples, and fewer than two rounds are left of which both are kept, so
	 * that they are compared as separate runs. Set by the caller. */
	bool lost_pairs;
	/* Set by the caller, who knows more than the times; see comparison_verdict in
	 * lib/protocol/comparison.h. */
	struct comparison_rules rules;
	enum unmeasurable_cause unmeasurable;
	enum compared_work work;
	bool unconfirmed; /* chance explains such a difference in one of a suite: see suite.h */
	bool of_rates;    /* of loads: the ratio is that of times for the same work */
	struct summary a, b;
	double ratio; /* mean of b / mean of a: above 1, b is slower; of pairs, without the
			 machine's drift within them */
	/* its interval at 1 - alpha (Fieller 1954), from 0; to INFINITY where a's mean may be next
	 * to nothing; NAN: none */
	double ratio_low, ratio_high;
	double alpha;
	/* means equal? two-sided, by the design: paired, Welch's (1947), or between runs */
	double t, df, p;
	double p_adjusted; /* for several comparisons (Holm 1979) */
	/* as if all samples were independent; NAN where n < 2 or no variance */
	double welch_p;
	double mann_whitney_u; /* of b: pairs in which b is greater, ties count half */
	/* two-sided; all permutations for small samples (Mann & Whitney 1947) */
	double mann_whitney_p;
	/* the minimum detectable difference of the means as a share of a's, with power 0.8 at the
	 * level alpha; NAN: unknown */
	double smallest_difference;
	double mean_a, mean_b; /* that are compared: of pairs, without the drift */
	double variance_a, variance_b, covariance; /* of these means */
	double bias_a, bias_b;                     /* that the clock's steps may give them */
	double shared_a, shared_b;                 /* as in the plan */
	/* DESIGN_DUET: that of runs alone, where it disagrees and the interval goes as far; 0: it
	 * does not, or there are none. Set by the caller. */
	double ratio_in_turn;
	bool of_runs_alone; /* of the programs of a duet; set by the caller */
	int64_t step_ns; /* of the clock, as the times show it; 0: not asked */
	double between;  /* DESIGN_BETWEEN: as in the plan; else 0 */
	/* the variances of the means that more samples leave as they are, beside that between runs:
	 * they are in those above */
	double fixed_a, fixed_b;
	size_t n_between; /* the number of runs that it is known from; 0: not known */
	/* DESIGN_DUET: `ratio` is the geometric mean of the ratios; DESIGN_PAIRS: beside it */
	struct log_ratio log_ratio;
};

/* Times in ns, at least one each; in any order, except in pairs. -EINVAL: none, or the mean of a is
 * 0. */
int compare(const int64_t *a_ns, size_t n_a, const int64_t *b_ns, size_t n_b,
	const struct compare_plan *plan, struct comparison *ret, struct error *err);

/* How many standard errors a difference must have to be found by Student's t at the level alpha
 * with power 0.8. */
double detectable_difference(double df, double alpha);

/* Of a duet: how many standard errors its interval reaches beyond what the clock's steps and
 * sharing explain, at the comparison's level, if the logarithm has that standard error. */
double comparison_duet_quantile(const struct comparison *duet, double se, double df);

/* Adjusts the p-values, the intervals and the minimum detectable differences of comparisons that
 * are made at once, so that in 95 of 100 cases none of them shows a difference that does not exist
 * (Holm 1979). */
void comparisons_adjust(struct comparison *const *comparisons, size_t n);
