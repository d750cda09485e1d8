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
	double chance;      /* that the same number of random occurrences looks as periodic */
	bool firm;          /* three occurrences or more, and a chance below 5 % */
};

/* occurrences: ascending sample numbers. n: samples of the run. */
struct period period_find(const uint32_t *occurrences, size_t n_occurrences, size_t n);

/* "firm (7 times; by chance in under 0.1 %)". Returns `buffer`. */
enum { PERIOD_WHY_SIZE = 96 };
char *period_why(char buffer[PERIOD_WHY_SIZE], const struct period *period);
