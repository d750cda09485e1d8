/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a series: the level of its last run against that of an earlier run, the reference. */
#pragma once

#include "lib/trend/change_points.h"

enum trend_verdict { TREND_CANNOT_TELL, TREND_EQUAL, TREND_FASTER, TREND_SLOWER, N_TREND_VERDICTS };
extern const char *const trend_verdict_names[N_TREND_VERDICTS];

struct trend_judgement {
	enum trend_verdict verdict;
	bool shown; /* the change is one of steps, or of a drift; otherwise no change is shown since the reference */
	size_t last, of;            /* if not: that of so many last values, against the others of so many */
	struct level_change change; /* in logarithms; INFINITY: too few values */
	double detectable; /* if not shown: the change that would have been found, of the last values; INFINITY: none */
	double allowed; /* a ratio less 1 */
};

/* Of the last value against that at `reference`. fail_if_slower: a ratio less 1; below 0: not given. */
struct trend_judgement trend_judge(const struct levels *levels, size_t reference, double fail_if_slower);
