/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying a profile to a run: see discard.h. */
#include "lib/protocol/discard.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/protocol/names.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* EMP's step 8 says "average", but its example, its tables
 * and SEDONA use maximum and minimum, as this does. */

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

static const struct cutoff *profile_cutoff_of(
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

/* Of a sample's ET: a background process that once took as much is shown. */
static const double LONG_SHARE = 0.01;

/* An execution that is over its cutoff if the cutoff for the run's mean ET is below it. */
struct candidate {
	uint32_t sample;
	const struct cutoff *cutoff;
	char *unit;
	int64_t pt_ns;
};

struct discarder {
	struct discard_rules rules;
	int64_t resolution_ns;
	struct sample *samples;
	size_t n_samples, samples_capacity;
	size_t at; /* index of the sample whose executions are being added */
	struct daemons daemons;
	struct candidate *candidates;
	size_t n_candidates;
	int64_t disturbed_ns; /* see struct discarding */
	struct over_cutoff *unprofiled;
	size_t n_unprofiled;
};

struct discarder *discarder_new(const struct discard_rules *rules)
{
	struct discarder *d = xcalloc(1, sizeof(*d));
	const struct profile *profile = rules->profile;

	d->rules = *rules;
	d->resolution_ns = profile && profile->resolution_ns > 0 ? profile->resolution_ns : 1;
	return d;
}

static void over_cutoffs_free(struct over_cutoff *over, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(over[i].daemon);
		free(over[i].unit);
	}
	free(over);
}

void discarder_free(struct discarder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_candidates; i++)
		free(d->candidates[i].unit);
	free(d->candidates);
	over_cutoffs_free(d->unprofiled, d->n_unprofiled);
	daemons_clear(&d->daemons);
	free(d->samples);
	free(d);
}

void discarder_add_sample(struct discarder *d, const struct sample *sample)
{
	struct sample *added = array_add_reused(d->samples, d->n_samples, d->samples_capacity);

	*added = *sample;
}

static void add_over(struct over_cutoff **items, size_t *n, const struct over_cutoff *over)
{
	struct over_cutoff *added = array_add(*items, *n);

	*added = *over;
	added->daemon = xstrdup(over->daemon);
	added->unit = text_copy(over->unit);
}

/* Judges the unprofiled daemons of the sample after all its executions have been added. */
static void end_sample(struct discarder *d)
{
	const struct sample *sample = &d->samples[d->at];
	int64_t taken_ns = sample_taken_ns(sample), used_ns = 0;
	double limit_ns = d->rules.unprofiled_share * (double)sample->et_ns;
	/* If less than that was taken from the program, the others ran on other CPUs. That is not known of a program that
	 * used several, unless its waiting time is. */
	bool judged = limit_ns > 0 &&
		      ((double)taken_ns > limit_ns || (sample->wait_ns < 0 && sample->pt_ns > sample->et_ns));

	for (size_t i = 0; i < d->daemons.n; i++) {
		struct daemon_statistics *o = &d->daemons.items[i];
		int64_t ns = o->in_sample_ns;

		if (judged && !o->profiled && (double)ns > limit_ns)
			add_over(&d->unprofiled, &d->n_unprofiled,
				&(struct over_cutoff){sample->n, o->name, o->unit, ns, llround(limit_ns)});
		used_ns = saturate_add(used_ns, ns);
		o->disturbed_ns = saturate_add(o->disturbed_ns, ns < taken_ns ? ns : taken_ns);
		o->in_sample_ns = 0;
	}
	d->disturbed_ns = saturate_add(d->disturbed_ns, used_ns < taken_ns ? used_ns : taken_ns);
}

int discarder_add(
	struct discarder *d, const struct source *source, const struct execution *e, struct error *err)
{
	const struct discard_rules *rules = &d->rules;
	int64_t disturbing_ns = execution_disturbing_ns(e);
	int64_t pt_ns = resolution_round(rules->other_cpus ? e->pt_ns : disturbing_ns, d->resolution_ns);
	struct daemon_statistics *daemon;
	const struct cutoff *cutoff;
	struct candidate *added;

	for (; d->at < d->n_samples && d->samples[d->at].n < e->sample; d->at++)
		end_sample(d);
	if (d->at == d->n_samples) /* it is newer than the samples that were read */
		return 0;
	if (d->samples[d->at].n != e->sample)
		return error_say(err, -EINVAL, "an execution is in sample %" PRIu32 ", which does not exist",
			e->sample);
	daemon = daemons_add(&d->daemons, rules->patterns, source, e, e->pt_ns);
	if (daemon->executions == 1 && rules->profile)
		daemon->cutoff = profile_cutoff_of(rules->profile, rules->patterns, source);
	cutoff = daemon->cutoff;
	daemon->profiled = cutoff;
	daemon->total_ns = saturate_add(daemon->total_ns, e->pt_ns);
	daemon->in_sample_ns = saturate_add(daemon->in_sample_ns, disturbing_ns);
	daemon->long_once |= (double)e->pt_ns >= LONG_SHARE * (double)d->samples[d->at].et_ns;
	if (!cutoff || (pt_ns <= cutoff->below_ns && pt_ns <= cutoff->atleast_ns))
		return 0;
	added = array_add(d->candidates, d->n_candidates);
	*added = (struct candidate){e->sample, cutoff, text_copy(source->unit), pt_ns};
	return 0;
}

/* Whether the list has an item of this sample; `at` advances with the samples. */
static bool is_over_cutoff(const struct over_cutoff *over, size_t n, size_t *at, uint32_t sample)
{
	while (*at < n && over[*at].sample < sample)
		++*at;
	return *at < n && over[*at].sample == sample;
}

/* The second check, for one clock, of the samples that the first check keeps. */
static void check_two_sd(const struct discarder *d, const bool *out, bool et, struct clock_discarding *c)
{
	_cleanup_(freep) int64_t *times = xcalloc(d->n_samples, sizeof(*times));
	size_t n = 0, kept = 0;

	c->by_two_sd = xcalloc(d->n_samples, sizeof(*c->by_two_sd));
	c->in_papers = xcalloc(d->n_samples, sizeof(*c->in_papers));
	for (size_t i = 0; i < d->n_samples; i++)
		times[n++] = sample_time_ns(&d->samples[i], et);
	c->raw = summary_of(times, n);
	n = 0;
	for (size_t i = 0; i < d->n_samples; i++)
		if (!out[i])
			times[n++] = sample_time_ns(&d->samples[i], et);
	c->kept = summary_of(times, n);
	c->interval = interval_of_mean(times, n, 0.95, &d->rules.correlation);
	for (size_t i = 0; i < d->n_samples; i++) {
		int64_t time = sample_time_ns(&d->samples[i], et);

		c->in_papers[i] = !out[i] && !beyond_two_sd(&c->kept, time);
		if (c->in_papers[i])
			times[kept++] = time;
		else if (!out[i])
			c->by_two_sd[c->n_by_two_sd++] = d->samples[i].n;
	}
	c->papers = summary_of(times, kept);
}

struct discarding discarder_judge(struct discarder *d)
{
	struct discarding out = {.resolution_ns = d->resolution_ns};
	double sum = 0;

	if (d->at < d->n_samples)
		end_sample(d);
	for (size_t i = 0; i < d->n_samples; i++)
		sum += (double)d->samples[i].et_ns;
	out.mean_et_ns = d->n_samples > 0 ? llround(sum / (double)d->n_samples) : 0;
	if (d->rules.profile) {
		out.blind_ns = d->rules.profile->blind_ns;
		out.noise = text_copy(d->rules.profile->noise);
	}
	/* The executions that are over their cutoffs. */
	for (size_t i = 0; i < d->n_candidates; i++) {
		const struct candidate *c = &d->candidates[i];
		int64_t cutoff_ns = cutoff_for(c->cutoff, out.mean_et_ns);

		if (cutoff_ns >= 0 && c->pt_ns > cutoff_ns) /* it may be that of the other programs only */
			add_over(&out.over, &out.n_over,
				&(struct over_cutoff){
					c->sample, c->cutoff->daemon, c->unit, c->pt_ns, cutoff_ns});
	}
	for (size_t i = 0; i < d->n_unprofiled; i++)
		add_over(&out.unprofiled, &out.n_unprofiled, &d->unprofiled[i]);

	/* The first check. An incomplete sample with an execution over its cutoff counts as discarded by
	 * cutoff. */
	size_t over = 0, unprofiled = 0;

	out.out = xcalloc(d->n_samples, sizeof(*out.out));
	out.by_cutoff = xcalloc(d->n_samples, sizeof(*out.by_cutoff));
	out.incomplete = xcalloc(d->n_samples, sizeof(*out.incomplete));
	for (size_t i = 0; i < d->n_samples; i++) {
		const struct sample *s = &d->samples[i];
		bool by_cutoff = is_over_cutoff(out.over, out.n_over, &over, s->n);
		bool by_unprofiled = is_over_cutoff(out.unprofiled, out.n_unprofiled, &unprofiled, s->n);

		out.out[i] = by_cutoff || by_unprofiled || s->incomplete;
		if (by_cutoff)
			out.by_cutoff[out.n_by_cutoff++] = s->n;
		else if (s->incomplete && !by_unprofiled)
			out.incomplete[out.n_incomplete++] = s->n;
	}
	check_two_sd(d, out.out, false, &out.pt);
	check_two_sd(d, out.out, true, &out.et);
	return out;
}

static int by_disturbance(const void *x, const void *y)
{
	const struct daemon_statistics *a = x, *b = y;

	if (a->disturbed_ns != b->disturbed_ns)
		return a->disturbed_ns < b->disturbed_ns ? 1 : -1;
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

struct discarding discarder_finish(struct discarder *d)
{
	struct discarding out = discarder_judge(d);

	for (size_t i = 0; i < d->daemons.n; i++) {
		struct daemon_statistics *daemon = &d->daemons.items[i];

		if (!daemon->cutoff || daemon->cutoff->names == 0)
			continue;
		daemon->alone = true; /* those of a family of the profile count under its name */
		daemon->names = 1;
		free(daemon->name);
		daemon->name = xstrdup(daemon->cutoff->daemon);
	}
	daemons_join_families(&d->daemons, NULL, 0);
	for (size_t i = 0; i < d->daemons.n; i++)
		d->daemons.items[i].cutoff = NULL;
	if (d->daemons.n > 0)
		qsort(d->daemons.items, d->daemons.n, sizeof(*d->daemons.items), by_disturbance);
	out.others = TAKE_STRUCT(d->daemons);
	out.disturbed_ns = d->disturbed_ns;
	return out;
}

void discarding_clear(struct discarding *d)
{
	over_cutoffs_free(d->over, d->n_over);
	over_cutoffs_free(d->unprofiled, d->n_unprofiled);
	free(d->out);
	free(d->by_cutoff);
	free(d->incomplete);
	free(d->pt.by_two_sd);
	free(d->pt.in_papers);
	free(d->et.by_two_sd);
	free(d->et.in_papers);
	free(d->noise);
	daemons_clear(&d->others);
	run_clear(&d->run);
	*d = (struct discarding){};
}
