/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two levels in a set of values, as of a machine with two speeds, in any order. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct two_levels {
	size_t n_low;     /* values in the lower one; 0: there are too few values */
	double low, high; /* medians */
	double apart;     /* their distance, in sd of the wider one */
};

/* The division of ascending values into two parts of at least `least` each that lie furthest apart in terms of their own
 * width. quantum: the step in which the values were recorded. */
struct two_levels two_levels_of(const int64_t *ascending, size_t n, size_t least, int64_t quantum);
