/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The central cluster of a run's elapsed times, found by successive zooms (EMP, step 2, Figures 14
 * and 15). It knows the times of samples only: whether daemons explain those outside the cluster is
 * concluded in analysis.c. The top of cluster.c has its assumptions and sources. */
#pragma once

#include "lib/record/run.h"

enum zoom_end {
	/* a gap that the samples within do not explain: the next zoom excludes the samples beyond
	 * it */
	ZOOM_GAP,
	ZOOM_DAEMONS, /* no gap, but daemons explain the samples that the next zoom excludes */
	ZOOM_HAND,    /* the caller set the bound of the next zoom */
	ZOOM_LAST,    /* nothing more to exclude */
};

/* One zoom: the samples in view, and the bound of the next zoom. */
struct zoom {
	int64_t low_ns, high_ns; /* the shortest and the longest ET in view, both inclusive */
	size_t left;             /* samples in view */
	enum zoom_end end;
	bool below;         /* the next zoom excludes samples on the short side */
	size_t beyond;      /* how many samples that is */
	int64_t gap_ns;     /* ZOOM_GAP: its size */
	int64_t longest_ns; /* ZOOM_GAP: the longest gap that the samples within explain */
	double explained;   /* ZOOM_DAEMONS: the share of those samples that daemons explain */
};

struct cluster {
	int64_t low_ns, high_ns; /* the central cluster: low <= ET <= high */
	int64_t median_ns;       /* of the central cluster */
	/* Two tighter upper bounds, which hold if daemons explain the samples beyond; as high_ns:
	 * there is none. */
	int64_t core_high_ns; /* the longest ET that one symmetric cluster explains */
	int64_t near_high_ns; /* below the widest gap beyond the core, which is not significant */
	struct zoom *zooms;   /* from everything to the central cluster, which is the last */
	size_t n_zooms;
	size_t n_samples, n_central, n_above, n_below;
	size_t n_arms;    /* pairs of which one is above: in an arm of the L */
	size_t n_corners; /* pairs of which both are above: the upper right of the scatter */
	bool by_hand;     /* the upper bound was set by hand */
};

/* Finds the central cluster of n samples. resolution_ns: that of the recorded times; 1: exact.
 * by_hand_ns: the longest central ET, set by hand; 0: it is found. -EINVAL: no samples, or none at
 * or below by_hand_ns. */
int cluster_find(struct cluster *ret, const struct sample *samples, size_t n, int64_t resolution_ns,
	int64_t by_hand_ns, struct error *err);

/* Ends the cluster at high_ns, by one more zoom. explained: the share of the samples beyond high_ns
 * that daemons explain. */
void cluster_tighten(struct cluster *central, const struct sample *samples, size_t n,
	int64_t high_ns, double explained);

void cluster_clear(struct cluster *central);

static inline bool cluster_holds(const struct cluster *central, int64_t et_ns)
{
	return et_ns >= central->low_ns && et_ns <= central->high_ns;
}

/* What the next zoom excludes and why. The text is valid as those of text_brief are. */
const char *zoom_why(const struct zoom *zoom);
