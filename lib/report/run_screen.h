/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's result on the first screen, and all that does not fit on it. */
#pragma once

#include "lib/report/run_result.h"
#include "lib/report/screen.h"

/* All but the name, the unit and whether user and system are approximate. The result must outlive it.
 * profile_cpu: the CPU that the run's profile was made on; -1 where it was not pinned or is not known. */
int run_screen_fill(struct screen *ret, const struct run_result *result, int profile_cpu, struct error *err);

/* The CPU that a profile's short run was pinned to; -1 where it was not, or is not in this book. */
int run_screen_profile_cpu(struct book *book, const struct profile *profile);

/* Each discard with its figures, PT with none discarded, who used the CPU, what moved that should not, and
 * processes left behind. */
int run_details_print(FILE *file, const struct run_result *result, const char *unit, struct error *err);
