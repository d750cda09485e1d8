/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run's result for the first screen, and the notes on it: see screen.h. */
#include "lib/report/screen.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/protocol/disturbances.h"
#include "lib/report/analysis_load.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Thresholds, as shares of the ET of all samples: for processes that are shown, and for waiting that is explained. */
static const double LEAST_SHOWN = 0.001, WORTH_EXPLAINING = 0.01;
/* Minimum share of ET with known W. */
static const double WAIT_KNOWN = 0.9;
/* A daemon that discards more of the samples is worth a warning. */
static const double MANY_DISCARDED = 0.05;
/* The share of samples that count. Ten samples alone often seem to be more alike than they are. */
static const double WORTH_NOTING = 0.8, WORTH_NOTING_ALONE = 0.5;

/* A sample with several executions of one daemon over the cutoff counts once. */
static void add_reason(struct screen *s, const char *name, uint32_t sample)
{
	struct screen_reason *reason = NULL;

	for (size_t i = 0; !reason && i < s->n_reasons; i++)
		if (!strcmp(s->reasons[i].name, name))
			reason = &s->reasons[i];
	if (!reason) {
		reason = array_add(s->reasons, s->n_reasons);
		reason->name = name;
	}
	if (reason->n == 0 || reason->samples[reason->n - 1] != sample)
		*array_add(reason->samples, reason->n) = sample;
}

/* By number of samples, then by the first sample. */
static int by_count(const void *x, const void *y)
{
	const struct screen_reason *a = x, *b = y;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->samples[0] > b->samples[0]) - (a->samples[0] < b->samples[0]);
}

/* Means of the samples kept; -1 if one of them is not known. */
static double mean_of_kept(const struct run_result *r, size_t offset)
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

struct screen run_screen_fill(const struct run_result *result)
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
		.user_ns = mean_of_kept(result, offsetof(struct sample, user_ns)),
		.system_ns = mean_of_kept(result, offsetof(struct sample, system_ns)),
		.memory = peak_memory_of(result->samples, d->out, result->n_samples),
		.n_samples = result->n_samples,
		.shares = d->run.kind == RUN_DUET,
	};
	const struct daemons *others = &result->discarding.others;
	double et = 0, pt = 0, wait = 0, known_et = 0, taken;

	/* How much time each of the others can have taken from the program. */
	for (size_t i = 0; i < result->n_samples; i++) {
		int64_t wait_ns = sample_wait_ns(&result->samples[i]);

		et += (double)result->samples[i].et_ns;
		pt += (double)result->samples[i].pt_ns;
		if (wait_ns < 0)
			continue;
		wait += (double)wait_ns;
		known_et += (double)result->samples[i].et_ns;
	}
	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		if ((double)others->items[i].disturbed_ns > LEAST_SHOWN * et)
			s.others[s.n_others++] = (struct screen_other){
				others->items[i].name, others->items[i].disturbed_ns, others->items[i].names};
	s.on_cpu = et > 0 ? pt / et : 0;
	s.taken = et > 0 && known_et >= WAIT_KNOWN * et ? wait / known_et : NAN;
	taken = isnan(s.taken) ? et - pt : s.taken * et;
	s.explained = taken > WORTH_EXPLAINING * et && s.n_others > 0
			      ? (double)result->discarding.disturbed_ns / taken
			      : NAN;
	for (size_t i = 0; i < d->n_over; i++)
		add_reason(&s, d->over[i].daemon, d->over[i].sample);
	for (size_t i = 0; i < d->n_unprofiled; i++)
		add_reason(&s, d->unprofiled[i].daemon, d->unprofiled[i].sample);
	if (s.n_reasons > 0)
		qsort(s.reasons, s.n_reasons, sizeof(*s.reasons), by_count);
	for (size_t i = 0; i < d->n_incomplete; i++)
		add_reason(&s, "lost records", d->incomplete[i]);
	return s;
}

void run_screen_note_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n)
{
	const struct clock_discarding *worst = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct interval *interval = &programs[i]->interval;
		double least = interval->calibrated ? WORTH_NOTING : WORTH_NOTING_ALONE;

		if (programs[i]->kept.n > 0 && interval->effective_n <= least * (double)programs[i]->kept.n &&
			(!worst || interval->lag1 > worst->interval.lag1))
			worst = programs[i];
	}
	if (worst)
		notes_add(notes, NOTE_CORRELATION,
			"Neighbouring samples %s alike (correlation %s%.2f): %zu count as %.2g in %s",
			worst->interval.calibrated ? "are" : "seem", n > 1 ? "≤ " : "", worst->interval.lag1,
			worst->kept.n, worst->interval.effective_n, n > 1 ? "CIs" : "the CI");
}

/* Samples in which the program failed, samples with an impossible PT, of which the first is described, and samples that
 * were discarded. */
static void note_samples(struct notes *notes, const struct run_result *r, const struct screen *s)
{
	_cleanup_(freep) struct impossible_pt *found = NULL;
	const struct discarding *d = &r->discarding;
	const struct screen_reason *most = d->n_over + d->n_unprofiled > 0 ? &s->reasons[0] : NULL;
	char pt[TEXT_TIME_SIZE], limit[TEXT_TIME_SIZE];
	size_t failures = 0, n;

	for (size_t i = 0; i < r->n_samples; i++)
		failures += r->samples[i].exit_status > 0;
	if (failures > 0)
		notes_add(notes, NOTE_PROGRAM, "Warning: the program failed in %zu of %zu samples", failures,
			r->n_samples);
	if (2 * d->pt.kept.n < r->n_samples)
		notes_add(notes, NOTE_FEW,
			"Warning: few samples kept; take more (-r), or try 'emp-setup apply'");
	n = impossible_pt_find(&d->run, r->samples, r->n_samples, r->counters, r->n_counters, &found);
	if (n > 0)
		notes_add(notes, NOTE_PROGRAM,
			found[0].pt_ns > found[0].limit_ns
				? "Warning: impossible PT in %zu of %zu samples (%u: %s, ET %s)"
				: "Warning: impossible PT in %zu of %zu samples (%u: %s, others ≥ %s)",
			n, r->n_samples, found[0].sample, text_duration(pt, found[0].pt_ns),
			text_duration(limit, found[0].limit_ns));
	if (most && most->n >= 2 && (double)most->n > MANY_DISCARDED * (double)r->n_samples)
		notes_add(notes, NOTE_FEW,
			"Warning: %s discards %zu of %zu samples (emp-analyze daemons %" PRId64 ")",
			most->name, most->n, r->n_samples, d->run.id);
}

void run_notes_add(struct notes *notes, const struct run_result *result, const struct profile *profile)
{
	_cleanup_(screen_clear) struct screen s = run_screen_fill(result);
	double more_ns = s.pt.mean_ns - s.et.mean_ns;
	char more[TEXT_TIME_SIZE];
	static const uint32_t CHANGE_SPEED = 1 << COUNTER_THROTTLES | 1 << COUNTER_SWAPPED_IN |
					     1 << COUNTER_SWAPPED_OUT | 1 << COUNTER_SUSPENDED |
					     1 << COUNTER_INTERRUPTS;

	note_samples(notes, result, &s);
	if (profile) {
		char here[32] = "is not pinned";

		if (noise_marked(profile->blind_ns, profile->noise)) {
			_cleanup_(freep) char *text = noise_text(
				profile->name, profile->blind_ns, profile->noise);

			notes_add(notes, NOTE_NOISE, "%s", text);
		}
		if (profile->cpu >= 0 && profile->cpu != result->discarding.run.cpu) {
			if (result->discarding.run.cpu >= 0)
				snprintf(here, sizeof(here), "is on CPU %d", result->discarding.run.cpu);
			notes_add(notes, NOTE_PROFILE,
				"Warning: profile '%s' was made on CPU %d, this run %s", profile->name,
				profile->cpu, here);
		}
	}

	/* Disturbances that change the program's own time. */
	const struct disturbances *all = &result->disturbances;

	for (size_t i = 0; i < all->n; i++) {
		_cleanup_(freep) char *text = NULL;

		if (!(CHANGE_SPEED >> all->items[i].which & 1))
			continue;
		text = disturbance_description(all, &all->items[i]);
		notes_add(notes, NOTE_NOISE, "Warning: %s", text);
	}
	if (result->discarding.run.kind != RUN_LOAD && s.pt.n > 0 && screen_includes_start(&s))
		notes_add(notes, NOTE_OTHER,
			"PT is %s more than ET: it includes the work to start the program",
			text_precise(more, more_ns, more_ns / 10));
	run_screen_note_correlation(notes, (const struct clock_discarding *[]){&result->discarding.pt}, 1);
}

int run_notes_load(struct book *book, const struct run_result *result, const struct profile *profile,
	bool today, struct notes *ret, char ret_resolving[RESOLVING_TEXT_SIZE], struct error *err)
{
	const struct run *run = &result->discarding.run;
	struct note *last;
	int r = today ? 0 : book_notes(book, run->id, &ret->items, &ret->n, err);

	*ret_resolving = '\0';
	if (r < 0)
		return r;
	last = ret->n > 0 ? &ret->items[ret->n - 1] : NULL;
	if (last && last->kind == NOTE_RESOLUTION) { /* what the machine could resolve is shown elsewhere */
		snprintf(ret_resolving, RESOLVING_TEXT_SIZE, "%s", last->text);
		fields_clear(&note_table, last);
		ret->n--;
	}
	if (last)
		return 0;
	run_notes_add(ret, result, profile);
	r = profile ? profile_changes_note(ret, book, profile, run->environment, err) : 0;
	return r < 0 ? r
		     : resolving_text(book, run->environment, profile, result->n_samples, ret_resolving, err);
}
