/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a run: every sample with its cause, and how they are drawn. */
#pragma once

#include "lib/report/plot.h"
#include "lib/protocol/discard.h"

/* What a sample is marked as. Causes from CAUSE_DAEMON on are daemons: figure->daemons[cause - CAUSE_DAEMON].
 */
enum cause { CAUSE_NONE, CAUSE_UNEXPLAINED, CAUSE_BELOW, CAUSE_TWO_SD, CAUSE_OTHER_DAEMON, CAUSE_DAEMON };

enum { FIGURE_DAEMONS = 6 }; /* with a mark of their own; the others share one */

struct figure {
	const struct analysis *analysis;
	const char *profile; /* marks the samples that it discards; NULL: L-samples are marked */
	uint8_t *causes;     /* one a sample */
	const char *daemons[FIGURE_DAEMONS];
	size_t n_daemons;
};

/* discarding and profile: both or neither. Both must outlive the figure. */
int figure_prepare(struct figure *figure, const struct analysis *analysis,
	const struct discarding *discarding, const char *profile, struct error *err);
void figure_clear(struct figure *figure);

/* One point a pair, relative to the median of the central cluster (EMP, Figure 14). */
struct drawing figure_scatter(const struct figure *figure);

/* The zooms that led to the central cluster, a panel each (Figure 14). */
struct drawing figure_zooms(const struct figure *figure);

/* One point a sample, in the order of time (Figure 13). */
struct drawing figure_samples(const struct figure *figure);
