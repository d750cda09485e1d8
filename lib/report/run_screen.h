/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's result on the first screen, and the details. */
#pragma once

#include "lib/report/run_result.h"
#include "lib/report/screen.h"

/* Fills in everything but the name, the unit and whether user and system are approximate. The result must outlive
 * it. `profile`: the run was measured with it; NULL: none, or it was removed. */
int run_screen_fill(struct screen *ret, const struct run_result *result, const struct profile *profile,
	struct error *err);

/* That neighbouring samples are alike, once for the PT of all programs: of the one with the greatest correlation. */
int run_screen_note_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n, struct error *err);

/* Each discard with its figures, PT of all samples, other processes that used the CPU, disturbance counters, and
 * processes left behind. */
int run_details_print(FILE *file, const struct run_result *result, const char *unit, struct error *err);
