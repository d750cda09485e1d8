/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of an analysis: from what the feed has summed up to the result. */
#pragma once

#include "lib/protocol/analysis_internal.h"

/* Takes what the feed holds. */
int analysis_conclude(struct analysis_feed *feed, struct analysis *ret, struct error *err);
