/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's result on the first screen, and all that does not fit on it. */
#pragma once

#include "lib/report/run_result.h"
#include "lib/report/screen.h"

/* All but the name, the unit and whether user and system are approximate. The result must outlive it. The
 * profile is the one that the run was measured with; NULL: none, or it is gone. */
int run_screen_fill(struct screen *ret, const struct run_result *result, const struct profile *profile,
	struct error *err);

/* Each discard with its figures, PT with none discarded, who used the CPU, what moved that should not, and
 * processes left behind. */
int run_details_print(FILE *file, const struct run_result *result, const char *unit, struct error *err);
