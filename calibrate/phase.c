/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The short or the long run of a calibration: begins or resumes it, runs a warm-up, then stores sample after sample,
 * and notifies systemd of the progress. */
#include "calibrate/calibration.h"

#include "lib/base/xalloc.h"
#include "calibrate/calibrate.h"
#include "calibrate/inc_program.h"
#include "calibrate/screen.h"

#include "lib/base/clock.h"
#include "lib/host/systemd/service.h"
#include "lib/host/process/process.h"
#include "lib/run/sampling.h"

#include <errno.h>
#include <string.h>

/* Stores the run and its calibration in one transaction. */
static int store_beginning(struct calibration *w, int which, struct run *run, struct error *err)
{
	char self[PROCESS_REF_SIZE];
	int r;

	r = book_begin_run(w->book, run, err);
	if (r < 0)
		return r;
	w->plan.phases[which].run = run->id;
	if (w->plan.id)
		return book_update_calibration(w->book, &w->plan, err);
	w->plan.owner = xstrdup(process_ref_self(self));
	return book_begin_calibration(w->book, &w->plan, err);
}

static int begin(struct calibration *w, int which, struct run *run, struct error *err)
{
	int r;

	r = book_begin(w->book, err);
	if (r < 0)
		return r;
	r = store_beginning(w, which, run, err);
	if (r == 0)
		return book_commit(w->book, err);
	book_rollback(w->book);
	w->plan.phases[which].run = 0;
	return r;
}

static bool is_complete(const struct calibration *w, int which, const struct run *run)
{
	return run->n_samples >= w->plan.phases[which].samples && run->state == RUN_DONE;
}

static int resume(struct calibration *w, int which, struct run *run, struct error *err)
{
	int64_t id = w->plan.phases[which].run;
	int r;

	r = book_get_run(w->book, id, run, err);
	if (r < 0)
		return r;
	if (run->n_samples >= w->plan.phases[which].samples)
		return 0;
	r = book_reopen_run(w->book, id, w->environment, err);
	if (r == 0)
		screen_print("Run %lld: resumed at sample %u of %u\n", (long long)id, run->n_samples + 1,
			w->plan.phases[which].samples);
	return r;
}

static void tell_manager(struct calibration *w, int which, const struct run *run)
{
	char left[TEXT_TIME_SIZE], ends[TEXT_TIME_SIZE];
	int64_t left_ns = calibration_left_ns(w);

	notify_status("%s run %lld: %u of %u samples of %s; %s left, until %s", run_kind_names[run->kind],
		(long long)run->id, run->n_samples, w->plan.phases[which].samples, run->program,
		text_duration(left, left_ns), text_moment(ends, clock_ns(CLOCK_REALTIME) + left_ns));
}

/* The data of the sampling loop's callbacks. */
struct progress_report {
	struct calibration *calibration;
	int which;
	uint32_t first; /* samples taken before this process */
};

static int sample_taken(struct sampling *s, const struct sample *sample, const struct execution *executions,
	size_t n_executions, struct error *err)
{
	const struct progress_report *report = s->data;
	struct calibration *w = report->calibration;

	w->pace_ns[report->which] = (clock_ns(CLOCK_MONOTONIC) - s->begun_ns) /
				    (int64_t)(s->run->n_samples - report->first);
	tell_manager(w, report->which, s->run);
	return 0;
}

static int take_samples(struct calibration *w, int which, struct sampling *s, struct error *err)
{
	_cleanup_(freep) char *label = text_format(
		"%s run %lld, %s", run_kind_names[s->run->kind], (long long)s->run->id, s->run->program);
	const struct sampling_plan plan = {
		.book = w->book,
		.counters = w->observer.counters,
		.items = s,
		.n = 1,
		.hooks = {.taken = sample_taken},
		.label = label,
		.quiet = calibrate_options.quiet,
	};
	struct progress_report report = {w, which, s->run->n_samples};

	s->data = &report;
	tell_manager(w, which, s->run);
	return sampling_run(&plan, err);
}

static int interrupted(struct calibration *w, const struct run *run, struct error *err)
{
	_cleanup_(freep) char *command = calibration_resume_command(w);

	return error_say(err, STATUS_INTERRUPTED, "interrupted: run %lld keeps its %u samples; to resume: %s",
		(long long)run->id, run->n_samples, command ?: "emp-calibrate resume");
}

/* Adds to the sentence how to resume. */
static int failed(struct calibration *w, int r, struct error *err)
{
	_cleanup_(freep) char *command = calibration_resume_command(w);
	struct error said = *err;

	return error_say(err, r, "%s; the samples so far are kept; to resume: %s", said.text,
		command ?: "emp-calibrate resume");
}

static int run_phase(
	struct calibration *w, int which, const struct inc_program *inc, struct run *run, struct error *err)
{
	struct sampling sampling = {
		.run = run, .spawn = &inc->spawn, .warm_ups = 1, .samples = w->plan.phases[which].samples};
	uint32_t first = run->n_samples;
	char cost[TEXT_TIME_SIZE];
	int r = take_samples(w, which, &sampling, err);

	if (r == -EINTR)
		return interrupted(w, run, err);
	if (r < 0)
		return failed(w, r, err);
	if (calibrate_options.verbose && run->n_samples > first)
		screen_print("The observer took %s of CPU time per sample\n",
			text_duration(cost, sampling.observer_ns / (run->n_samples - first)));
	return 0;
}

int phase_do(struct calibration *w, int which, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	struct inc_program inc;
	int r;

	inc_program_make(&inc, w, w->plan.phases[which].length_ns);
	if (w->plan.phases[which].run)
		r = resume(w, which, &run, err);
	else {
		r = inc_program_describe(&inc, w, which == SHORT_PHASE ? RUN_SHORT : RUN_LONG, &run, err);
		if (r == 0)
			r = begin(w, which, &run, err);
	}
	if (r == 0 && !is_complete(w, which, &run))
		r = run_phase(w, which, &inc, &run, err);
	return r != 0 ? r : screen_run(w, which, err);
}
