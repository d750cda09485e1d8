/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applying a profile to a run: see discard.h. */
#include "lib/protocol/discard.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/protocol/resolution.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

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
	struct others others;
	struct candidate *candidates;
	size_t n_candidates;
	int64_t disturbed_ns; /* see struct discarding */
	struct over_cutoff *unprofiled;
	size_t n_unprofiled;
};

int discarder_new(struct discarder **ret, const struct discard_rules *rules, struct error *err)
{
	struct discarder *d = xcalloc(1, sizeof(*d));

	d->rules = *rules;
	d->resolution_ns = rules->profile && rules->profile->resolution_ns > 0 ? rules->profile->resolution_ns
									       : 1;
	*ret = d;
	return 0;
}

static void free_over(struct over_cutoff *over, size_t n)
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
	free_over(d->unprofiled, d->n_unprofiled);
	others_clear(&d->others);
	free(d->samples);
	free(d);
}

int discarder_add_sample(struct discarder *d, const struct sample *sample, struct error *err)
{
	struct sample *added = array_add_reused(d->samples, d->n_samples, d->samples_capacity);

	*added = *sample;
	return 0;
}

static int add_over(struct over_cutoff **items, size_t *n, const struct over_cutoff *over, struct error *err)
{
	struct over_cutoff *added = array_add(*items, *n);

	*added = *over;
	added->daemon = xstrdup(over->daemon);
	added->unit = text_copy(over->unit);
	return added->daemon && (added->unit || !over->unit) ? 0 : error_oom(err);
}

/* Judges the unprofiled daemons of the sample after all its executions have been added. */
static int end_sample(struct discarder *d, struct error *err)
{
	const struct sample *sample = &d->samples[d->at];
	int64_t taken_ns = sample_taken_ns(sample), used_ns = 0;
	double limit_ns = d->rules.unprofiled_share * (double)sample->et_ns;
	/* If less than that was taken from the program, the others ran on other CPUs. That is not known of a program that
	 * used several, unless its waiting time is. */
	bool judged = limit_ns > 0 &&
		      ((double)taken_ns > limit_ns || (sample->wait_ns < 0 && sample->pt_ns > sample->et_ns));

	for (size_t i = 0; i < d->others.n; i++) {
		struct other *o = &d->others.items[i];
		const struct over_cutoff over = {
			sample->n, o->name, o->unit, o->in_sample_ns, llround(limit_ns)};
		int r = 0;

		if (judged && !o->profiled && (double)o->in_sample_ns > limit_ns)
			r = add_over(&d->unprofiled, &d->n_unprofiled, &over, err);
		if (r < 0)
			return r;
		used_ns = saturate_add(used_ns, o->in_sample_ns);
		o->disturbed_ns = saturate_add(
			o->disturbed_ns, o->in_sample_ns < taken_ns ? o->in_sample_ns : taken_ns);
		o->in_sample_ns = 0;
	}
	d->disturbed_ns = saturate_add(d->disturbed_ns, used_ns < taken_ns ? used_ns : taken_ns);
	return 0;
}

/* 1: the sample is the current one. 0: it is newer than the samples that were read. */
static int go_to(struct discarder *d, uint32_t sample, struct error *err)
{
	while (d->at < d->n_samples && d->samples[d->at].n < sample) {
		int r = end_sample(d, err);

		if (r < 0)
			return r;
		d->at++;
	}
	if (d->at == d->n_samples)
		return 0;
	if (d->samples[d->at].n != sample)
		return error_say(
			err, -EINVAL, "an execution is in sample %" PRIu32 ", which does not exist", sample);
	return 1;
}

static int add_candidate(struct discarder *d, const struct cutoff *cutoff, const char *unit, uint32_t sample,
	int64_t pt_ns, struct error *err)
{
	struct candidate *candidate = array_add(d->candidates, d->n_candidates);

	*candidate = (struct candidate){sample, cutoff, text_copy(unit), pt_ns};
	return unit && !candidate->unit ? error_oom(err) : 0;
}

int discarder_add(
	struct discarder *d, const struct source *daemon, const struct execution *e, struct error *err)
{
	int64_t used_ns = d->rules.other_cpus ? e->pt_ns : execution_disturbing_ns(e);
	int64_t pt_ns = resolution_round(used_ns, d->resolution_ns);
	const struct other *other;
	int r;

	r = go_to(d, e->sample, err);
	if (r <= 0)
		return r;
	other = others_add(
		&d->others, d->rules.patterns, d->rules.profile, daemon, e, d->samples[d->at].et_ns);
	if (!other)
		return error_oom(err);
	if (!other->cutoff || (pt_ns <= other->cutoff->below_ns && pt_ns <= other->cutoff->atleast_ns))
		return 0;
	return add_candidate(d, other->cutoff, daemon->unit, e->sample, pt_ns, err);
}

static int64_t mean_et(const struct sample *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i].et_ns;
	return n > 0 ? llround(sum / (double)n) : 0;
}

static int find_over(const struct discarder *d, struct discarding *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->n_candidates; i++) {
		const struct candidate *c = &d->candidates[i];
		int64_t cutoff_ns = cutoff_for(c->cutoff, ret->mean_et_ns);
		const struct over_cutoff over = {c->sample, c->cutoff->daemon, c->unit, c->pt_ns, cutoff_ns};

		if (cutoff_ns >= 0 && c->pt_ns > cutoff_ns) /* it may be that of the other programs only */
			r = add_over(&ret->over, &ret->n_over, &over, err);
	}
	for (size_t i = 0; r == 0 && i < d->n_unprofiled; i++)
		r = add_over(&ret->unprofiled, &ret->n_unprofiled, &d->unprofiled[i], err);
	return r;
}

/* Whether the list has an item of this sample; `at` advances with the samples. */
static bool is_among(const struct over_cutoff *over, size_t n, size_t *at, uint32_t sample)
{
	while (*at < n && over[*at].sample < sample)
		++*at;
	return *at < n && over[*at].sample == sample;
}

/* The first check. An incomplete sample with an execution over its cutoff counts as discarded by cutoff. */
static int list_samples(const struct discarder *d, struct discarding *ret)
{
	size_t over = 0, unprofiled = 0;

	ret->out = xcalloc(d->n_samples + 1, sizeof(*ret->out));
	ret->by_cutoff = xcalloc(d->n_samples + 1, sizeof(*ret->by_cutoff));
	ret->incomplete = xcalloc(d->n_samples + 1, sizeof(*ret->incomplete));
	for (size_t i = 0; i < d->n_samples; i++) {
		const struct sample *s = &d->samples[i];
		bool by_cutoff = is_among(ret->over, ret->n_over, &over, s->n);
		bool by_unprofiled = is_among(ret->unprofiled, ret->n_unprofiled, &unprofiled, s->n);

		ret->out[i] = by_cutoff || by_unprofiled || s->incomplete;
		if (by_cutoff)
			ret->by_cutoff[ret->n_by_cutoff++] = s->n;
		else if (s->incomplete && !by_unprofiled)
			ret->incomplete[ret->n_incomplete++] = s->n;
	}
	return 0;
}

static int64_t time_of(const struct sample *s, bool et)
{
	return et ? s->et_ns : s->pt_ns;
}

/* The second check, for one clock, of the samples that the first check keeps. */
static int check_two_sd(const struct discarder *d, const bool *out, bool et, struct clock_discarding *c)
{
	_cleanup_(freep) int64_t *times = xcalloc(d->n_samples + 1, sizeof(*times));
	size_t n = 0, kept = 0;

	c->by_two_sd = xcalloc(d->n_samples + 1, sizeof(*c->by_two_sd));
	c->in_papers = xcalloc(d->n_samples + 1, sizeof(*c->in_papers));
	for (size_t i = 0; i < d->n_samples; i++)
		times[n++] = time_of(&d->samples[i], et);
	c->raw = summary_of(times, n);
	n = 0;
	for (size_t i = 0; i < d->n_samples; i++)
		if (!out[i])
			times[n++] = time_of(&d->samples[i], et);
	c->kept = summary_of(times, n);
	c->interval = interval_of_mean(times, n, 0.95, &d->rules.correlation);
	for (size_t i = 0; i < d->n_samples; i++) {
		int64_t time = time_of(&d->samples[i], et);

		c->in_papers[i] = !out[i] && !beyond_two_sd(&c->kept, time);
		if (c->in_papers[i])
			times[kept++] = time;
		else if (!out[i])
			c->by_two_sd[c->n_by_two_sd++] = d->samples[i].n;
	}
	c->papers = summary_of(times, kept);
	return 0;
}

static int mark_noise(const struct profile *profile, struct discarding *out, struct error *err)
{
	if (!profile)
		return 0;
	out->blind_ns = profile->blind_ns;
	out->noise = text_copy(profile->noise);
	return profile->noise && !out->noise ? error_oom(err) : 0;
}

int discarder_judge(struct discarder *d, struct discarding *ret, struct error *err)
{
	_cleanup_(discarding_clear) struct discarding out = {
		.resolution_ns = d->resolution_ns, .mean_et_ns = mean_et(d->samples, d->n_samples)};
	int r;

	r = d->at < d->n_samples ? end_sample(d, err) : 0;
	if (r == 0)
		r = mark_noise(d->rules.profile, &out, err);
	if (r == 0)
		r = find_over(d, &out, err);
	if (r < 0)
		return r;
	r = list_samples(d, &out);
	if (r == 0)
		r = check_two_sd(d, out.out, false, &out.pt);
	if (r == 0)
		r = check_two_sd(d, out.out, true, &out.et);
	if (r < 0)
		return error_oom(err);
	*ret = TAKE_STRUCT(out);
	return 0;
}

int discarder_finish(struct discarder *d, struct discarding *ret, struct error *err)
{
	int r = discarder_judge(d, ret, err);

	if (r < 0)
		return r;
	r = others_finish(&d->others);
	ret->others = d->others;
	ret->disturbed_ns = d->disturbed_ns;
	d->others = (struct others){};
	if (r == 0)
		return 0;
	discarding_clear(ret);
	return error_oom(err);
}

static void clear_clock(struct clock_discarding *c)
{
	free(c->by_two_sd);
	free(c->in_papers);
}

void discarding_clear(struct discarding *d)
{
	free_over(d->over, d->n_over);
	free_over(d->unprofiled, d->n_unprofiled);
	free(d->out);
	free(d->by_cutoff);
	free(d->incomplete);
	clear_clock(&d->pt);
	clear_clock(&d->et);
	free(d->noise);
	others_clear(&d->others);
	run_clear(&d->run);
	*d = (struct discarding){};
}
