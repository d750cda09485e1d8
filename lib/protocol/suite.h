/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparisons of several command lines, judged at once. Each has a verdict of its own; that one
 * of them is slower, or faster, must be more than chance explains in any of them. */
#pragma once

#include "lib/protocol/comparison.h"

struct suite_line {
	/* N_COMPARISON_CLOCKS; all zeros where a clock is not compared. NULL: nothing is. */
	struct comparison *comparisons;
	/* these are the samples that were taken because suite_wants_again() said so */
	bool again;
};

/* Whether a line may be slower than is allowed, and is measured again for that: with samples of its
 * own, so that what chance did to the first does not count. After suite_judge(). */
bool suite_wants_again(const struct suite_line *line);

/* Sets `unconfirmed` of the comparisons whose difference is not shown. Of suites of equal programs,
 * at most one in 100 has a program that is shown to be slower, whatever their number, and at most
 * one in 100 one that is shown to be faster (Holm 1979). Lines that
 * are slower by so much that chance explains them in one of 1,000 are not measured again. */
void suite_judge(struct suite_line *lines, size_t n);
