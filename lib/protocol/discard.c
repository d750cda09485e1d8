/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying a profile to a run: see discard.h. */
#include "lib/protocol/discard.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

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
static bool is_among(const struct over_cutoff *over, size_t n, size_t *at, uint32_t sample)
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
		bool by_cutoff = is_among(out.over, out.n_over, &over, s->n);
		bool by_unprofiled = is_among(out.unprofiled, out.n_unprofiled, &unprofiled, s->n);

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
