/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the neighbour out of the times of a run (NEIGHBOUR_ADJUST). It is apart from discard.h
 * because it discards nothing: it changes times. The arithmetic is in lib/stats/neighbour.h. */
#pragma once

#include "lib/protocol/discard.h"

/* What earlier runs of the program said of its slope when this run began; error 0: nothing. */
struct neighbour_slope run_neighbour_slope(const struct run *run);

/* "k 0.30 ± 0.15" */
const char *neighbour_slope_text(const struct neighbour_slope *slope);

/* If that is what is to be done about neighbours (d->neighbour), replaces the summaries and the
 * intervals of the samples kept by those of the adjusted times, and fills in what is known of the
 * adjustment. If none of these samples was probed, or none had a neighbour, nothing is changed but
 * d->neighbour, which is NEIGHBOUR_OFF then. samples[n]: of d. */
void discarding_adjust(struct discarding *d, const struct sample *samples, size_t n,
	const struct discard_rules *rules);
