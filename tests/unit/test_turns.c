/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Balanced orders of programs. */
#include "tests/unit/check.h"

#include "lib/run/turns.h"

enum { MOST = 9 };

TEST(two_programs_begin_a_round_alternately)
{
	size_t order[2];

	for (uint64_t round = 0; round < 6; round++) {
		turns_balanced(order, 2, round);
		assert_int_equal(order[0], round % 2);
		assert_int_equal(order[1], 1 - round % 2);
	}
}

TEST(every_two_rounds_a_linear_drift_cancels_out_of_every_program)
{
	for (size_t n = 1; n <= MOST; n++)
		for (uint64_t round = 0; round < 4 * n; round += 2) {
			size_t order[MOST], sums[MOST] = {};

			for (uint64_t k = round; k < round + 2; k++) {
				turns_balanced(order, n, k);
				for (size_t i = 0; i < n; i++)
					sums[order[i]] += i;
			}
			for (size_t i = 0; i < n; i++)
				assert_int_equal(sums[i], n - 1);
		}
}

TEST(after_all_rounds_each_has_followed_every_other_equally_often_in_every_place)
{
	for (size_t n = 2; n <= MOST; n++) {
		size_t order[MOST], places[MOST][MOST] = {}, after[MOST][MOST] = {};

		for (uint64_t round = 0; round < 2 * n; round++) {
			turns_balanced(order, n, round);
			for (size_t i = 0; i < n; i++) {
				places[order[i]][i]++;
				if (i > 0)
					after[order[i - 1]][order[i]]++;
			}
		}
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++) {
				assert_int_equal(places[i][k], 2);
				assert_int_equal(after[i][k], i == k ? 0 : 2);
			}
	}
}
