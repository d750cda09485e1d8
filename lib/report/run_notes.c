/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on the result of one run: see run_notes.h. */
#include "lib/protocol/adjust.h"
#include "lib/record/profile.h"
#include "lib/report/run_notes.h"

#include "lib/report/screen.h"

/* PT is more than ET by this, because it contains what the program did before the start of ET. */
static const double LEAST_OF_A_START_NS = 2e4;
/* A daemon that discards more of the samples is worth a warning. */
static const double MANY_DISCARDED = 0.05;
/* The share of samples that count. Ten samples alone often seem to be more alike than they are. */
static const double WORTH_NOTING = 0.8, WORTH_NOTING_ALONE = 0.5;

/* Whether the samples of a program count as so many fewer that it is worth a note. */
static bool is_correlated(const struct clock_discarding *program)
{
	const struct interval *interval = &program->interval;
	double least = interval->calibrated ? WORTH_NOTING : WORTH_NOTING_ALONE;

	return program->kept.n > 0 && interval->effective_n <= least * (double)program->kept.n;
}

void run_notes_add_correlation(
	struct notes *notes, const struct clock_discarding *const *programs, size_t n)
{
	const struct clock_discarding *worst = NULL;
	const struct interval *interval;
	const char *count;

	for (size_t i = 0; i < n; i++)
		if (is_correlated(programs[i]) &&
			(!worst || programs[i]->interval.lag1 > worst->interval.lag1))
			worst = programs[i];
	if (!worst)
		return;

	interval = &worst->interval;
	if (interval->effective_n >= 10)
		count = text_brief("%.9g", round(interval->effective_n));
	else
		count = text_brief("%.2g", interval->effective_n);
	notes_add(notes, NOTE_CORRELATION,
		"Neighbouring samples %s alike (correlation %s%.2f): %zu count as %s in %s",
		interval->calibrated ? "are" : "seem", n > 1 ? "≤ " : "", interval->lag1,
		worst->kept.n, count, n > 1 ? "CIs" : "the CI");
}

/* What the ends of the program do to its times. Returns how many processes were left behind. */
static int64_t note_ends(struct notes *notes, const struct run_result *result)
{
	size_t n_leaving = 0, n_late = 0, n = result->n_samples;
	int64_t left_behind = 0, late_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *sample = &result->samples[i];
		bool late = sample_is_late(sample);

		n_leaving += sample->left_behind > 0;
		left_behind += sample->left_behind;
		n_late += late;
		if (late && sample->et_late_ns > late_ns)
			late_ns = sample->et_late_ns;
	}
	if (left_behind > 0)
		notes_add(notes, NOTE_PROGRAM,
			"%" PRId64 " process%s left behind in %zu of %zu samples: in PT, not in ET",
			left_behind, left_behind == 1 ? "" : "es", n_leaving, n);
	if (n_late > 0)
		notes_add(notes, NOTE_PROGRAM,
			"ET is up to %s too long in %zu of %zu samples: the end was seen late",
			text_duration(late_ns), n_late, n);
	return left_behind;
}

/* "/docker/4f2a1b6c8d0e…": ids of containers have 64 digits. The caller frees it. */
static char *shorten_ids(const char *groups)
{
	enum { LONG = 24, KEPT = 12 };
	char *text = xstrdup("");

	while (*groups) {
		size_t n = strcspn(groups, "/; "), separators;

		text_append(&text, "", "%.*s%s", (int)(n > LONG ? KEPT : n), groups,
			n > LONG ? "…" : "");
		groups += n;
		separators = strspn(groups, "/; ");
		text_append(&text, "", "%.*s", (int)separators, groups);
		groups += separators;
	}
	return text;
}

/* That control groups held the program back: throttled by a quota, stopped or delayed. */
static void note_held_back(struct notes *notes, const struct run *run, const struct held_time *held)
{
	_cleanup_(freep) char *by = shorten_ids(run->held_back_by ?: "a control group");

	if (held->share > HELD_WORTH_NOTING)
		notes_add(notes, held->share > HELD_TOO_LONG ? NOTE_UNMEASURABLE : NOTE_PROGRAM,
			"%s: held back by %s: %s (%s)",
			held->share > HELD_TOO_LONG ? "Unmeasurable" : "Warning", by,
			text_duration(held->ns), text_percent(held->share));
	else if (held->ns == 0 && run->held_back_by)
		notes_add(notes, NOTE_PROGRAM,
			"Warning: held back by %s; the kernel does not say how long", by);
}

static void note_failures(struct notes *notes, const struct run_result *result)
{
	size_t failures = 0;

	for (size_t i = 0; i < result->n_samples; i++)
		failures += result->samples[i].exit_status > 0;
	if (failures > 0)
		notes_add(notes, NOTE_PROGRAM, "Warning: the program failed in %zu of %zu samples",
			failures, result->n_samples);
}

/* The first of several is described. */
static void note_impossible_pt(struct notes *notes, const struct run_result *result)
{
	const struct impossible_pt impossible = impossible_pt_find(&result->discarding.run,
		result->samples, result->n_samples, result->counters, result->n_counters);
	bool above_et = impossible.pt_ns > impossible.limit_ns;

	if (impossible.n > 0)
		notes_add(notes, NOTE_PROGRAM,
			"Warning: impossible PT in %zu of %zu samples (%u: %s, %s %s)",
			impossible.n, result->n_samples, impossible.sample,
			text_duration(impossible.pt_ns), above_et ? "ET" : "others ≥",
			text_duration(impossible.limit_ns));
}

/* That most samples had a neighbour, unless it is to be ignored, or that times are without it. */
static void note_neighbour(
	struct notes *notes, const struct discarding *d, const struct neighbour_time *time)
{
	const struct clock_adjustment *adjusted = &d->pt.adjusted;
	const char *way_out = "or another hour";

	if (adjusted->times_ns)
		notes_add(notes, NOTE_NOISE, "PT is adjusted for a neighbour: %s as measured (%s)",
			text_precise(adjusted->before.mean_ns, adjusted->before.sd_ns),
			neighbour_slope_text(&adjusted->by.slope));
	if (2 * time->n_beside <= time->n_probed || d->run.neighbour_rule == NEIGHBOUR_OFF)
		return;
	if (d->run.neighbour_rule == NEIGHBOUR_DISCARD)
		way_out = "--neighbour adjust";
	notes_add(notes, NOTE_NOISE,
		"Warning: neighbour in %zu of %zu samples: try another --cpu, %s", time->n_beside,
		time->n_probed, way_out);
}

/* That few samples are kept, and which daemon discards many of them. */
static void note_discards(
	struct notes *notes, const struct run_result *result, const struct screen *s)
{
	const struct discarding *d = &result->discarding;
	const struct screen_reason *most;
	size_t n = result->n_samples;

	if (2 * d->pt.kept.n < n && 2 * d->n_by_neighbour <= n)
		notes_add(notes, NOTE_FEW,
			"Warning: few samples kept; take more (-r), or try 'emp-setup apply'");

	if (d->n_over + d->n_unprofiled == 0)
		return;
	most = &s->reasons[0];
	if (!strcmp(most->name, NEIGHBOUR_REASON)) /* the next one is of a daemon */
		most++;
	if (most->n >= 2 && (double)most->n > MANY_DISCARDED * (double)n)
		notes_add(notes, NOTE_FEW,
			"Warning: %s discards %zu of %zu samples (emp-analyze daemons %" PRId64 ")",
			most->name, most->n, n, d->run.id);
}

/* That the profile is noisy, or was made on another CPU. */
static void note_profile(struct notes *notes, const struct run *run, const struct profile *profile)
{
	_cleanup_(freep) char *noise = noise_text(profile->name, &profile->mark);
	const char *here = "is not pinned";

	if (noise)
		notes_add(notes, NOTE_NOISE, "%s", noise);

	if (profile->cpu < 0 || profile->cpu == run->cpu)
		return;
	if (run->cpu >= 0)
		here = text_brief("is on CPU %d", run->cpu);
	notes_add(notes, NOTE_PROFILE, "Warning: profile '%s' was made on CPU %d, this run %s",
		profile->name, profile->cpu, here);
}

/* The disturbances that change the program's own time. */
static void note_disturbances(struct notes *notes, const struct disturbances *all)
{
	static const bool change_speed[N_COUNTERS] = {
		[COUNTER_THROTTLES] = true,
		[COUNTER_SWAPPED_IN] = true,
		[COUNTER_SWAPPED_OUT] = true,
		[COUNTER_SUSPENDED] = true,
		[COUNTER_INTERRUPTS] = true,
	};

	for (size_t i = 0; i < all->n; i++) {
		_cleanup_(freep) char *text = disturbance_description(all, i);

		if (change_speed[all->items[i].which])
			notes_add(notes, NOTE_NOISE, "Warning: %s", text);
	}
}

static void note_start_in_pt(struct notes *notes, const struct discarding *d)
{
	double more_ns = d->pt.kept.mean_ns - d->et.kept.mean_ns;

	if (d->run.kind == RUN_LOAD || d->pt.kept.n == 0)
		return;
	if (screen_pt_includes_start(d, LEAST_OF_A_START_NS))
		notes_add(notes, NOTE_OTHER,
			"PT is %s more than ET: it includes the work to start the program",
			text_precise(more_ns, more_ns / 10));
}

void run_notes_add(
	struct notes *notes, const struct run_result *result, const struct profile *profile)
{
	_cleanup_(screen_clear) struct screen s = run_screen_fill(result);
	const struct discarding *d = &result->discarding;
	int64_t left_behind;

	note_held_back(notes, &d->run, &s.held);
	note_failures(notes, result);
	note_impossible_pt(notes, result);
	note_discards(notes, result, &s);
	if (profile)
		note_profile(notes, &d->run, profile);
	note_neighbour(notes, d, &s.neighbour);
	note_disturbances(notes, &result->disturbances);

	left_behind = note_ends(notes, result);
	if (left_behind == 0) /* otherwise they may be why PT is more than ET */
		note_start_in_pt(notes, d);

	run_notes_add_correlation(notes, (const struct clock_discarding *[]){&d->pt}, 1);
}

int run_notes_load(struct book *book, const struct run_result *result,
	const struct profile *profile, bool today, struct notes *ret, char ret_mdd[MDD_TEXT_SIZE],
	struct error *err)
{
	const struct run *run = &result->discarding.run;
	struct note *last;
	int r = today ? 0 : book_rows(book, run->id, &note_table, &ret->items, &ret->n, err);

	*ret_mdd = '\0';
	if (r < 0)
		return r;
	if (ret->n > 0) {
		last = &ret->items[ret->n - 1];
		if (last->kind == NOTE_RESOLUTION) { /* it is shown elsewhere */
			snprintf(ret_mdd, MDD_TEXT_SIZE, "%s", last->text);
			fields_clear(&note_table, last);
			ret->n--;
		}
		return 0;
	}
	run_notes_add(ret, result, profile);
	r = profile ? profile_changes_note(ret, book, profile, run->environment, NULL, err) : 0;
	if (r == 0 && profile && profile->other_inc)
		notes_add(ret, NOTE_PROFILE,
			"Profile '%s' is of another INC than this run: only its cutoffs are used",
			profile->name);
	return r < 0 ? r : mdd_text(book, run, profile, result->n_samples, ret_mdd, err);
}
