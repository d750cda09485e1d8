/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying a profile to a run: the first check discards samples in which a daemon ran longer than its cutoff; the
 * second, made once, those more than two standard deviations from the mean of the rest (EMP, steps 10 and 11). The
 * caller may also discard samples in which a daemon that is not in the profile used too much CPU time.
 *
 * Only the first check has a cause for each sample that it discards. The second makes the spread look smaller than it
 * is, and intervals from it would contain the mean too rarely: it gives the papers' mean and no more. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/stats/summary.h"
#include "lib/stats/time_series.h"

struct discard_rules {
	const struct profile *profile;        /* NULL: no cutoffs */
	const struct name_pattern *patterns;  /* group names as for the profile */
	bool other_cpus;                      /* cutoffs apply to what daemons used on other CPUs, too */
	struct known_correlation correlation; /* of neighbouring samples on this machine */
	double unprofiled_share; /* of a sample's ET, that all executions of one unprofiled daemon may take
				    where W (or ET − PT) is more than that too; 0: any */
};

/* Whether they can discard any sample because of a daemon. */
static inline bool discard_rules_by_name(const struct discard_rules *rules)
{
	return rules->profile || rules->unprofiled_share > 0;
}

/* A reason to discard a sample. Of a daemon with a cutoff: one execution over it (a sample may have several). Of an
 * unprofiled daemon: all its executions in the sample. */
struct over_cutoff {
	uint32_t sample;
	char *daemon; /* the name that it counts under */
	char *unit;   /* NULL: none or unknown */
	int64_t pt_ns, cutoff_ns;
};

/* One clock (ET or PT) through both checks. */
struct clock_discarding {
	struct summary raw, kept, papers; /* of all samples; after the first check; after both */
	struct interval interval;         /* of the mean after the first check, at 95 % */
	uint32_t *by_two_sd;              /* the samples that the second check discards, ascending */
	size_t n_by_two_sd;
	bool *in_papers; /* by index into the samples: passed both checks */
};

struct discarding {
	struct run run;
	int64_t resolution_ns;
	int64_t mean_et_ns;
	struct over_cutoff *over; /* by sample, then as recorded */
	size_t n_over;
	struct over_cutoff *unprofiled; /* likewise */
	size_t n_unprofiled;
	bool *out;           /* by index into the samples: discarded by the first check, for any reason */
	uint32_t *by_cutoff; /* those with an execution over its cutoff, ascending, each once */
	size_t n_by_cutoff;
	uint32_t *incomplete; /* executions may be missing, and none of those known is over its cutoff */
	size_t n_incomplete;
	struct clock_discarding pt, et; /* the second check is made for each clock separately */
	int64_t blind_ns;               /* of the profile; 0: not noisy */
	char *noise;                    /* likewise, or "busy, forced"; NULL: neither, or not known */
	struct daemons
		others; /* background processes: by disturbed_ns, then by CPU time, the greatest first */
	int64_t disturbed_ns; /* of all samples together: see struct daemon_statistics */
};

static inline int64_t sample_time_ns(const struct sample *sample, bool et)
{
	return et ? sample->et_ns : sample->pt_ns;
}

/* Whether the second check discards this time, given the summary after the first check. */
static inline bool beyond_two_sd(const struct summary *left, int64_t time_ns)
{
	double off = (double)time_ns - left->mean_ns;

	return off > 2 * left->sd_ns || off < -2 * left->sd_ns;
}

struct sample_filter;

/* Everything that the rules point to must outlive it. */
struct sample_filter *sample_filter_new(const struct discard_rules *rules);
void sample_filter_free(struct sample_filter *filter);
DEFINE_FREEP(sample_filter)

/* Samples in ascending order; then executions in the order of samples. More of both may follow while a run
 * continues; an execution in a sample after the last is ignored. */
void sample_filter_add_sample(struct sample_filter *filter, const struct sample *sample);
int sample_filter_add(struct sample_filter *filter, const struct source *source,
	const struct execution *execution, struct error *err);

/* The result of the samples so far, without the run and the background processes. */
struct discarding sample_filter_judge(struct sample_filter *filter);

/* The final result, with the background processes. */
struct discarding sample_filter_finish(struct sample_filter *filter);

void discarding_clear(struct discarding *discarding);

/* From the analyses of a short and a long run to the cutoffs of every infrequent daemon (EMP, steps 8 and 9;
 * SEDONA, Table 1). */

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
const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon);
