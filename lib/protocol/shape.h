/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of a run's scatter, and the reason. */
#pragma once

#include "lib/protocol/analysis_internal.h"

/* Fills in verdict, why and statistics[].frequent of an analysis in which everything else is filled in;
 * statistics[i] belongs to tallies[i]. */
int shape_judge(struct analysis_feed *feed, struct analysis *analysis);
