/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile applied to a run: see discard.h. */
#include "lib/protocol/discard.h"

#include "lib/protocol/resolution.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

struct discarder {
	struct run run;
	struct sample *samples;
	size_t n_samples;
	int64_t resolution_ns;
	int64_t mean_et_ns;
	const struct daemons *daemons;
	const struct cutoff **cutoff_of; /* by index into daemons; NULL: none */
	bool *out;                       /* by index into samples: taken by the first check */
	size_t cursor;
	struct over_cutoff *over;
	size_t n_over, capacity;
};

static int64_t mean_et(const struct sample *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i].et_ns;
	return n > 0 ? llround(sum / (double)n) : 0;
}

static int prepare(struct discarder *d, const struct profile *profile, const struct name_pattern *patterns)
{
	d->out = calloc(d->n_samples + 1, sizeof(*d->out));
	d->cutoff_of = calloc(d->daemons->n + 1, sizeof(struct cutoff *));
	if (!d->out || !d->cutoff_of)
		return -ENOMEM;
	for (size_t i = 0; profile && i < d->daemons->n; i++)
		d->cutoff_of[i] = profile_cutoff(profile, name_group(patterns, d->daemons->items[i].name));
	return 0;
}

int discarder_new(struct discarder **ret, struct run *run, struct sample *samples, size_t n_samples,
	const struct daemons *daemons, const struct profile *profile, const struct name_pattern *patterns,
	struct error *err)
{
	_cleanup_(discarder_freep) struct discarder *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return error_os(err, -ENOMEM, "cannot apply a profile to run %" PRId64, run->id);
	d->n_samples = n_samples;
	d->daemons = daemons;
	d->resolution_ns = profile && profile->resolution_ns > 0 ? profile->resolution_ns : 1;
	d->mean_et_ns = mean_et(samples, n_samples);
	r = prepare(d, profile, patterns);
	if (r < 0)
		return error_os(err, r, "cannot apply a profile to run %" PRId64, run->id);
	for (size_t i = 0; i < n_samples; i++)
		d->out[i] = samples[i].incomplete;
	d->run = *run;
	*run = (struct run){};
	d->samples = samples;
	*ret = TAKE(d);
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
	free_over(d->over, d->n_over);
	free(d->cutoff_of);
	free(d->out);
	free(d->samples);
	run_clear(&d->run);
	free(d);
}

static int add_over(
	struct discarder *d, uint32_t sample, const struct cutoff *cutoff, const char *unit, int64_t pt_ns)
{
	struct over_cutoff *over;

	if (d->n_over == d->capacity) {
		size_t capacity = d->capacity ? 2 * d->capacity : 16;
		struct over_cutoff *bigger = reallocarray(d->over, capacity, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		d->over = bigger;
		d->capacity = capacity;
	}
	over = &d->over[d->n_over++];
	*over = (struct over_cutoff){
		.sample = sample,
		.daemon = strdup(cutoff->daemon),
		.unit = unit ? strdup(unit) : NULL,
		.pt_ns = pt_ns,
		.cutoff_ns = cutoff_for(cutoff, d->mean_et_ns),
	};
	return over->daemon && (!unit || over->unit) ? 0 : -ENOMEM;
}

int discarder_add(struct discarder *d, const struct execution *e, struct error *err)
{
	int64_t pt_ns = resolution_round(e->pt_ns, d->resolution_ns);
	const struct cutoff *cutoff = NULL;
	int r;

	if (e->daemon >= 1 && e->daemon <= d->daemons->n)
		cutoff = d->cutoff_of[e->daemon - 1];
	if (!cutoff || pt_ns <= cutoff_for(cutoff, d->mean_et_ns))
		return 0;
	while (d->cursor < d->n_samples && d->samples[d->cursor].n < e->sample)
		d->cursor++;
	if (d->cursor == d->n_samples) /* the run goes on while we read */
		return 0;
	if (d->samples[d->cursor].n != e->sample)
		return error_say(err, -EINVAL,
			"run %" PRId64 " has an execution in sample %" PRIu32 ", which it has not", d->run.id,
			e->sample);
	d->out[d->cursor] = true;
	r = add_over(d, e->sample, cutoff, d->daemons->items[e->daemon - 1].unit, pt_ns);
	return r < 0 ? error_os(err, r, "cannot apply a profile to run %" PRId64, d->run.id) : 0;
}

static int64_t time_of(const struct sample *s, bool et)
{
	return et ? s->et_ns : s->pt_ns;
}

/* The second check, on what the first has left of one clock. */
static int check_two_sd(const struct discarder *d, bool et, struct clock_discarding *c)
{
	_cleanup_(freep) int64_t *times = reallocarray(NULL, d->n_samples + 1, sizeof(*times));
	size_t n = 0, kept = 0;

	c->by_two_sd = reallocarray(NULL, d->n_samples + 1, sizeof(*c->by_two_sd));
	if (!times || !c->by_two_sd)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_samples; i++)
		times[n++] = time_of(&d->samples[i], et);
	c->raw = summary_of(times, n);
	n = 0;
	for (size_t i = 0; i < d->n_samples; i++)
		if (!d->out[i])
			times[n++] = time_of(&d->samples[i], et);
	c->by_cutoff = summary_of(times, n);
	for (size_t i = 0; i < d->n_samples; i++) {
		int64_t time = time_of(&d->samples[i], et);

		if (d->out[i])
			continue;
		if (beyond_two_sd(&c->by_cutoff, time))
			c->by_two_sd[c->n_by_two_sd++] = d->samples[i].n;
		else
			times[kept++] = time;
	}
	c->clean = summary_of(times, kept);
	return 0;
}

/* A sample that is incomplete and has an execution over its cutoff counts with the latter. */
static int list_samples(const struct discarder *d, struct discarding *ret)
{
	size_t over = 0;

	ret->by_cutoff = reallocarray(NULL, d->n_samples + 1, sizeof(*ret->by_cutoff));
	ret->incomplete = reallocarray(NULL, d->n_samples + 1, sizeof(*ret->incomplete));
	if (!ret->by_cutoff || !ret->incomplete)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_samples; i++) {
		uint32_t number = d->samples[i].n;

		while (over < d->n_over && d->over[over].sample < number)
			over++;
		if (over < d->n_over && d->over[over].sample == number)
			ret->by_cutoff[ret->n_by_cutoff++] = number;
		else if (d->out[i])
			ret->incomplete[ret->n_incomplete++] = number;
	}
	return 0;
}

int discarder_finish(struct discarder *d, struct discarding *ret, struct error *err)
{
	_cleanup_(discarding_clearp) struct discarding out = {
		.resolution_ns = d->resolution_ns, .mean_et_ns = d->mean_et_ns};
	int r;

	r = list_samples(d, &out);
	if (r == 0)
		r = check_two_sd(d, false, &out.pt);
	if (r == 0)
		r = check_two_sd(d, true, &out.et);
	if (r < 0)
		return error_os(err, r, "cannot apply a profile to run %" PRId64, d->run.id);
	out.over = TAKE(d->over);
	out.n_over = d->n_over;
	out.run = d->run;
	d->n_over = 0;
	d->run = (struct run){};
	*ret = out;
	out = (struct discarding){};
	return 0;
}

void discarding_clear(struct discarding *d)
{
	free_over(d->over, d->n_over);
	free(d->by_cutoff);
	free(d->incomplete);
	free(d->pt.by_two_sd);
	free(d->et.by_two_sd);
	run_clear(&d->run);
	*d = (struct discarding){};
}
