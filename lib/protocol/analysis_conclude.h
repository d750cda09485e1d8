/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of an analysis: from the sums of a feed to the result. */
#pragma once

#include "lib/protocol/analysis_internal.h"

/* Takes over the content of the feed. */
int analysis_conclude(struct analysis_feed *feed, struct analysis *ret, struct error *err);
