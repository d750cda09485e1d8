/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of the programs in a round: see turns.h. */
#include "lib/run/turns.h"

void turns_balanced(size_t *order, size_t n, uint64_t round)
{
	size_t row = (size_t)(round / 2 %
			      (n % 2 ? n
				     : n / 2)); /* of an even n, the others are these backwards */

	/* 0, 1, n - 1, 2, n - 2, ...: each step has another length, and so each program another one
	 * before it in every row */
	for (size_t i = 0; i < n; i++) {
		size_t step = i % 2 ? (i + 1) / 2 : n - i / 2;

		order[round % 2 ? n - 1 - i : i] = (step + row) % n;
	}
}
