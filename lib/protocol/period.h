/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon is periodic (EMP, step 6): the samples in which it ran long are one period apart, and no occurrence
 * is missing before the first or after the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct period {
	size_t occurrences; /* consecutive samples count once */
	double samples;     /* from one occurrence to the next, their median; 0: no period */
	bool firm;          /* three occurrences or more */
};

/* occurrences: ascending sample numbers. n: samples of the run. */
struct period period_find(const uint32_t *occurrences, size_t n_occurrences, size_t n);
