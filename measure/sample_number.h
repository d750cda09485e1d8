/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of the warm-up or sample, in the environment of the program, of --prepare and of
 * --conclude: HYPERFINE_ITERATION is "warmup-0", "warmup-1", and so on, then "0" for the first
 * sample, "1", and so on. The size of the environment, which moves the stack, is always the same:
 * EMP_PADDING fills it up. */
#pragma once

#include "lib/base/base.h"

/* Adds both variables to the environment of the programs, once. */
void sample_number_begin(void);

/* warm_up: from 1, or 0: a sample. n: how many samples there are before it. */
void sample_number_set(int warm_up, uint32_t n);
