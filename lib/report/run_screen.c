/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's result on the first screen: see run_screen.h. */
#include "lib/report/run_screen.h"

#include "lib/base/array.h"
#include "lib/base/text.h"
#include "lib/protocol/disturbances.h"
#include "lib/report/environment_changes.h"
#include "lib/report/noise_load.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of the ET of all samples: processes that used less are not shown, and less waiting is not explained. */
static const double MATERIAL = 0.001, WORTH_EXPLAINING = 0.01;
/* Of the ET: if W is known in this much of it, it stands for the whole run. */
static const double WAIT_KNOWN = 0.9;
/* Samples that count as a smaller share of their number than this are noted. */
/* A daemon that discards more of the samples is worth a warning. */
static const double MANY_DISCARDED = 0.05;
/* The share of samples that count. Ten samples alone often seem to be more alike than they are. */
static const double WORTH_NOTING = 0.8, WORTH_NOTING_ALONE = 0.5;

/* The reason with that name, added if it is new. NULL: out of memory. */
static struct screen_reason *find_reason(struct screen *s, const char *name)
{
	struct screen_reason *reason;

	for (size_t i = 0; i < s->n_reasons; i++)
		if (!strcmp(s->reasons[i].name, name))
			return &s->reasons[i];
	reason = array_add(s->reasons, s->n_reasons);
	if (reason)
		reason->name = name;
	return reason;
}

/* A sample with several executions of one daemon over the cutoff counts once. */
static int add_reason(struct screen *s, const char *name, uint32_t sample)
{
	struct screen_reason *reason = find_reason(s, name);
	uint32_t *added;

	if (!reason)
		return -ENOMEM;
	if (reason->n > 0 && reason->samples[reason->n - 1] == sample)
		return 0;
	added = array_add(reason->samples, reason->n);
	*added = sample;
	return 0;
}

/* By number of samples, then by the first sample. */
static int by_count(const void *x, const void *y)
{
	const struct screen_reason *a = x, *b = y;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->samples[0] > b->samples[0]) - (a->samples[0] < b->samples[0]);
}

static int add_reasons(struct screen *s, const struct discarding *d, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->n_over; i++)
		r = add_reason(s, d->over[i].daemon, d->over[i].sample);
	for (size_t i = 0; r == 0 && i < d->n_unprofiled; i++)
		r = add_reason(s, d->unprofiled[i].daemon, d->unprofiled[i].sample);
	if (s->n_reasons > 0)
		qsort(s->reasons, s->n_reasons, sizeof(*s->reasons), by_count);
	for (size_t i = 0; r == 0 && i < d->n_incomplete; i++)
		r = add_reason(s, "lost records", d->incomplete[i]);
	return r < 0 ? error_oom(err) : 0;
}

/* How much time each of the others can have taken from the program. */
static void add_others(struct screen *s, const struct run_result *r)
{
	const struct daemons *others = &r->discarding.others;
	double et = 0, pt = 0, wait = 0, known_et = 0, taken;

	for (size_t i = 0; i < r->n_samples; i++) {
		int64_t wait_ns = sample_wait_ns(&r->samples[i]);

		et += (double)r->samples[i].et_ns;
		pt += (double)r->samples[i].pt_ns;
		if (wait_ns < 0)
			continue;
		wait += (double)wait_ns;
		known_et += (double)r->samples[i].et_ns;
	}
	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		if ((double)others->items[i].disturbed_ns > MATERIAL * et)
			s->others[s->n_others++] = (struct screen_other){
				others->items[i].name, others->items[i].disturbed_ns, others->items[i].names};
	s->on_cpu = et > 0 ? pt / et : 0;
	s->taken = et > 0 && known_et >= WAIT_KNOWN * et ? wait / known_et : NAN;
	taken = isnan(s->taken) ? et - pt : s->taken * et;
	s->explained = taken > WORTH_EXPLAINING * et && s->n_others > 0
			       ? (double)r->discarding.disturbed_ns / taken
			       : NAN;
}

/* Means of the samples kept; -1 if one of them is not known. */
static double mean_of(const struct run_result *r, size_t offset)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		int64_t ns = *(const int64_t *)((const char *)&r->samples[i] + offset);

		if (r->discarding.out[i])
			continue;
		if (ns < 0)
			return -1;
		sum += (double)ns;
		n++;
	}
	return n > 0 ? sum / (double)n : -1;
}

int run_screen_note_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n, struct error *err)
{
	const struct clock_discarding *worst = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct interval *interval = &programs[i]->interval;
		double least = interval->calibrated ? WORTH_NOTING : WORTH_NOTING_ALONE;

		if (programs[i]->kept.n > 0 && interval->effective_n <= least * (double)programs[i]->kept.n &&
			(!worst || interval->lag1 > worst->interval.lag1))
			worst = programs[i];
	}
	if (!worst)
		return 0;
	return notes_add(notes, NOTE_CORRELATION, err,
		"Neighbouring samples %s alike (correlation %s%.2f): %zu count as %.2g in %s",
		worst->interval.calibrated ? "are" : "seem", n > 1 ? "≤ " : "", worst->interval.lag1,
		worst->kept.n, worst->interval.effective_n, n > 1 ? "CIs" : "the CI");
}

static int note_noise(struct notes *notes, const struct profile *profile, struct error *err)
{
	_cleanup_(freep) char *text = NULL;

	if (!profile || !noise_marked(profile->blind_ns, profile->noise))
		return 0;
	text = noise_text(profile->name, profile->blind_ns, profile->noise);
	return text ? notes_add(notes, NOTE_NOISE, err, "%s", text) : error_oom(err);
}

static int note_profile(
	struct notes *notes, const struct run *run, const struct profile *profile, struct error *err)
{
	char here[32] = "is not pinned";

	if (!profile || profile->cpu < 0 || profile->cpu == run->cpu)
		return 0;
	if (run->cpu >= 0)
		snprintf(here, sizeof(here), "is on CPU %d", run->cpu);
	return notes_add(notes, NOTE_PROFILE, err, "Warning: profile '%s' was made on CPU %d, this run %s",
		profile->name, profile->cpu, here);
}

/* Disturbances that change the program's own time. */
static int note_disturbances(struct notes *notes, const struct disturbances *all, struct error *err)
{
	static const uint32_t CHANGE_SPEED = 1 << COUNTER_THROTTLES | 1 << COUNTER_SWAPPED_IN |
					     1 << COUNTER_SWAPPED_OUT | 1 << COUNTER_SUSPENDED |
					     1 << COUNTER_INTERRUPTS;
	int r = 0;

	for (size_t i = 0; r == 0 && i < all->n; i++) {
		_cleanup_(freep) char *text = NULL;

		if (!(CHANGE_SPEED >> all->items[i].which & 1))
			continue;
		text = disturbance_description(all, &all->items[i]);
		r = text ? notes_add(notes, NOTE_NOISE, err, "Warning: %s", text) : error_oom(err);
	}
	return r;
}

static int note_start(struct notes *notes, const struct screen *s, struct error *err)
{
	char more[TEXT_TIME_SIZE];
	double ns = s->pt.mean_ns - s->et.mean_ns;

	if (s->pt.n == 0 || !screen_includes_start(s))
		return 0;
	return notes_add(notes, NOTE_OTHER, err,
		"PT is %s more than ET: it includes the work to start the program",
		text_precise(more, ns, ns / 10));
}

/* A daemon without which there would be many more samples. */
static int note_discarder(
	struct notes *notes, const struct screen_reason *most, const struct run_result *r, struct error *err)
{
	if (most->n < 2 || (double)most->n <= MANY_DISCARDED * (double)r->n_samples)
		return 0;
	return notes_add(notes, NOTE_FEW, err,
		"Warning: %s discards %zu of %zu samples (emp-analyze daemons %" PRId64 ")", most->name,
		most->n, r->n_samples, r->discarding.run.id);
}

static int note_samples(struct notes *notes, const struct run_result *result, struct error *err)
{
	size_t failures = 0;
	int r = 0;

	for (size_t i = 0; i < result->n_samples; i++)
		failures += result->samples[i].exit_status > 0;
	if (failures > 0)
		r = notes_add(notes, NOTE_PROGRAM, err, "Warning: the program failed in %zu of %zu samples",
			failures, result->n_samples);
	if (r == 0 && 2 * result->discarding.pt.kept.n < result->n_samples)
		r = notes_add(notes, NOTE_FEW, err,
			"Warning: few samples kept; take more (-r), or try 'emp-setup apply'");
	return r;
}

/* The first is described. */
static int note_impossible(struct notes *notes, const struct run_result *r, struct error *err)
{
	_cleanup_(freep) struct impossible_pt *found = NULL;
	char pt[TEXT_TIME_SIZE], limit[TEXT_TIME_SIZE];
	size_t n;

	n = impossible_pt_find(
		&r->discarding.run, r->samples, r->n_samples, r->counters, r->n_counters, &found);
	if (n == 0)
		return 0;
	text_duration(pt, found[0].pt_ns);
	text_duration(limit, found[0].limit_ns);
	return notes_add(notes, NOTE_PROGRAM, err,
		found[0].pt_ns > found[0].limit_ns
			? "Warning: impossible PT in %zu of %zu samples (%u: %s, ET %s)"
			: "Warning: impossible PT in %zu of %zu samples (%u: %s, others ≥ %s)",
		n, r->n_samples, found[0].sample, pt, limit);
}

int run_screen_fill(struct screen *ret, const struct run_result *result, struct error *err)
{
	const struct discarding *d = &result->discarding;
	struct screen s = {
		.run = d->run.id,
		.cpu = d->run.cpu,
		.pt = d->pt.kept,
		.et = d->et.kept,
		.interval = d->pt.interval,
		.papers = d->pt.papers,
		.by_two_sd = d->pt.by_two_sd,
		.n_by_two_sd = d->pt.n_by_two_sd,
		.user_ns = mean_of(result, offsetof(struct sample, user_ns)),
		.system_ns = mean_of(result, offsetof(struct sample, system_ns)),
		.memory = peak_memory_of(result->samples, d->out, result->n_samples),
		.n_samples = result->n_samples,
		.shares = d->run.kind == RUN_DUET,
	};
	int r;

	add_others(&s, result);
	r = add_reasons(&s, d, err);
	if (r < 0)
		screen_clear(&s);
	else
		*ret = s;
	return r;
}

int run_notes_add(struct notes *notes, const struct run_result *result, const struct profile *profile,
	struct error *err)
{
	_cleanup_(screen_clear) struct screen s = {};
	int r = run_screen_fill(&s, result, err);

	if (r == 0)
		r = note_samples(notes, result, err);
	if (r == 0)
		r = note_impossible(notes, result, err);
	if (r == 0 && result->discarding.n_over + result->discarding.n_unprofiled > 0)
		r = note_discarder(notes, &s.reasons[0], result, err);
	if (r == 0)
		r = note_noise(notes, profile, err);
	if (r == 0)
		r = note_profile(notes, &result->discarding.run, profile, err);
	if (r == 0)
		r = note_disturbances(notes, &result->disturbances, err);
	if (r == 0 && result->discarding.run.kind != RUN_LOAD)
		r = note_start(notes, &s, err);
	return r < 0 ? r
		     : run_screen_note_correlation(
			       notes, (const struct clock_discarding *[]){&result->discarding.pt}, 1, err);
}

/* What the machine could resolve is not one of the notes that are shown as such. */
static void take_resolution(struct notes *notes, char ret[RESOLVING_TEXT_SIZE])
{
	struct note *last = notes->n > 0 ? &notes->items[notes->n - 1] : NULL;

	if (!last || last->kind != NOTE_RESOLUTION)
		return;
	snprintf(ret, RESOLVING_TEXT_SIZE, "%s", last->text);
	fields_clear(&note_table, last);
	notes->n--;
}

int run_notes_load(struct book *book, const struct run_result *result, const struct profile *profile,
	bool today, struct notes *ret, char ret_resolving[RESOLVING_TEXT_SIZE], struct error *err)
{
	const struct run *run = &result->discarding.run;
	int r = today ? 0 : book_notes(book, run->id, &ret->items, &ret->n, err);

	*ret_resolving = '\0';
	if (r < 0 || ret->n > 0) {
		take_resolution(ret, ret_resolving);
		return r < 0 ? r : 0;
	}
	r = run_notes_add(ret, result, profile, err);
	if (r == 0 && profile)
		r = profile_changes_note(ret, book, profile, run->environment, err);
	return r < 0 ? r
		     : resolving_text(book, run->environment, profile, result->n_samples, ret_resolving, err);
}
