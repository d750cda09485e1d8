/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ratio of two times that were taken together, from the logarithms of the ratios of all pairs: what slows both by the
 * same factor cancels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_ratio {
	size_t n;
	double mean, se; /* of log (b / a). NAN: se with n < 2 */
	double sd;       /* of one pair; NAN: n < 2 */
	double df;
	double robust, robust_low,
		robust_high; /* Hodges & Lehmann (1963), 95 % by signed ranks; NAN: n < 6, n > 2000 */
	double neighbours_sd; /* of a of one pair and b of the next: as if they had been taken in turn; NAN: n < 4 */
};

/* Pairs in the order of time, all above 0. a_first (may be NULL): which of a pair started first, which may matter: with two
 * of each kind and more, the mean is that of both kinds' means, and the sd is within them. -ENOMEM */
int log_ratio_of(
	const int64_t *a_ns, const int64_t *b_ns, const bool *a_first, size_t n, struct log_ratio *ret);

/* Half the width of the interval of the mean at 1 - alpha, by Student's t; NAN: not known. */
double log_ratio_half(const struct log_ratio *ratio, double alpha);
double log_ratio_p(const struct log_ratio *ratio); /* that the mean is 0; two-sided */
