/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict on a run, by the shape of its scatter, and what its central cluster hides. The
 * conclusions are in verdict.c, apart from the analysis of daemons, which they begin from. */
#pragma once

#include "lib/base/base.h"

/* Which shape the scatter of the dual executions has. */
enum verdict {
	VERDICT_L,     /* rare long samples, in the arms of an L, that daemons explain */
	VERDICT_CLEAN, /* one cluster, and no daemon that explains what lies outside it */
	/* long samples are so many that they meet in the upper right; daemons may explain them */
	VERDICT_FREQUENT,
	VERDICT_DRIFT, /* the speed of the machine wanders */
	VERDICT_STEP,  /* two speeds: it changed in between, or goes back and forth */
	VERDICT_BUSY,  /* other processes take a part of every sample */
};

/* "L", "clean", "frequent", "drift", "step", "busy" */
const char *verdict_name(enum verdict verdict);

/* Whether cutoffs may be made from a run with this verdict. */
static inline bool verdict_gives_cutoffs(enum verdict verdict)
{
	return verdict == VERDICT_L || verdict == VERDICT_CLEAN;
}

/* What the central cluster hides. */
struct cluster_noise {
	bool noisy;
	/* the longest central ET beyond the median: daemons that take less are not detected */
	int64_t blind_ns;
	/* robust sd of the central PTs, as a share of their median; NAN: of one sample */
	double pt_sd;
	/* samples that are long without a daemon as the cause, if they are too many; otherwise 0 */
	size_t n_long;
	size_t n_long_beside; /* of these, the ones that had a neighbour, which makes them long */
};

/* "noisy: blind to daemons below 16 ms, PT varies by 3.1 %" */
const char *noise_describe(const struct cluster_noise *noise);
