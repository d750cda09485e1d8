/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two runs of a calibration: see calibration_run.h. */
#include "calibrate/calibration_run.h"

#include "calibrate/calibration_duet.h"
#include "calibrate/calibration_profile.h"
#include "calibrate/options.h"
#include "calibrate/screen.h"
#include "lib/host/process/process.h"
#include "lib/host/systemd/units.h"
#include "lib/base/terminal.h"
#include "lib/report/stored_results.h"
#include "lib/run/sampling.h"

#include <systemd/sd-daemon.h>

/* The time left, estimated from the samples so far; `all`: with the warm-ups and the duet to
 * come. */
static int64_t calibration_left_ns(const struct calibration *c, bool all)
{
	int64_t ns = all ? calibration_duet_ns(c) : 0;

	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		const struct calibration_phase *phase = &c->plan.phases[i];
		_cleanup_(run_clear) struct run run = {};
		uint32_t there = 0;

		if (phase->run && book_get_run(c->base.book, phase->run, &run, NULL) == 0)
			there = run.n_samples;
		if (there < phase->samples) {
			int64_t pace_ns = c->pace_ns[i] ?: phase->length_ns;

			ns = saturate_add(ns, saturate_multiply(phase->samples - there, pace_ns));
			ns = saturate_add(ns, all ? phase->length_ns : 0);
		}
	}
	return ns;
}

/* Stores a new run, and its calibration with it. */
static int begin_phase(struct calibration *c, int which, struct run *run, struct error *err)
{
	struct book *book = c->base.book;
	int r = book_begin(book, err);

	if (r < 0)
		return r;
	r = book_begin_run(book, run, err);
	c->plan.phases[which].run = run->id;
	if (r == 0)
		r = book_put_calibration(book, &c->plan, err);
	r = book_end(book, r, err);
	if (r < 0)
		c->plan.phases[which].run = 0;
	return r;
}

/* Tells systemd, after each sample, and before the first. */
static int report_progress(struct sampling *s, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	struct calibration *c = s->data;
	const struct run *run = s->run;
	int64_t left_ns;

	if (s->taken > 0)
		c->pace_ns[c->phase] = (clock_ns(CLOCK_MONOTONIC) - s->begun_ns) / s->taken;
	left_ns = calibration_left_ns(c, false);
	sd_notifyf(0, "STATUS=%s run %lld: %u of %u samples of %s; %s left, until %s",
		run_kind_names[run->kind], (long long)run->id, run->n_samples,
		c->plan.phases[c->phase].samples, run->program, text_duration(left_ns),
		text_moment(clock_ns(CLOCK_REALTIME) + left_ns));
	return 0;
}

/* A warm-up and the samples that are missing, each stored before the next starts; systemd is told
 * of the progress. */
static int take_phase(
	struct calibration *c, const struct inc_program *inc, struct run *run, struct error *err)
{
	_cleanup_(freep) char *command = text_format("emp-calibrate%s resume %lld", calibrate_db(),
		(long long)c->plan.phases[SHORT_PHASE].run);
	struct sampling sampling = {.run = run,
		.spec = &inc->spec,
		.warm_ups = 1,
		.samples = c->plan.phases[c->phase].samples,
		.data = c};
	_cleanup_(freep) char *label = text_format(
		"%s run %lld, %s", run_kind_names[run->kind], (long long)run->id, run->program);
	const struct sampling_plan plan = {
		.session = &c->base,
		.items = &sampling,
		.n = 1,
		.hooks = {.taken = report_progress},
		.label = label,
		.quiet = calibrate_options.quiet,
	};
	struct error err2;
	int r;

	report_progress(&sampling, NULL, NULL, 0, NULL);
	r = sampling_run(&plan, err);
	err2 = *err;
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps its %u samples; to resume: %s",
			(long long)run->id, run->n_samples, command);
	if (r < 0)
		return error_say(err, r, "%s; the samples so far are kept; to resume: %s",
			err2.text, command);
	if (calibrate_options.verbose && sampling.taken > 0)
		calibrate_print("The observer took %s of CPU time per sample\n",
			text_duration(sampling.observer_ns / sampling.taken));
	return result_store_run(c->base.book, run->id, err);
}

/* The papers' words, where they first appear. */
static void explain_words(const struct analysis *a, int which)
{
	if (which == SHORT_PHASE)
		calibrate_print("  central: samples that nobody disturbed; L-samples: those above "
				"them, in which others ran long; W: how long others had the CPU\n");
	if (a->noise.noisy)
		calibrate_print(
			"  blind below: daemons that use less are not seen in such a run\n");
}

/* A complete run: its verdict, central cluster and L-samples. */
static int print_complete_run(const struct calibration *c, int which, struct error *err)
{
	const struct calibration_phase *phase = &c->plan.phases[which];
	const struct analysis_options options = {
		.central_max_ns = phase->central_max_ns,
		.by_wait_if_exact = !c->plan.by_et,
		.other_cpus = c->plan.other_cpus,
	};
	_cleanup_(analysis_clear) struct analysis a = {};
	const char *central;
	int r = analysis_load(c->base.book, phase->run, &options, &a, err);

	if (r < 0)
		return r;
	if (a.by_wait)
		central = text_brief(
			"W up to %s", text_duration(a.central.high_ns - a.median_rest_ns));
	else
		central = text_interval((double)a.central.low_ns, (double)a.central.high_ns,
			(double)(a.central.high_ns - a.central.low_ns) / 10, NULL);
	calibrate_print("Run %-3lld %-14s  %-8s  central %s (%zu), %s\n", (long long)a.run.id,
		text_brief("%s x %zu", terminal_text(a.run.program), a.n_samples),
		verdict_name(a.verdict), central, a.central.n_central,
		text_count(a.n_l_samples, "L-sample"));
	if (a.noise.noisy)
		calibrate_print("  It is %s\n", noise_describe(&a.noise));
	if (calibrate_options.verbose) {
		explain_words(&a, which);
		calibrate_print("  It shows %s.\n%s", terminal_text(a.why),
			a.by_wait ? "  Long samples were found by waiting time W, not by ET.\n"
				  : "");
	}
	return 0;
}

/* SHORT_PHASE or LONG_PHASE, from where it is to its end. */
static int do_phase(struct calibration *c, int which, struct error *err)
{
	const struct calibration_phase *phase = &c->plan.phases[which];
	_cleanup_(run_clear) struct run run = {};
	struct inc_program inc;
	int r;

	c->phase = which;
	if (!phase->run) {
		r = calibration_new_run(c, which == SHORT_PHASE ? RUN_SHORT : RUN_LONG,
			phase->length_ns, &inc, &run, err);
		if (r == 0)
			r = begin_phase(c, which, &run, err);
	} else {
		calibration_make_inc(c, phase->length_ns, &inc);
		r = book_get_run(c->base.book, phase->run, &run, err);
		if (r == 0 && run.n_samples < phase->samples) {
			r = book_reopen_run(c->base.book, phase->run, c->base.environment, err);
			if (r == 0)
				calibrate_print("Run %lld: resumed at sample %u of %u\n",
					(long long)phase->run, run.n_samples + 1, phase->samples);
		}
	}
	if (r == 0 && (run.n_samples < phase->samples || run.state != RUN_DONE))
		r = take_phase(c, &inc, &run, err);
	return r != 0 ? r : print_complete_run(c, which, err);
}

/* In the book once the calibration is there. */
static int set_owner(struct calibration *c, bool ours, struct error *err)
{
	free(c->plan.owner);
	c->plan.owner = ours ? xstrdup(process_ref(getpid())) : NULL;
	return c->plan.id ? book_put_calibration(c->base.book, &c->plan, err) : 0;
}

int calibration_run(struct calibration *c, struct error *err)
{
	const struct calibration_phase *phases = c->plan.phases;
	int64_t left_ns = calibration_left_ns(c, true);
	_cleanup_(freep) char *reused = NULL;
	struct error err2 = {};
	int r;

	/* blocks sleep and shutdown, and tells systemd that the service has started */
	c->inhibitor = inhibit_sleep("emp-calibrate", "a calibration runs", &err2);
	if (!phases[0].run && phases[1].run)
		reused = text_format("run %lld, ", (long long)phases[1].run);

	calibrate_print("Plan: INC%s x %u and %sINC%s x %u, %s%s, until %s\n",
		text_seconds(phases[0].length_ns), phases[0].samples, reused ?: "",
		text_seconds(phases[1].length_ns), phases[1].samples, text_duration(left_ns),
		phases[0].run ? " left" : "",
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), left_ns)));
	if (c->inhibitor < 0 && (left_ns > CALIBRATION_LONG_NS || calibrate_options.verbose))
		calibrate_print("Sleep and shutdown are not blocked: %s\n", err2.text);
	else if (calibrate_options.verbose)
		calibrate_print(
			"Sleep and shutdown are blocked until it ends (systemd-inhibit --list)\n");

	sd_notify(0, "READY=1");
	r = set_owner(c, true, err);
	for (int i = 0; r == 0 && i < CALIBRATION_PHASES; i++)
		r = do_phase(c, i, err);
	sd_notify(0, "STOPPING=1");
	if (r == 0)
		r = calibration_conclude(c, err);

	if (r < 0) {
		set_owner(c, false, &err2);
		return r;
	}
	if (set_owner(c, false, err) < 0 || book_checkpoint(c->base.book, err) < 0)
		return STATUS_ERROR;
	return r;
}
