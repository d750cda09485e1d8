/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a daemon is periodic (EMP, step 6): the samples in which it ran long are one period apart, and no occurrence
 * is missing before the first or after the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct period {
	size_t occurrences; /* consecutive samples count once */
	double samples; /* from one occurrence to the next, their median; 0: not found in sample numbers */
	double ns;      /* the same in time; 0: not found in time */
	double chance;  /* that the same number of random occurrences looks as periodic */
	bool firm;      /* three occurrences or more, and a chance below 5 % */
};

/* occurrences: ascending sample numbers. n: samples of the run. */
struct period period_find(const uint32_t *occurrences, size_t n_occurrences, size_t n);

/* When a sample was. */
struct sample_span {
	int64_t from_ns, to_ns;
};

/* occurrences: ascending indexes into the samples, each of which starts after the one before, and not before that ends. */
struct period period_find_in_time(
	const uint32_t *occurrences, size_t n_occurrences, const struct sample_span *samples, size_t n);

static inline bool period_is_known(const struct period *period)
{
	return period->samples > 0 || period->ns > 0;
}

/* "firm (7 times; by chance in under 0.1 %)". Returns `buffer`. */
enum { PERIOD_WHY_SIZE = 96 };
char *period_why(char buffer[PERIOD_WHY_SIZE], const struct period *period);
