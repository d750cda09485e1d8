/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making cutoffs of two runs, and applying a profile to a run: see discard.h. */
#include "lib/protocol/discard.h"

#include "lib/protocol/adjust.h"
#include "lib/record/profile.h"

#include <assert.h>

/* Programs shorter than this share of the period get the cutoff of the short run. */
static const double TASK_SHARE = 0.05;
/* Fewer occurrences than this say nothing against a period. */
static const double LEAST_EXPECTED = 4;
/* Executions shorter than this share of the detection limit get no cutoff. By tests/bench/truth.py,
 * table cutoffs. */
static const double FLOOR = 0.5;
/* A background process is shown if one of its executions took this share of a sample's ET. */
static const double LONG_SHARE = 0.01;

const char *const discard_rule_names[N_DISCARD_RULES + 1] = {"all", "sedona", "emp"};

const struct summary *discarded_summary(
	const struct clock_discarding *clock, enum discard_rule rule)
{
	switch (rule) {
	case DISCARD_NOTHING:
		return &clock->raw;
	case DISCARD_EMP:
		return &clock->papers;
	default:
		return &clock->kept;
	}
}

/* The cutoff of EMP's step 8, without the long executions that are shorter than the floor: the
 * midpoint of the central maximum and the least of the others; -1: there are none. EMP's step 8
 * says "average", but its example, its tables and SEDONA use maximum and minimum, as this does. */
static int64_t cutoff_above(
	const struct daemon_statistics *daemon, int64_t floor_ns, int64_t resolution_ns)
{
	int64_t least_ns = INT64_MAX;

	if (!daemon || daemon->cutoff_ns < 0 || floor_ns == 0)
		return daemon ? daemon->cutoff_ns : -1;
	for (size_t i = 0; i < daemon->n_long_executions; i++)
		if (daemon->long_executions[i].pt_ns >= floor_ns &&
			daemon->long_executions[i].pt_ns < least_ns)
			least_ns = daemon->long_executions[i].pt_ns;
	if (least_ns == INT64_MAX)
		return -1;
	return resolution_midpoint(
		daemon->n_central > 0 ? daemon->central_max_ns : 0, least_ns, resolution_ns);
}

static int64_t share_ppm(const struct daemon_statistics *daemon)
{
	return daemon && !isnan(daemon->share) ? llround(daemon->share * PPM) : -1;
}

/* From the start of sample a to the end of sample b, which are indexes. */
static double samples_span_ns(const struct analysis *run, size_t a, size_t b)
{
	const struct sample *first = &run->samples[a], *last = &run->samples[b];

	if (first->start_ns > 0 && last->start_ns > first->start_ns)
		return (double)(last->start_ns - first->start_ns + last->et_ns);
	return (last->n - first->n + 1) * run->spacing_ns;
}

/* Whether the long run agrees with a period of the short one (EMP, step 7): the daemon ran long no
 * more often than that, and it ran in half of the samples in which it should have run, or more. An
 * execution may be in two samples that follow each other. */
static bool long_run_agrees(
	const struct analysis *run, const struct daemon_statistics *daemon, double period_ns)
{
	const struct long_execution *e = daemon->long_executions;
	size_t n_long = daemon->n_long_executions > 0;
	double all_ns, expected;

	for (size_t i = 1; i < daemon->n_long_executions; i++) {
		n_long += e[i].at != e[i - 1].at;
		if (e[i].at > e[i - 1].at + 1 &&
			samples_span_ns(run, e[i - 1].at, e[i].at) < period_ns * (1 - PERIOD_SLACK))
			return false;
	}
	if (run->n_samples == 0)
		return true;

	all_ns = samples_span_ns(run, 0, run->n_samples - 1);
	expected = fmin((double)run->n_samples, floor(all_ns / (period_ns * (1 + PERIOD_SLACK))));
	return expected < LEAST_EXPECTED || (double)(daemon->n_present + n_long) >= expected / 2;
}

/* The period of the short run, if the long one agrees or does not have the daemon; 0: none. */
static double agreed_period_ns(const struct analysis runs[2],
	const struct daemon_statistics *in_short, const struct daemon_statistics *in_long)
{
	double period_ns;

	if (!in_short || !period_is_known(&in_short->period))
		return 0;
	period_ns = analysis_period_ns(&runs[0], in_short);
	return !in_long || long_run_agrees(&runs[1], in_long, period_ns) ? period_ns : 0;
}

/* The cutoff of one daemon, without its texts; in_short or in_long is NULL if it was not in that
 * run. Below 0 in both runs: it is infrequent in neither. */
static struct cutoff cutoff_of(const struct profile *profile, const struct analysis runs[2],
	const struct daemon_statistics *in_short, const struct daemon_statistics *in_long)
{
	const struct analysis *short_run = &runs[0], *long_run = &runs[1];
	bool papers = short_run->run.kind == RUN_IMPORT || long_run->run.kind == RUN_IMPORT, both;
	double period_ns = agreed_period_ns(runs, in_short, in_long);
	int64_t resolution_ns = profile->resolution_ns;
	struct cutoff c = {
		.short_ns = cutoff_above(in_short, profile->short_run.floor_ns, resolution_ns),
		.long_ns = cutoff_above(in_long, profile->long_run.floor_ns, resolution_ns),
		.short_share_ppm = share_ppm(in_short),
		.long_share_ppm = share_ppm(in_long),
		.names = in_short ? in_short->names : 0,
	};

	if (in_long && in_long->names > c.names)
		c.names = in_long->names;
	if (c.long_ns < 0 && c.short_ns >= 0 && in_long && in_long->n_central > 0) {
		/* it runs only in the central cluster of the long run: what it hardly ever exceeds
		 * there */
		double most = (double)in_long->central_max_ns + 2 * in_long->central_sd_ns;

		c.long_ns = (int64_t)floor(most / (double)resolution_ns + 0.5) * resolution_ns;
	}
	both = c.short_ns >= 0 && c.long_ns >= 0;
	if (period_ns > 0) {
		c.period_ns = llround(period_ns);
		c.task_time_ns = llround(TASK_SHARE * period_ns);
		c.firm = in_short->period.firm;
	} else if (both && c.long_ns > c.short_ns && !papers)
		/* the geometric mean of the lengths of the two programs: shorter ones are nearer to
		 * the first */
		c.task_time_ns = llround(sqrt((double)short_run->central.median_ns) *
					 sqrt((double)long_run->central.median_ns));
	cutoff_set_limits(&c);
	return c;
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

/* The next daemon of two lists in the order of names, from a[*s] and b[*l] on: *ret_a or *ret_b is
 * NULL if it is only in the other list. False: there are no more. */
static bool next_daemon(const struct analysis runs[2], size_t *s, size_t *l,
	const struct daemon_statistics **ret_a, const struct daemon_statistics **ret_b)
{
	const struct daemon_statistics *a = NULL, *b = NULL;
	int order = 0;

	if (*s < runs[0].n_statistics)
		a = &runs[0].statistics[*s];
	if (*l < runs[1].n_statistics)
		b = &runs[1].statistics[*l];
	if (!a && !b)
		return false;

	if (a && b)
		order = strcmp(a->name, b->name);
	if (order > 0)
		a = NULL;
	if (order < 0)
		b = NULL;
	*s += a != NULL;
	*l += b != NULL;
	*ret_a = a;
	*ret_b = b;
	return true;
}

struct profile cutoffs_make(const char *profile_name, const struct analysis runs[2],
	int64_t least_share_ppm, struct cutoffs *ret_left_out)
{
	const struct analysis *short_run = &runs[0], *long_run = &runs[1];
	const struct daemon_statistics *a, *b;
	bool floored = least_share_ppm > 0;
	struct profile profile = {
		.name = xstrdup(profile_name ?: "unnamed"),
		.resolution_ns = short_run->resolution_ns,
		.cpu = short_run->run.cpu,
		.by_wait = short_run->by_wait && long_run->by_wait,
		.short_run = profile_run_of(short_run, floored),
		.long_run = profile_run_of(long_run, floored),
	};

	assert(short_run->resolution_ns == long_run->resolution_ns);
	*ret_left_out = (struct cutoffs){};
	for (size_t s = 0, l = 0; next_daemon(runs, &s, &l, &a, &b);) {
		struct cutoff c = cutoff_of(&profile, runs, a, b), *added;
		bool infrequent = c.short_ns >= 0 || c.long_ns >= 0;
		int64_t share = cutoff_share_ppm(&c);

		if (!infrequent && share < 0)
			continue;
		/* the papers would give one also to those that are left out */
		if (!infrequent || (share >= 0 && share < least_share_ppm))
			added = array_add(ret_left_out->items, ret_left_out->n);
		else
			added = array_add(profile.cutoffs, profile.n_cutoffs);
		*added = c;
		added->daemon = xstrdup(a ? a->name : b->name);
		added->unit = text_copy(a && (a->unit || !b) ? a->unit : b->unit);
	}
	return profile;
}

void cutoffs_clear(struct cutoffs *cutoffs)
{
	fields_free(&cutoff_table, cutoffs->items, cutoffs->n);
	*cutoffs = (struct cutoffs){};
}

const struct cutoff *profile_cutoff(const struct profile *profile, const char *daemon)
{
	for (size_t i = 0; i < profile->n_cutoffs; i++)
		if (!strcmp(profile->cutoffs[i].daemon, daemon))
			return &profile->cutoffs[i];
	return NULL;
}

static void over_cutoffs_free(struct over_cutoff *over, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(over[i].daemon);
		free(over[i].unit);
	}
	free(over);
}

void sample_filter_clear(struct sample_filter *d)
{
	over_cutoffs_free(d->candidates, d->n_candidates);
	over_cutoffs_free(d->unprofiled, d->n_unprofiled);
	daemons_clear(&d->daemons);
	*d = (struct sample_filter){};
}

static void add_over(struct over_cutoff **items, size_t *n, const struct over_cutoff *over)
{
	struct over_cutoff *added = array_add(*items, *n);

	*added = *over;
	added->daemon = xstrdup(over->daemon);
	added->unit = text_copy(over->unit);
}

/* What each daemon took in the sample: what it used; or, if all together used more than was taken
 * from the program, its part of that. Rounded sums, not rounded parts, so that the parts add up.
 * Returns the sum. */
static int64_t share_out_taken(struct daemons *daemons, int64_t taken_ns)
{
	int64_t used_ns = 0, before_ns = 0;
	double scale;

	for (size_t i = 0; i < daemons->n; i++)
		used_ns = saturate_add(used_ns, daemons->items[i].in_sample_ns);
	if (taken_ns <= 0 || used_ns <= 0)
		return 0;
	scale = used_ns > taken_ns ? (double)taken_ns / (double)used_ns : 1;
	used_ns = 0;
	for (size_t i = 0; i < daemons->n; i++) {
		struct daemon_statistics *daemon = &daemons->items[i];
		int64_t ns = daemon->in_sample_ns, after_ns;

		used_ns = saturate_add(used_ns, ns);
		after_ns = scale < 1 ? llround(scale * (double)used_ns) : used_ns;
		daemon->disturbed_ns = saturate_add(daemon->disturbed_ns, after_ns - before_ns);
		daemon->disturbed_most_ns = saturate_add(
			daemon->disturbed_most_ns, ns < taken_ns ? ns : taken_ns);
		before_ns = after_ns;
	}
	return before_ns;
}

/* Judges the unprofiled daemons of the sample after all its executions have been added. */
static void end_sample(struct sample_filter *d)
{
	const struct sample *sample = &d->samples[d->at];
	int64_t taken_ns = sample_taken_ns(sample);
	double limit_ns = d->rules.unprofiled_share * (double)sample->et_ns;
	/* If less than that was taken from the program, the others ran on other CPUs. That is not
	 * known of a program that used several, unless its waiting time is. */
	bool judged = limit_ns > 0 &&
		      ((double)taken_ns > limit_ns ||
			      (sample->wait_ns < 0 && sample->pt_ns > sample->et_ns));

	d->disturbed_ns = saturate_add(d->disturbed_ns, share_out_taken(&d->daemons, taken_ns));
	for (size_t i = 0; i < d->daemons.n; i++) {
		struct daemon_statistics *o = &d->daemons.items[i];
		int64_t ns = o->in_sample_ns;

		if (judged && !o->profiled && (double)ns > limit_ns)
			add_over(&d->unprofiled, &d->n_unprofiled,
				&(struct over_cutoff){
					sample->n, o->name, o->unit, ns, llround(limit_ns)});
		o->in_sample_ns = 0;
	}
}

/* The cutoff of a process: that of its group, or of its family; NULL: none. */
static const struct cutoff *cutoff_of_source(
	const struct discard_rules *rules, const struct source *source)
{
	const struct profile *profile = rules->profile;
	const struct cutoff *cutoff;

	if (!profile)
		return NULL;
	cutoff = profile_cutoff(profile, name_group(rules->patterns, source->name));
	for (size_t i = 0; !cutoff && i < profile->n_cutoffs; i++)
		if (profile->cutoffs[i].names > 0 &&
			family_includes(profile->cutoffs[i].daemon, source))
			cutoff = &profile->cutoffs[i];
	return cutoff;
}

int sample_filter_add(void *filter, const struct execution *e, struct error *err)
{
	struct sample_filter *d = filter;
	const struct discard_rules *rules = &d->rules;
	const struct profile *profile = rules->profile;
	int64_t disturbing_ns = execution_disturbing_ns(e);
	int64_t pt_ns = rules->other_cpus ? e->pt_ns : disturbing_ns;
	struct daemon_statistics *daemon;
	const struct source *source;
	const struct cutoff *cutoff;

	if (e->source < 1 || e->source > d->sources->n)
		return 0;
	source = &d->sources->items[e->source - 1];
	for (; d->at < d->n_samples && d->samples[d->at].n < e->sample; d->at++)
		end_sample(d);
	if (d->at == d->n_samples)
		return 0;
	if (d->samples[d->at].n != e->sample)
		return error_say(err, -EINVAL,
			"an execution is in sample %" PRIu32 ", which does not exist", e->sample);

	daemon = daemons_add(&d->daemons, rules->patterns, source, e, e->pt_ns);
	if (daemon->executions == 1)
		daemon->cutoff = cutoff_of_source(rules, source);
	cutoff = daemon->cutoff;
	daemon->profiled = cutoff;
	daemon->total_ns = saturate_add(daemon->total_ns, e->pt_ns);
	daemon->in_sample_ns = saturate_add(daemon->in_sample_ns, disturbing_ns);
	daemon->long_once |= (double)e->pt_ns >= LONG_SHARE * (double)d->samples[d->at].et_ns;

	if (profile && profile->resolution_ns > 0)
		pt_ns = resolution_round(pt_ns, profile->resolution_ns);
	if (cutoff && (pt_ns > cutoff->below_ns || pt_ns > cutoff->atleast_ns))
		add_over(&d->candidates, &d->n_candidates,
			&(struct over_cutoff){e->sample, cutoff->daemon, source->unit, pt_ns, 0});
	return 0;
}

/* The times of the samples that are not out; returns how many. */
static size_t times_kept(const struct sample_filter *d, const bool *out, bool et, int64_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_samples; i++)
		if (!out[i])
			ret[n++] = sample_time_ns(&d->samples[i], et);
	return n;
}

/* A run of a duet after the first check, or the only run. */
struct checked {
	struct sample_filter *filter;
	struct discarding result;
	bool *own; /* by index into the samples: discarded for a reason of its own */
};

/* Adds the flags of another run of the duet, by the numbers of samples. What that run does not have
 * is flagged. */
static void add_flags(const struct sample_filter *to, bool *flags, const struct sample_filter *from,
	const bool *others)
{
	for (size_t i = 0, k = 0; i < to->n_samples; i++) {
		while (k < from->n_samples && from->samples[k].n < to->samples[i].n)
			k++;
		flags[i] |= k == from->n_samples || from->samples[k].n != to->samples[i].n ||
			    others[k];
	}
}

/* Which samples the second check discards, by this run alone. The caller frees the array. */
static bool *flag_two_sd(const struct checked *c, bool et)
{
	const struct sample_filter *d = c->filter;
	_cleanup_(freep) int64_t *times = xcalloc(d->n_samples, sizeof(*times));
	struct summary kept = summary_of(times, times_kept(d, c->result.out, et, times));
	bool *flags = xcalloc(d->n_samples, sizeof(*flags));

	for (size_t i = 0; i < d->n_samples; i++)
		flags[i] = !c->result.out[i] &&
			   beyond_two_sd(&kept, sample_time_ns(&d->samples[i], et));
	return flags;
}

/* Which samples of runs[0] the second check discards: those that it discards in any of the runs.
 * The caller frees the array. */
static bool *flag_two_sd_in_any(const struct checked *runs, size_t n_runs, bool et)
{
	bool *flags = flag_two_sd(&runs[0], et);

	for (size_t i = 1; i < n_runs; i++) {
		_cleanup_(freep) bool *others = flag_two_sd(&runs[i], et);

		add_flags(runs[0].filter, flags, runs[i].filter, others);
	}
	return flags;
}

/* The second check, for one clock, of the samples that the first check keeps. runs[0] is the one
 * that is judged. */
static void check_two_sd(
	const struct checked *runs, size_t n_runs, bool et, struct clock_discarding *c)
{
	const struct sample_filter *d = runs[0].filter;
	_cleanup_(freep) int64_t *times = xcalloc(d->n_samples, sizeof(*times));
	_cleanup_(freep) bool *flags = flag_two_sd_in_any(runs, n_runs, et);
	const bool *out = runs[0].result.out;
	size_t n, kept = 0;

	for (size_t i = 0; i < d->n_samples; i++)
		times[i] = sample_time_ns(&d->samples[i], et);
	c->raw = summary_of(times, d->n_samples);

	n = times_kept(d, out, et, times);
	c->kept = summary_of(times, n);
	c->interval = interval_of_mean(
		times, n, &d->rules.correlation, et ? 0 : d->rules.resolution_ns);

	c->by_two_sd = xcalloc(d->n_samples, sizeof(*c->by_two_sd));
	c->in_papers = xcalloc(d->n_samples, sizeof(*c->in_papers));
	for (size_t i = 0; i < d->n_samples; i++) {
		c->in_papers[i] = !out[i] && !flags[i];
		if (c->in_papers[i])
			times[kept++] = sample_time_ns(&d->samples[i], et);
		else if (!out[i])
			c->by_two_sd[c->n_by_two_sd++] = d->samples[i].n;
	}
	c->papers = summary_of(times, kept);
}

/* The mean ET of all samples; 0: there are none. */
static int64_t mean_et(const struct sample_filter *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->n_samples; i++)
		sum += (double)d->samples[i].et_ns;
	return d->n_samples > 0 ? llround(sum / (double)d->n_samples) : 0;
}

/* Which executions are over their cutoffs, of those that are over one of their daemon. */
static void find_over_cutoffs(struct sample_filter *d, struct discarding *out)
{
	int64_t mean_et_ns = mean_et(d);

	for (size_t i = 0; i < d->n_candidates; i++) {
		struct over_cutoff *c = &d->candidates[i];

		c->cutoff_ns = cutoff_for(profile_cutoff(d->rules.profile, c->daemon), mean_et_ns);
		if (c->cutoff_ns >= 0 && c->pt_ns > c->cutoff_ns)
			add_over(&out->over, &out->n_over, c);
	}
	for (size_t i = 0; i < d->n_unprofiled; i++)
		add_over(&out->unprofiled, &out->n_unprofiled, &d->unprofiled[i]);
}

/* Whether the sample is in the list, from items[*at] on, which is in the order of samples. */
static bool is_over(const struct over_cutoff *items, size_t n, size_t *at, uint32_t sample)
{
	size_t first = *at;

	while (*at < n && items[*at].sample == sample)
		++*at;
	return *at > first;
}

/* The first check of one run. An incomplete sample with an execution over its cutoff counts as
 * discarded by cutoff. */
static struct discarding check_cutoffs(struct sample_filter *d)
{
	struct discarding out = {};

	if (d->at < d->n_samples)
		end_sample(d);
	find_over_cutoffs(d, &out);

	out.out = xcalloc(d->n_samples, sizeof(*out.out));
	out.by_cutoff = xcalloc(d->n_samples, sizeof(*out.by_cutoff));
	out.incomplete = xcalloc(d->n_samples, sizeof(*out.incomplete));
	for (size_t i = 0, over = 0, unprofiled = 0; i < d->n_samples; i++) {
		const struct sample *s = &d->samples[i];
		bool by_cutoff = is_over(out.over, out.n_over, &over, s->n);
		bool by_unprofiled = is_over(out.unprofiled, out.n_unprofiled, &unprofiled, s->n);

		out.out[i] = by_cutoff || by_unprofiled || s->incomplete;
		if (by_cutoff)
			out.by_cutoff[out.n_by_cutoff++] = s->n;
		else if (s->incomplete && !by_unprofiled)
			out.incomplete[out.n_incomplete++] = s->n;
	}
	return out;
}

enum neighbour_rule neighbour_rule_for(enum neighbour_rule rule, size_t clean, size_t n)
{
	const size_t ENOUGH = 3;
	size_t half = (n + 1) / 2, least = half < ENOUGH ? half : ENOUGH;

	if (rule != NEIGHBOUR_AUTO)
		return rule;
	return clean >= least ? NEIGHBOUR_DISCARD : NEIGHBOUR_ADJUST;
}

/* A sample that is discarded in one run is discarded in all. */
static void discard_together(struct checked *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (k != i)
				add_flags(runs[i].filter, runs[i].result.out, runs[k].filter,
					runs[k].own);
}

/* Which samples of a run had a neighbour. The caller frees the array. *probed becomes true if that
 * is known of any. */
static bool *flag_neighbours(const struct sample_filter *d, int64_t limit_ppm, bool *probed)
{
	bool *flags = xcalloc(d->n_samples, sizeof(*flags));

	for (size_t i = 0; i < d->n_samples; i++) {
		flags[i] = sample_has_neighbour(&d->samples[i], limit_ppm);
		*probed |= d->samples[i].neighbour_ppm >= 0;
	}
	return flags;
}

/* What is done about neighbours, by the samples that the first check keeps so far. */
static enum neighbour_rule choose_neighbour_rule(const struct checked *runs, size_t n_runs)
{
	const struct sample_filter *d = runs[0].filter;
	int64_t limit_ppm = d->rules.neighbour_limit_ppm;
	bool probed = false;
	_cleanup_(freep) bool *beside = flag_neighbours(d, limit_ppm, &probed);
	size_t n = 0, clean = 0;

	for (size_t i = 1; i < n_runs; i++) {
		_cleanup_(freep) bool *others = flag_neighbours(runs[i].filter, limit_ppm, &probed);

		add_flags(d, beside, runs[i].filter, others);
	}
	for (size_t i = 0; i < d->n_samples; i++) {
		n += !runs[0].result.out[i];
		clean += !runs[0].result.out[i] && !beside[i];
	}
	return probed ? neighbour_rule_for(d->rules.neighbour, clean, n) : NEIGHBOUR_OFF;
}

/* Discards the samples that had a neighbour, if the rules say so. */
static void check_neighbours(struct checked *runs, size_t n)
{
	const struct discard_rules *rules = &runs[0].filter->rules;
	enum neighbour_rule rule = choose_neighbour_rule(runs, n);

	for (size_t i = 0; i < n; i++) {
		const struct sample_filter *d = runs[i].filter;
		struct discarding *result = &runs[i].result;

		result->neighbour = rule;
		result->by_neighbour = xcalloc(d->n_samples, sizeof(*result->by_neighbour));
		for (size_t k = 0; rule == NEIGHBOUR_DISCARD && k < d->n_samples; k++) {
			if (!sample_has_neighbour(&d->samples[k], rules->neighbour_limit_ppm))
				continue;
			result->out[k] = runs[i].own[k] = true;
			result->by_neighbour[result->n_by_neighbour++] = d->samples[k].n;
		}
	}
}

/* The first check of all runs of the duet, or of the only run. Returns `n` runs; the first is that
 * of `d`. */
static struct checked *check_together(struct sample_filter *d, size_t n)
{
	struct checked *runs = xcalloc(n, sizeof(*runs));

	runs[0].filter = d;
	for (size_t i = 0, at = 1; i < d->n_duet; i++)
		if (d->duet[i] != d)
			runs[at++].filter = d->duet[i];
	for (size_t i = 0; i < n; i++) {
		size_t n_samples = runs[i].filter->n_samples;

		runs[i].result = check_cutoffs(runs[i].filter);
		runs[i].own = xcalloc(n_samples, sizeof(bool));
		if (n_samples > 0)
			memcpy(runs[i].own, runs[i].result.out, n_samples * sizeof(bool));
	}
	discard_together(runs, n);
	check_neighbours(runs, n);
	discard_together(runs, n);
	return runs;
}

struct discarding sample_filter_judge(struct sample_filter *d)
{
	const struct profile *profile = d->rules.profile;
	size_t n = d->n_duet > 0 ? d->n_duet : 1;
	_cleanup_(freep) struct checked *runs = check_together(d, n);
	struct discarding out = runs[0].result;

	if (profile)
		out.mark = (struct profile_mark){
			profile->mark.blind_ns, text_copy(profile->mark.noise)};
	out.by_duet = xcalloc(d->n_samples, sizeof(*out.by_duet));
	for (size_t i = 0; i < d->n_samples; i++)
		if (out.out[i] && !runs[0].own[i])
			out.by_duet[out.n_by_duet++] = d->samples[i].n;
	check_two_sd(runs, n, false, &out.pt);
	check_two_sd(runs, n, true, &out.et);
	discarding_adjust(&out, d->samples, d->n_samples, &d->rules);
	for (size_t i = 0; i < n; i++) {
		free(runs[i].own);
		if (i > 0)
			discarding_clear(&runs[i].result);
	}
	return out;
}

static int by_disturbance(const void *x, const void *y)
{
	const struct daemon_statistics *a = x, *b = y;

	if (a->disturbed_ns != b->disturbed_ns)
		return a->disturbed_ns < b->disturbed_ns ? 1 : -1;
	return (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
}

struct discarding sample_filter_finish(struct sample_filter *d)
{
	struct discarding out = sample_filter_judge(d);

	for (size_t i = 0; i < d->daemons.n; i++) {
		struct daemon_statistics *daemon = &d->daemons.items[i];

		if (!daemon->cutoff || daemon->cutoff->names == 0)
			continue;
		daemon->alone = true; /* those of a family of the profile count under its name */
		daemon_name_family(daemon, daemon->cutoff->daemon);
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
	free(d->by_neighbour);
	free(d->by_duet);
	free(d->pt.by_two_sd);
	free(d->pt.in_papers);
	free(d->pt.adjusted.times_ns);
	free(d->et.adjusted.times_ns);
	free(d->et.by_two_sd);
	free(d->et.in_papers);
	free(d->cpu_kind);
	free(d->mark.noise);
	daemons_clear(&d->others);
	run_clear(&d->run);
	*d = (struct discarding){};
}
