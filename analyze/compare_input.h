/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of emp-analyze compare. compare_run.c makes it of a run in the book, compare_document.c
 * of a result in a document. */
#pragma once

#include "lib/protocol/disturbances.h"
#include "lib/record/peak_memory.h"
#include "lib/report/run_result.h"
#include "lib/protocol/comparison.h"

/* One side of a comparison: a run of the book, or a result in a document that hyperfine, pyperf or
 * emp-measure wrote. Its times are in `sides`, by enum comparison_clock; those of COMPARISON_PT are
 * empty where only elapsed times are known. */
struct compare_input {
	char *name;
	struct comparison_side sides[N_COMPARISON_CLOCKS];
	/* of a run of the book; of a result in a file only the mark of its profile and the digests
	 * of its run, whose id is 0 */
	struct discarding discarding;
	char *digest; /* of the environment; NULL: unknown */
	/* the call that took the samples: see struct comparison_origin; NULL: unknown */
	char *call;
	char *profile;        /* that discarded samples of it; NULL: none */
	bool profile_missing; /* from the book */
	struct peak_memory memory;
	struct neighbour_time neighbour; /* of a run of the book */
};

void compare_input_clear(struct compare_input *input);
