/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The precision of the clocks: the standard deviation of the time that each source shows for the same computation, by its
 * length (Hines, Wyatt & Chang, Figure 2). */
#pragma once

#include "lib/report/plot.h"
#include "lib/clocks/clocks.h"

struct drawing figure_clocks(const struct clocks *clocks);
