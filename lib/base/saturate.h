/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums and products of times and counts from books, documents and systemd, which anybody may have written: results that
 * would overflow are the greatest number. */
#pragma once

#include <stdint.h>

static inline int64_t saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Of two that are not negative. */
static inline int64_t saturate_multiply(uint64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
