/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test of Mann and Whitney: whether the values of one sample tend to be greater than those of another, whatever
 * their distribution. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* u: pairs in which b is greater, ties count half. p: two-sided, from all permutations of the ranks, tied or not, for
 * up to 40 values together; else normal. At least one value each. -ENOMEM. */
int mann_whitney(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b, double *ret_u, double *ret_p);
