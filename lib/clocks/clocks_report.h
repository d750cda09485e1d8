/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration of the clocks on the screen. */
#pragma once

#include "lib/clocks/clocks.h"

/* Prints it to standard output. */
int clocks_print(const struct clocks *clocks, struct error *err);

/* The name of a source on the screen: "CLOCK_REALTIME" for "clock_gettime(CLOCK_REALTIME)". Valid until the next
 * call. */
const char *clocks_short_name(const char *name);

/* Indices of the sources by their cost; the caller frees it. NULL: no memory. */
size_t *clocks_by_cost(const struct clocks *clocks);
