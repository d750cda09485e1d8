/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon is periodic (EMP, step 6): the samples in which it ran long are one period
 * apart, and no occurrence is missing before the first or after the last. It knows the samples in
 * which the daemon ran long, and nothing else of it. */
#pragma once

#include "lib/base/base.h"

/* Gaps may differ from the period by this share of it. */
#define PERIOD_SLACK 0.05

struct period {
	size_t occurrences; /* consecutive samples count once */
	/* from one occurrence to the next, their median; 0: not found in sample numbers */
	double samples;
	double ns;     /* the same in time; 0: not found in time */
	double chance; /* that the same number of random occurrences looks as periodic */
	bool firm;     /* three occurrences or more, and a chance below 5 % */
};

/* From when to when a sample ran. */
struct sample_span {
	int64_t from_ns, to_ns;
};

/* The period of a daemon that ran long in these samples of a run of n, in time or in sample
 * numbers. In time, the occurrences are indexes into `samples`; each sample starts after the one
 * before, and not before that one ends. With samples NULL they are numbers of samples. Both are
 * ascending. */
struct period period_find(const uint32_t *occurrences, size_t n_occurrences,
	const struct sample_span *samples, size_t n);

static inline bool period_is_known(const struct period *period)
{
	return period->samples > 0 || period->ns > 0;
}
