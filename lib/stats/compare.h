/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two samples of times differ, by how much, and the minimum detectable difference. */
#pragma once

#include "lib/base/error.h"
#include "lib/stats/summary.h"

struct comparison {
	struct summary a, b;
	double ratio;                 /* mean of b / mean of a: above 1, b is slower */
	double ratio_low, ratio_high; /* its 95 % interval (Fieller 1954, unequal variances); NAN: none */
	double welch_t, welch_df,
		welch_p;       /* means equal? two-sided (Welch 1947); NAN where n < 2 or no variance */
	double mann_whitney_u; /* of b: pairs in which b is greater, ties count half */
	double mann_whitney_p; /* two-sided; exact for small samples without ties (Mann & Whitney 1947) */
	double smallest_difference; /* the minimum detectable difference of the means as a share of a's, with
				       power 0.8 at the level 0.05; NAN: unknown */
};

/* Times in ns, in any order, at least one each. -EINVAL: none, or the mean of a is 0; -ENOMEM. */
int compare(const int64_t *a_ns, size_t n_a, const int64_t *b_ns, size_t n_b, struct comparison *ret,
	struct error *err);
