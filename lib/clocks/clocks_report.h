/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration of the clocks on the screen. */
#pragma once

#include "lib/clocks/clocks.h"
#include "lib/report/plot.h"

/* Prints it to standard output. */
int clocks_print(const struct clocks *clocks, struct error *err);

/* The name of a source on the screen: "CLOCK_REALTIME" for "clock_gettime(CLOCK_REALTIME)". Valid until the next
 * call. */
const char *clocks_short_name(const char *name);

/* Indices of the sources by their cost; the caller frees it. NULL: no memory. */
size_t *clocks_by_cost(const struct clocks *clocks);

/* The precision of the clocks: the standard deviation of the time that each source shows for the same computation, by its
 * length (Hines, Wyatt & Chang, Figure 2). */

struct drawing figure_clocks(const struct clocks *clocks);
