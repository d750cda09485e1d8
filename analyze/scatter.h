/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pictures of a run: every sample with its cause, and how they are drawn. */
#pragma once

#include "lib/protocol/discard.h"
#include "lib/report/plot.h"

enum { FIGURE_DAEMONS = 6 }; /* with a mark of their own; the others share one */

struct figure {
	const struct analysis *analysis;
	const char *profile; /* marks the samples that it discards; NULL: L-samples are marked */
	uint8_t *causes;     /* one a sample */
	const char *daemons[FIGURE_DAEMONS];
	size_t n_daemons;
};
