/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a series: the level of its last run against that of an earlier run, the
 * reference. */
#pragma once

#include "lib/stats/comparison_verdict.h"
#include "lib/trend/change_points.h"

struct trend_judgement {
	enum comparison_verdict verdict;
	/* the change is one of steps, or of a drift; otherwise no change is shown since the
	 * reference */
	bool shown;
	/* if not: that of so many last values, against the others of so many */
	size_t last, of;
	struct level_change change; /* in logarithms; INFINITY: too few values */
	/* if not shown: the change that would have been found, of the last values; INFINITY:
	 * none */
	double detectable;
	/* If it cannot be told: with how many more values at the present level it should be, in
	 * four cases of five. INFINITY: more do not help; NAN: not known. */
	double missing;
};

/* Of the last value against that at `reference`. If no change is shown since, the last five values
 * of the level are compared with those before; if their interval is wider than three quarters of
 * what is allowed, as many more, up to half of them, as make it half of that. Two or more outliers
 * in a row at the end that differ by more than is allowed may be a level to come: they alone are
 * compared, and it cannot be told, unless the values before them are slower already. */
struct trend_judgement trend_judge(
	const struct levels *levels, size_t reference, const struct comparison_rules *rules);
