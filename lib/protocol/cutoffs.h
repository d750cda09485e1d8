/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the analyses of a short and a long run to the cutoffs of every infrequent daemon (EMP, steps 8 and 9;
 * SEDONA, Table 1). */
#pragma once

#include "lib/protocol/analysis.h"

struct cutoffs {
	struct cutoff *items; /* by name */
	size_t n;
};

/* name NULL: "unnamed". Both must have the same resolution. */
int cutoffs_make(const char *name, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *ret, struct error *err);

/* What a cutoff explains in the run in which it explains most; -1: not known. */
static inline int64_t cutoff_share_ppm(const struct cutoff *cutoff)
{
	return cutoff->short_share_ppm > cutoff->long_share_ppm ? cutoff->short_share_ppm
								: cutoff->long_share_ppm;
}

/* Removes the cutoffs that explain less than `least_ppm` of the delay in both runs, which the papers keep: daemons that
 * ran long at the same time as the one that made a sample long. They go to left_out. -ENOMEM: none is removed. */
int cutoffs_leave_out(struct profile *profile, int64_t least_ppm, struct cutoffs *left_out);
void cutoffs_clear(struct cutoffs *cutoffs);

/* The cutoff for programs with this mean ET. */
static inline int64_t cutoff_for(const struct cutoff *cutoff, int64_t mean_et_ns)
{
	return mean_et_ns < cutoff->task_time_ns ? cutoff->below_ns : cutoff->atleast_ns;
}

/* NULL: the profile has no cutoff for it. A process has that of its group or its family. */
const struct cutoff *profile_cutoff_of(
	const struct profile *profile, const struct name_pattern *patterns, const struct source *source);
const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon);
