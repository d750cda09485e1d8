/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the time of a program grows with the size of its work: which of n, n log n, n^2 and n^3
 * explains the times, as time = constant + factor * growth(size).
 *
 * The constant (0 or more) is what the program takes before its work: being loaded, and reading its
 * input. Beside the samples' errors, sizes deviate from any formula, because of caches and
 * alignment; by how much is found in the times. All of these are integrated out on the log scale
 * (a Bayes factor: Kass & Raftery 1995), so that a formula that needs a particular constant to fit
 * counts for less than one that fits with any small one. tests/bench/complexity.c shows how often
 * the conclusion is right. Where work outgrows a cache little by little, each step takes longer, and
 * times of n may look like n log n. */
#pragma once

#include "lib/base/base.h"

enum growth { GROWTH_N, GROWTH_N_LOG_N, GROWTH_N2, GROWTH_N3, N_GROWTHS };

/* "n", "n log n", "n^2", "n^3" */
extern const char *const growth_names[N_GROWTHS];

struct sized_time {
	double size; /* 2 or more */
	double time; /* the mean, above 0, in any unit */
	/* standard error of the mean, in the unit of `time`; 0: not known */
	double error;
};

/* time = constant + factor * growth(size), the most probable one. */
struct growth_curve {
	double constant, factor;
	double residual_sd; /* of log(time) from log(curve): 0.05 is 5 %; NAN: fewer than 3 sizes */
	double probability; /* among the four, which are equally probable beforehand */
};

enum complexity_verdict {
	COMPLEXITY_KNOWN,       /* `best` explains the times, and no other does */
	COMPLEXITY_CANNOT_TELL, /* several do, or there are fewer than 3 sizes: those `possible` */
	COMPLEXITY_OTHER,       /* none does: the residuals of each are above a half */
};

struct complexity {
	struct growth_curve curves[N_GROWTHS];
	enum growth best;
	bool possible[N_GROWTHS];
	enum complexity_verdict verdict;
	/* of time = constant + factor * size^exponent, with its 95 % interval; NAN: fewer than 3
	 * sizes, or the time does not grow */
	double exponent, exponent_low, exponent_high;
};

/* n sizes in any order; a size may occur several times. -EINVAL with a sentence: no times, a size
 * below 2, or a time that is not above 0. */
int complexity_of(
	const struct sized_time *times, size_t n, struct complexity *ret, struct error *err);

/* The value of the curve at a size: the residual is time / this - 1. */
double growth_curve_at(const struct growth_curve *curve, enum growth growth, double size);
