/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which shape the scatter of a run has, and why. */
#pragma once

#include "lib/protocol/analysis_internal.h"

/* Fills in verdict, why and statistics[].frequent of an analysis that is complete otherwise; statistics[i] is of
 * tallies[i]. */
int shape_judge(struct analysis_feed *feed, struct analysis *analysis);
