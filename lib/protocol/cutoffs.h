/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the analyses of a short and a long run to the cutoffs of every infrequent daemon (EMP, steps 8 and 9;
 * SEDONA, Table 1). */
#pragma once

#include "lib/protocol/analysis.h"

struct cutoffs {
	struct cutoff *items; /* by name */
	size_t n;
};

/* What a cutoff explains in the run in which it explains most; -1: not known. */
static inline int64_t cutoff_share_ppm(const struct cutoff *cutoff)
{
	return cutoff->short_share_ppm > cutoff->long_share_ppm ? cutoff->short_share_ppm
								: cutoff->long_share_ppm;
}

/* The papers keep every cutoff: their clock of 1 ms did not see short executions. */
struct cutoff_rules {
	const char *name;                            /* of the profile; NULL: "unnamed" */
	const struct analysis *short_run, *long_run; /* of the same resolution */
	/* Cutoffs that explain less of the delay in both runs are left out: they belong to daemons that ran long at the same
	 * time as the one that made a sample long. So are those of executions far below a run's detection limit, unless
	 * the run was imported. 0: none is. */
	int64_t least_share_ppm;
};

enum { LEAST_SHARE_PPM = PPM / 10 }; /* the default for runs that were not imported */

int cutoffs_make(const struct cutoff_rules *rules, struct profile *ret, struct cutoffs *ret_left_out,
	struct error *err);
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
