/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying a profile to a run: the first check discards samples in which a daemon ran longer than
 * its cutoff; the second, made once, those more than two standard deviations from the mean of the
 * rest (EMP, steps 10 and 11). The caller may also discard samples in which a daemon that is not in
 * the profile used too much CPU time.
 *
 * The first check also discards samples that had a neighbour: somebody on the other hardware thread
 * of the program's core.
 *
 * Only the first check has a cause for each sample that it discards. The second makes the spread
 * look smaller than it is, and intervals from it would contain the mean too rarely: it gives the
 * papers' mean and no more. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/record/profile.h"
#include "lib/stats/comparison_verdict.h"
#include "lib/stats/neighbour.h"
#include "lib/stats/time_series.h"

struct discard_rules {
	const struct profile *profile;       /* NULL: no cutoffs */
	const struct name_pattern *patterns; /* group names as for the profile */
	/* cutoffs apply to what daemons used on other CPUs, too */
	bool other_cpus;
	int clock; /* enum execution_clock; the caller adds executions with their times by it */
	struct known_correlation correlation; /* of neighbouring samples on this machine */
	int64_t resolution_ns;                /* of the run's PTs; 0 or 1: exact, or not known */
	/* A sample is discarded if all executions of one unprofiled daemon take more than this
	 * share of its ET, and W (or ET − PT) is more than that, too; 0: it is not. */
	double unprofiled_share;
	enum neighbour_rule neighbour;
	/* the share of a sample's time with a neighbour above which the sample is discarded */
	int64_t neighbour_limit_ppm;
	/* of the program, as earlier runs of it showed; error 0: not known */
	struct neighbour_slope slope;
};

/* Whether the rules can discard any sample because of a daemon. */
static inline bool discard_rules_by_name(const struct discard_rules *rules)
{
	return rules->profile || rules->unprofiled_share > 0;
}

static inline bool discard_rules_by_neighbour(const struct discard_rules *rules)
{
	return rules->neighbour == NEIGHBOUR_DISCARD || rules->neighbour == NEIGHBOUR_AUTO;
}

/* What NEIGHBOUR_AUTO does if `clean` of n samples had no neighbour: NEIGHBOUR_DISCARD if they are
 * three, or half of up to five; else NEIGHBOUR_ADJUST. From three samples on, their interval is the
 * narrower one: what is not known of the slope is more than what the other samples tell. Other
 * rules stay what they are. */
enum neighbour_rule neighbour_rule_for(enum neighbour_rule rule, size_t clean, size_t n);

/* A reason to discard a sample. Of a daemon with a cutoff: one execution over it (a sample may have
 * several). Of an unprofiled daemon: all its executions in the sample. */
struct over_cutoff {
	uint32_t sample;
	char *daemon; /* the name that it counts under */
	char *unit;   /* NULL: none or unknown */
	int64_t pt_ns, cutoff_ns;
};

/* How the times were brought to those without a neighbour. */
struct clock_adjustment {
	int64_t *times_ns;     /* of the samples kept, by index into all; NULL: they were not */
	struct summary before; /* as they were measured */
	struct neighbour_adjustment by;
};

/* One clock (ET or PT) through both checks. */
struct clock_discarding {
	struct summary raw, kept, papers; /* of all samples; after the first check; after both */
	struct interval interval;         /* of the mean after the first check, at 95 % */
	/* of the same mean, with what differs between runs (run_result_add_between); .variation.df
	 * 0: not known */
	struct run_interval between;
	/* if neighbours were taken out of the times: `kept` and `interval` are without them, raw
	 * and papers are not */
	struct clock_adjustment adjusted;
	/* the samples that the second check discards, ascending */
	uint32_t *by_two_sd;
	size_t n_by_two_sd;
	bool *in_papers; /* by index into the samples: passed both checks */
};

/* Which samples a result is of: all; those after the first check, as SEDONA has it; or those after
 * both, as EMP has it. Results are by SEDONA's: the second check has no cause for what it discards,
 * and makes the spread look smaller than it is. */
enum discard_rule { DISCARD_NOTHING, DISCARD_SEDONA, DISCARD_EMP, N_DISCARD_RULES };

extern const char *const discard_rule_names[N_DISCARD_RULES + 1]; /* NULL after the last */

const struct summary *discarded_summary(
	const struct clock_discarding *clock, enum discard_rule rule);

struct discarding {
	struct run run;
	struct over_cutoff *over; /* by sample, then as recorded */
	size_t n_over;
	struct over_cutoff *unprofiled; /* likewise */
	size_t n_unprofiled;
	/* by index into the samples: discarded by the first check, for any reason */
	bool *out;
	uint32_t *by_cutoff; /* those with an execution over its cutoff, ascending, each once */
	size_t n_by_cutoff;
	/* executions may be missing, and none of those known is over its cutoff */
	uint32_t *incomplete;
	size_t n_incomplete;
	/* those that had a neighbour, ascending, each once; a sample may have another cause, too */
	uint32_t *by_neighbour;
	size_t n_by_neighbour;
	/* What was done about neighbours: NEIGHBOUR_DISCARD; or NEIGHBOUR_ADJUST (adjust.h), and
	 * by_neighbour is empty; or, also if no sample was probed, NEIGHBOUR_OFF. */
	enum neighbour_rule neighbour;
	/* Of a duet: samples that are discarded only because another program's sample is, or is
	 * missing. */
	uint32_t *by_duet;
	size_t n_by_duet;
	struct clock_discarding pt, et; /* the second check is made for each clock separately */
	struct profile_mark mark;       /* of the profile */
	/* background processes: by disturbed_ns, then by CPU time, the greatest first */
	struct daemons others;
	int64_t disturbed_ns; /* of all samples together: see struct daemon_statistics */
	/* From the counters and the environment, set by the caller: */
	enum unmeasurable_cause unmeasurable;
	/* "P-core": the type of the CPU of a hybrid processor that it was pinned to; NULL: none, or
	 * not known */
	char *cpu_kind;
};

static inline int64_t sample_time_ns(const struct sample *sample, bool et)
{
	return et ? sample->et_ns : sample->pt_ns;
}

/* The time of sample i of all, which must be kept, without the neighbour if that was taken out. */
static inline int64_t clock_time_ns(
	const struct clock_discarding *clock, const struct sample *samples, size_t i, bool et)
{
	if (clock->adjusted.times_ns)
		return clock->adjusted.times_ns[i];
	return sample_time_ns(&samples[i], et);
}

/* Whether the second check discards this time, given the summary after the first check. */
static inline bool beyond_two_sd(const struct summary *left, int64_t time_ns)
{
	double off = (double)time_ns - left->mean_ns;

	return off > 2 * left->sd_ns || off < -2 * left->sd_ns;
}

/* The caller sets the first members. What they point to must outlive the filter. The others belong
 * to the filter. While a run continues, more samples may follow, and then their executions. */
struct sample_filter {
	struct discard_rules rules;
	const struct sources *sources;
	const struct sample *samples; /* in ascending order */
	size_t n_samples;

	size_t at; /* index of the sample whose executions are being added */
	struct daemons daemons;
	/* over one cutoff of their daemon; the mean ET decides which applies */
	struct over_cutoff *candidates;
	size_t n_candidates;
	int64_t disturbed_ns; /* see struct discarding */
	struct over_cutoff *unprofiled;
	size_t n_unprofiled;

	/* Of a duet: the filters of all its runs, this one included. A sample that either check
	 * discards in one of them is discarded in all of them. NULL: it is of no duet. */
	struct sample_filter *const *duet;
	size_t n_duet;
};

void sample_filter_clear(struct sample_filter *filter);

/* A book_each: executions in the order of samples. Those in a sample after the last, or of a source
 * after the last, are ignored: they were added after the samples and sources were read. */
int sample_filter_add(void *filter, const struct execution *execution, struct error *err);

/* The result of the samples so far, without the run and the background processes. */
struct discarding sample_filter_judge(struct sample_filter *filter);

/* The final result, with the background processes. */
struct discarding sample_filter_finish(struct sample_filter *filter);

void discarding_clear(struct discarding *discarding);

/* From the analyses of a short and a long run to the cutoffs of every infrequent daemon (EMP, steps
 * 8 and 9; SEDONA, Table 1). */

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

enum { LEAST_SHARE_PPM = PPM / 10 }; /* the default for runs that were not imported */

/* Of the short and the long run, which are of the same resolution. least_share_ppm: cutoffs that
 * explain less of the delay in both runs are left out: they belong to daemons that ran long at the
 * same time as the one that made a sample long. So are those of executions far below a run's
 * detection limit, unless the run was imported. 0: none is, as in the papers, whose clock of 1 ms
 * did not see short executions. */
struct profile cutoffs_make(const char *profile_name, const struct analysis runs[2],
	int64_t least_share_ppm, struct cutoffs *ret_left_out);
void cutoffs_clear(struct cutoffs *cutoffs);

/* The cutoff for programs with this mean ET. */
static inline int64_t cutoff_for(const struct cutoff *cutoff, int64_t mean_et_ns)
{
	return mean_et_ns < cutoff->task_time_ns ? cutoff->below_ns : cutoff->atleast_ns;
}

/* NULL: the profile has no cutoff for it. A process has that of its group or its family. */
const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon);
