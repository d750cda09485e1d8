/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison: see compare_input.h. */
#include "analyze/compare_input.h"

void compare_input_clear(struct compare_input *side)
{
	free(side->name);
	free(side->profile);
	free(side->digest);
	free(side->call);
	discarding_clear(&side->discarding);
	for (size_t i = 0; i < N_COMPARISON_CLOCKS; i++)
		comparison_side_clear(&side->sides[i]);
}
