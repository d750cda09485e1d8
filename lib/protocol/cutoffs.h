/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the analyses of a short and a long run to the cutoffs of every infrequent daemon (EMP, steps 8 and 9;
 * SEDONA, Table 1). */
#pragma once

#include "lib/protocol/analysis.h"

/* name NULL: "unnamed". Both must have the same resolution. */
int cutoffs_make(const char *name, const struct analysis *short_run, const struct analysis *long_run,
	struct profile *ret, struct error *err);

/* The cutoff for programs with this mean ET. */
static inline int64_t cutoff_for(const struct cutoff *cutoff, int64_t mean_et_ns)
{
	return mean_et_ns < cutoff->task_time_ns ? cutoff->below_ns : cutoff->atleast_ns;
}

/* NULL: the profile has no cutoff for it. */
const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon);
