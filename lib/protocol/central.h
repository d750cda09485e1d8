/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The automatic eye: the central cluster of a run's elapsed times, found by successive zooms (EMP, step 2,
 * Figures 14 and 15). Elapsed times only; what the daemons did comes later, in reading.h. What it assumes
 * and what it rests on is told at the top of central.c. */
#pragma once

#include "lib/record/run.h"
#include "lib/base/error.h"

/* One look: what was in view, and the gap at which the next look cuts. */
struct zoom {
	int64_t low_ns, high_ns; /* the shortest and the longest ET in view, both inclusive */
	size_t left;             /* samples in view */
	int64_t gap_ns;  /* between the samples that stay and those that the next zoom leaves out; 0: last
			    zoom */
	int64_t most_ns; /* the longest gap that the spread of the samples that stay accounts for */
	bool below;      /* what is left out lies on the short side */
};

struct central {
	int64_t low_ns, high_ns; /* the central cluster: low <= ET <= high */
	int64_t median_ns;       /* of the central cluster */
	struct zoom *zooms;      /* from everything to the central cluster, which is the last */
	size_t n_zooms;
	size_t n_samples, n_central, n_above, n_below;
	size_t n_arms;    /* pairs of which one is above */
	size_t n_corners; /* pairs of which both are above: the upper right of the scatter */
	bool by_hand;     /* the upper bound was given, not found */
};

/* resolution_ns: of the ETs as they were recorded. by_hand_ns: the greatest central ET as a person sees it;
 * 0: find it. -EINVAL: no samples, or none at or below by_hand_ns. */
int central_find(
	struct central *ret, const struct sample *samples, size_t n, int64_t by_hand_ns, struct error *err);
void central_clear(struct central *central);

static inline bool central_holds(const struct central *central, int64_t et_ns)
{
	return et_ns >= central->low_ns && et_ns <= central->high_ns;
}

static inline void central_clearp(struct central *central)
{
	central_clear(central);
}

/* Why a zoom was, or was not, the last, as a clause: "a gap of 21 ms to the next 16 samples, where ...".
 * Returns `buffer`. */
enum { ZOOM_WHY_SIZE = 200 };
char *zoom_why(char buffer[ZOOM_WHY_SIZE], const struct central *central, size_t zoom);
