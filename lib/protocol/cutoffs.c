/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the analyses of two runs to a profile: see cutoffs.h. EMP's step 8 says "average", but its example, its tables
 * and SEDONA use maximum and minimum, as this does. */
#include "lib/protocol/cutoffs.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/protocol/names.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Programs shorter than this share of the period get the cutoff of the short run. */
static const double TASK_SHARE = 0.05;
/* Of the detection limit: shorter executions get no cutoff. By tests/bench/truth.py, table cutoffs. */
static const double FLOOR = 0.5;

/* What is left of step 8 above the floor: the midpoint of the central maximum and the least long execution that is not below it. */
static int64_t cutoff_above(const struct daemon_statistics *daemon, int64_t floor_ns, int64_t resolution_ns)
{
	int64_t least_ns = INT64_MAX;

	if (!daemon || daemon->cutoff_ns < 0 || floor_ns == 0)
		return daemon ? daemon->cutoff_ns : -1;
	for (size_t i = 0; i < daemon->n_longs; i++)
		if (daemon->longs[i].pt_ns >= floor_ns && daemon->longs[i].pt_ns < least_ns)
			least_ns = daemon->longs[i].pt_ns;
	if (least_ns == INT64_MAX)
		return -1;
	return resolution_midpoint(
		daemon->n_central > 0 ? daemon->central_max_ns : 0, least_ns, resolution_ns);
}

static int64_t share_ppm(const struct daemon_statistics *daemon)
{
	return daemon && !isnan(daemon->share) ? llround(daemon->share * PPM) : -1;
}

/* Adds the cutoff of one daemon, if it is infrequent in either run, or the one that the papers would give it to left_out. */
static void add_cutoff(struct profile *profile, const struct daemon_statistics *short_daemon,
	const struct daemon_statistics *long_daemon, const struct cutoff_rules *rules,
	struct cutoffs *left_out)
{
	int64_t resolution_ns = profile->resolution_ns;
	struct cutoff c = {
		.short_ns = cutoff_above(short_daemon, profile->short_run.floor_ns, resolution_ns),
		.short_share_ppm = share_ppm(short_daemon),
		.long_share_ppm = share_ppm(long_daemon),
		.names = short_daemon ? short_daemon->names : 0,
	};
	const struct daemon_statistics *named = short_daemon ?: long_daemon;
	int64_t share = cutoff_share_ppm(&c);
	struct cutoff *added;

	if (long_daemon && long_daemon->names > c.names)
		c.names = long_daemon->names;
	c.long_ns = cutoff_above(long_daemon, profile->long_run.floor_ns, resolution_ns);
	if (c.long_ns < 0 && c.short_ns >= 0 && long_daemon && long_daemon->n_central > 0) {
		/* it runs only in the central cluster of the long run: what it hardly ever exceeds there */
		double most = (double)long_daemon->central_max_ns + 2 * long_daemon->central_sd_ns;

		c.long_ns = (int64_t)floor(most / (double)resolution_ns + 0.5) * resolution_ns;
	}
	if (c.short_ns < 0 && c.long_ns < 0 && share < 0)
		return;

	/* Completes a cutoff whose two runs are known: its period, and what it is for shorter and for
	 * longer programs. */
	bool papers = rules->short_run->run.kind == RUN_IMPORT || rules->long_run->run.kind == RUN_IMPORT;
	bool both = c.short_ns >= 0 && c.long_ns >= 0;

	if (short_daemon && period_is_known(&short_daemon->period)) {
		double period = analysis_period_ns(rules->short_run, short_daemon);

		c.period_ns = llround(period);
		c.task_time_ns = llround(TASK_SHARE * period);
		c.firm = short_daemon->period.firm;
	} else if (both && c.long_ns > c.short_ns && !papers)
		/* the geometric mean of the lengths of the two programs: shorter ones are nearer to the
		 * first */
		c.task_time_ns = llround(sqrt((double)rules->short_run->central.median_ns) *
					 sqrt((double)rules->long_run->central.median_ns));
	c.below_ns = c.atleast_ns = c.short_ns > c.long_ns ? c.short_ns : c.long_ns;
	if (both && c.task_time_ns > 0) {
		c.below_ns = c.short_ns;
		c.atleast_ns = c.long_ns;
	}
	if ((c.short_ns < 0 && c.long_ns < 0) || (share >= 0 && share < rules->least_share_ppm))
		added = array_add(left_out->items, left_out->n);
	else
		added = array_add(profile->cutoffs, profile->n_cutoffs);
	*added = c;
	added->daemon = xstrdup(named->name);
	added->unit = text_copy(!named->unit && long_daemon ? long_daemon->unit : named->unit);
}

/* The floor is 0 (none) for imported runs: how others measured is not known. */
static struct profile_run profile_run_of(const struct analysis *analysis, bool floored)
{
	struct profile_run run = {
		.program = xstrdup(analysis->run.program ?: ""),
		.run = analysis->run.id,
		.samples = (int64_t)analysis->n_samples,
		.l_samples = xcalloc(analysis->n_l_samples, sizeof(*run.l_samples)),
		.n_l_samples = analysis->n_l_samples,
	};

	if (floored && analysis->run.kind != RUN_IMPORT)
		run.floor_ns = llround(FLOOR * (double)analysis->noise.blind_ns);
	for (size_t i = 0; i < analysis->n_l_samples; i++)
		run.l_samples[i] = analysis->l_samples[i];
	return run;
}

int cutoffs_make(const struct cutoff_rules *rules, struct profile *ret, struct cutoffs *ret_left_out,
	struct error *err)
{
	const struct analysis *short_run = rules->short_run, *long_run = rules->long_run;
	bool floored = rules->least_share_ppm > 0;
	struct cutoffs left_out = {};
	struct profile profile;
	size_t s = 0, l = 0;

	if (short_run->resolution_ns != long_run->resolution_ns)
		return error_say(err, -EINVAL,
			"the resolution of the short run is %" PRId64 " ns, that of the long run %" PRId64
			" ns; they must be the same",
			short_run->resolution_ns, long_run->resolution_ns);
	profile = (struct profile){
		.name = xstrdup(rules->name ?: "unnamed"),
		.resolution_ns = short_run->resolution_ns,
		.cpu = short_run->run.cpu,
		.by_wait = short_run->by_wait && long_run->by_wait,
		.short_run = profile_run_of(short_run, floored),
		.long_run = profile_run_of(long_run, floored),
	};
	while (s < short_run->n_statistics ||
		l < long_run->n_statistics) { /* both are in the order of names */
		const struct daemon_statistics *a = NULL, *b = NULL;
		int order = s == short_run->n_statistics ? 1
			    : l == long_run->n_statistics
				    ? -1
				    : strcmp(short_run->statistics[s].name, long_run->statistics[l].name);

		if (order <= 0)
			a = &short_run->statistics[s++];
		if (order >= 0)
			b = &long_run->statistics[l++];
		add_cutoff(&profile, a, b, rules, &left_out);
	}
	*ret = profile;
	*ret_left_out = left_out;
	return 0;
}

void cutoffs_clear(struct cutoffs *cutoffs)
{
	for (size_t i = 0; i < cutoffs->n; i++) {
		free(cutoffs->items[i].daemon);
		free(cutoffs->items[i].unit);
	}
	free(cutoffs->items);
	*cutoffs = (struct cutoffs){};
}

const struct cutoff *profile_cutoff_of(
	const struct profile *profile, const struct name_pattern *patterns, const struct source *source)
{
	const struct cutoff *cutoff = profile_cutoff(profile, name_group(patterns, source->name));

	for (size_t i = 0; !cutoff && i < profile->n_cutoffs; i++)
		if (profile->cutoffs[i].names > 0 && name_family_has(profile->cutoffs[i].daemon, source))
			cutoff = &profile->cutoffs[i];
	return cutoff;
}

const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon)
{
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		if (!strcmp(profile->cutoffs[i].daemon, daemon))
			return &profile->cutoffs[i];
	return NULL;
}
