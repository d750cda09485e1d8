/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The causes of long samples: how much of their extra time daemons explain. */
#pragma once

#include "lib/protocol/analysis_internal.h"

/* Fills in feed->extra_ns, from the samples beyond the core. */
void causes_add_up(struct analysis_feed *feed);

/* Whether daemons that ran long explain at least half of the time by which a sample (an index) is longer than the
 * median. After causes_add_up. */
bool causes_explain(const struct analysis_feed *feed, size_t sample);

/* The share of the extra time of the slow samples (a set of IN() zones) that daemons explain, compared with their
 * usual time in the fast samples. 0 if one of the two sets is empty. Fills in the tallies' extra_ns. */
double causes_explained_share(struct analysis_feed *feed, unsigned fast, unsigned slow);

/* The daemon whose presence divides the samples into longer and shorter ones; NULL: there is none. Before zones
 * NEAR and FAR are dissolved. */
const struct daemon_tally *causes_dividing(const struct analysis_feed *feed);
