/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison: a run of the book, or a result in a file that hyperfine, pyperf or emp-measure wrote. */
#pragma once

#include "analyze/analyze.h"
#include "lib/protocol/comparison.h"

/* Times in ns, by enum comparison_clock. Those of COMPARISON_PT are NULL where only elapsed times are known. */
struct compare_input {
	char *name;
	int64_t *times[2];
	size_t n[2];
};

/* `text` is the number of a run in the book, or FILE, or FILE:N for the N-th result in it. --profile
 * discards samples of a run of the book; what emp-measure discarded stays discarded. -EINVAL: FILE holds several
 * results and N is missing; the sentence lists them. */
int compare_input_read(struct compare_input *ret, const char *text, struct error *err);
void compare_input_clear(struct compare_input *input);
