/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The details of a run, below its first screen. */
#pragma once

#include "lib/report/run_result.h"

/* Each discard with its figures (unless `all`: the first of each kind, and how many each daemon
 * has), PT of all samples, other processes that used the CPU, disturbance counters, and processes
 * left behind. */
void run_details_print(FILE *file, const struct run_result *result, const char *unit, bool all);
