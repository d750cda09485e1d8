/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The details of a run, below its first screen. */
#pragma once

#include "lib/report/run_result.h"

/* Unless `all`, of each list the first lines, and of discards how many each daemon has. */
void run_details_print(FILE *file, const struct run_result *result, const char *unit, bool all);
