/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate run and resume: a calibration is planned and carried out; one that was interrupted
 * is resumed, on the same machine with the same settings, and the resume point recorded. */
#include "calibrate/calibration.h"
#include "calibrate/calibration_run.h"
#include "calibrate/options.h"
#include "calibrate/screen.h"
#include "calibrate/size.h"

#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/protocol/discard.h"
#include "lib/protocol/environment_diff.h"
#include "lib/record/profile.h"
#include "lib/report/notes.h"
#include "lib/base/terminal.h"

#include <systemd/sd-daemon.h>

static const struct option_row resume_options[] = {
	{0, "ignore-audit", NULL, "resume although the machine is not fit", NULL,
		&calibrate_options.ignore_audit},
	{0, "ignore-changes", NULL, "resume although the environment has changed", NULL,
		&calibrate_options.ignore_changes},
	{0, "anyway", NULL, NULL, NULL, &calibrate_options.anyway, .hidden = true},
	{},
};

/* For the rest of c->plan. All samples of a run must come from the same environment, unless
 * --ignore-changes is given. 0, STATUS_NOT_FIT with a sentence, or a failure. */
static int prepare_to_resume(struct calibration *c, struct error *err)
{
	const struct calibration_phase *phases = c->plan.phases;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(run_clear) struct run first = {}, last = {};
	_cleanup_(freep) char *changes = NULL;
	struct resume_point *points;
	int64_t before;
	size_t n;
	int r;

	c->plan.anyway |= calibrate_options.ignore_audit;
	calibrate_print(
		"Resuming the calibration for profile '%s'\n", terminal_text(c->plan.profile));
	r = book_get_run(c->base.book, phases[SHORT_PHASE].run, &first, err);
	if (r == 0)
		r = calibration_prepare(c, err);
	/* the environment of the last sample: of the last resume point, if there is one */
	if (r == 0)
		r = book_get_run(c->base.book, phases[LONG_PHASE].run ?: phases[SHORT_PHASE].run,
			&last, err);
	if (r == 0)
		r = book_rows(c->base.book, last.id, &resume_point_table, &points, &n, err);
	if (r != 0)
		return r;

	if (last.n_samples > 0 && last.state != RUN_DONE &&
		strcmp(last.inc_digest ?: "", c->base.inc_digest ?: "") != 0) {
		fields_free(&resume_point_table, points, n);
		return error_say(err, STATUS_NOT_FIT,
			"run %lld began with another INC, which this EMP does not have: resume it "
			"with the EMP that began it, or begin anew with 'emp-calibrate run'",
			(long long)last.id);
	}

	before = n > 0 && points[n - 1].environment ? points[n - 1].environment : last.environment;
	fields_free(&resume_point_table, points, n);
	if (before != c->base.environment) {
		r = environment_differences(
			c->base.book, before, c->base.environment, &differences, err);
		if (r < 0)
			return r;
		changes = differences_description(&differences, 3, false);
		if (!calibrate_options.ignore_changes)
			return error_say(err, STATUS_NOT_FIT,
				"the environment has changed since the calibration began: %s. "
				"Restore it, or use --ignore-changes, which the runs record",
				*changes ? changes : "the book does not have the earlier one");
		calibrate_print("Environment: changed (%s), ignored\n", terminal_text(changes));
	}
	return calibration_find_constant(c, first.environment, err);
}

/* emp-calibrate resume: the calibration of a run, or the latest that can be resumed. */
static int calibrate_resume_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	const struct calibration_plan *plan = &calibration.plan;
	_cleanup_(run_clear) struct run there = {};
	struct book *book;
	const char *profile;
	int64_t run;
	int r = calibrate_operand(argc > 0 ? argv[0] : NULL, &run, &profile, err);

	if (r == 0)
		r = calibration_open(&calibration, RUN_LOCK_TAKEN, err);
	book = calibration.base.book;
	if (r == 0)
		r = book_find_calibration(book, run, profile, false, &calibration.plan, err);
	if (r < 0)
		return r;

	if (r == 0 && !run)
		return error_say(err, -ENOENT,
			"no calibration %s%s%sto resume in the lab book '%s'",
			profile ? "for profile '" : "", profile ?: "", profile ? "' " : "",
			book_file(book));
	if (r == 0) {
		r = book_get_run(book, run, &there, err);
		return r < 0 ? r
			     : error_say(err, -EINVAL,
				       "run %lld (%s, '%s') is not part of a calibration",
				       (long long)run, there.program, run_kind_names[there.kind]);
	}
	if (plan->state == CALIBRATION_DONE)
		return error_say(err, -EINVAL,
			"the calibration of runs %lld and %lld is complete: 'emp-calibrate%s "
			"profile show %s'",
			(long long)plan->phases[SHORT_PHASE].run,
			(long long)plan->phases[LONG_PHASE].run, calibrate_db(),
			calibrate_quoted(plan->profile));
	r = prepare_to_resume(&calibration, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the next sample");
	return r != 0 ? r : calibration_run(&calibration, err);
}

const struct verb calibrate_resume = {
	.name = "resume",
	.args = "[RUN|PROFILE]",
	.summary = "resume a calibration that was interrupted",
	.max_args = 1,
	.options = resume_options,
	.run = calibrate_resume_verb,
};

/* The sizes of the short and of the long run; the last are the papers'. */
static const char *const preset_names[] = {"quick", "hour", "day", "paper", NULL};
static const struct size presets[][CALIBRATION_PHASES] = {
	{{100 * NS_PER_MS, 200}, {NS_PER_S, 16}},
	{{NS_PER_S, 1600}, {60 * NS_PER_S, 30}},
	{{16 * NS_PER_S, 1200}, {1024 * NS_PER_S, 60}},
	{{128 * NS_PER_S, 800}, {16384 * NS_PER_S, 40}},
};

static struct {
	int preset;
	struct size sizes[CALIBRATION_PHASES]; /* count 0: the preset's */
	const char *save, *reuse_long;
	bool resume, yes;
} options = {.preset = ELEMENTS(presets) - 1};

/* The rest of the options is a part of the plan. */
static struct calibration_plan wanted = {.material_ppm = LEAST_SHARE_PPM};

static const struct option_row run_options[] = {
	{0, "save", "NAME", "store the profile under this name", NULL, &options.save},
	{0, "preset", "SIZE", "quick (37 s), hour, day or paper (9 days, default)", NULL,
		&options.preset, .choices = preset_names},
	{0, "short", "LENGTHxCOUNT", "the short run: seconds, samples (paper: 128x800)",
		size_option, &options.sizes[SHORT_PHASE]},
	{0, "long", "LENGTHxCOUNT", "the long run (paper: 16384x40)", size_option,
		&options.sizes[LONG_PHASE]},
	{0, "cpu", "N", "run INC on this CPU", pinning_option, &calibrate_options.cpu},
	{0, "yes", NULL, "do not ask for confirmation", NULL, &options.yes},
	{0, "ignore-audit", NULL, "run although the machine is not fit", NULL,
		&calibrate_options.ignore_audit},
	{0, "replace", NULL, "replace a profile of that name", NULL, &wanted.replace},
	{0, "resume", NULL, "resume the calibration of that name, if any", NULL, &options.resume},
	{0, "ignore-changes", NULL, "resume although the environment has changed", NULL,
		&calibrate_options.ignore_changes},
	{0, "reuse-long", "RUN|PROFILE", "take the short run only, and use this long one", NULL,
		&options.reuse_long},
	{0, "force", NULL, "make a profile whatever the verdicts on the runs", NULL, &wanted.force},
	{0, "by-et", NULL, "find long samples by their elapsed time, as in the papers", NULL,
		&wanted.by_et},
	{0, "other-cpus", NULL, "also count what daemons used on CPUs other than INC's", NULL,
		&wanted.other_cpus},
	{0, "material", "PERCENT", "leave out cutoffs that explain less (default 10%)",
		option_share, &wanted.material_ppm},
	{0, "short-central-max", "TIME", "longest central ET of the short run, set by hand",
		option_duration, &wanted.phases[SHORT_PHASE].central_max_ns},
	{0, "long-central-max", "TIME", "the same for the long run", option_duration,
		&wanted.phases[LONG_PHASE].central_max_ns},
	{0, "accounting", "BACKEND", "auto (default), bpf or taskstats", NULL,
		&calibrate_options.backend, .choices = calibrate_backends},
	{0, "anyway", NULL, NULL, NULL, &calibrate_options.anyway, .hidden = true},
	{},
};

/* --reuse-long: a run of INC that is complete. */
static int reuse_long_run(struct calibration *c, struct error *err)
{
	struct calibration_phase *phase = &c->plan.phases[LONG_PHASE];
	_cleanup_(calibration_plan_clear) struct calibration_plan other = {};
	_cleanup_(run_clear) struct run run = {};
	const char *profile;
	int64_t id;
	int r = calibrate_operand(options.reuse_long, &id, &profile, err);

	if (r == 0 && !id) {
		r = book_find_calibration(c->base.book, 0, profile, true, &other, err);
		id = other.phases[LONG_PHASE].run;
		if (r >= 0 && !id)
			return error_say(err, -ENOENT,
				"'%s' has no long run in the lab book '%s'; 'emp-analyze list "
				"--kind long' shows the long runs",
				options.reuse_long, book_file(c->base.book));
	}
	if (r >= 0)
		r = book_get_run(c->base.book, id, &run, err);
	if (r < 0)
		return r;
	if (strncmp(run.program, "INC", 3) != 0 || run.state != RUN_DONE || run.n_samples == 0 ||
		run.task_length_ns <= c->plan.phases[SHORT_PHASE].length_ns)
		return error_say(err, -EINVAL,
			"run %lld (%s, '%s', %u samples) cannot be the long run: it must be a "
			"complete run of INC, longer than the short one",
			(long long)run.id, run.program, run_state_word(run.state), run.n_samples);
	phase->run = run.id;
	phase->length_ns = run.task_length_ns;
	phase->samples = run.n_samples;
	return 0;
}

static bool has_profile(struct book *book, const char *name)
{
	_cleanup_(profile_clear) struct profile profile = {};

	return book_get_profile(book, 0, name, &profile, NULL) == 0;
}

/* On a terminal, asks for confirmation if it takes more than an hour. 0, or -ECANCELED with a
 * sentence. */
static int confirm_run(int64_t ns, struct error *err)
{
	char answer[16] = "";
	sigset_t ours;

	if (ns <= CALIBRATION_LONG_NS)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(fileno(calibrate_screen())))
		return error_say(err, -ECANCELED,
			"not started: this calibration takes %s, and there is no terminal to ask "
			"on; add --yes, or choose a shorter --preset: quick, hour or day",
			text_duration(ns));
	calibrate_print("This calibration takes %s, until %s. Continue? [y/N] ", text_duration(ns),
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), ns)));
	sigprocmask(SIG_SETMASK, interrupt_old_mask(),
		&ours); /* here ^C may end the process: nothing has begun */
	if (!fgets(answer, sizeof(answer), stdin))
		calibrate_print("\n");
	sigprocmask(SIG_SETMASK, &ours, NULL);
	if (answer[0] == 'y' || answer[0] == 'Y')
		return 0;
	return error_say(err, -ECANCELED,
		"not started; --preset quick takes half a minute, and --yes does not ask");
}

static int begin_new(struct calibration *c, struct error *err)
{
	int64_t takes_ns = 0;
	int r = 0;

	/* checked before the runs, which may take days */
	if (!wanted.replace && has_profile(c->base.book, options.save))
		return error_say(err, -EEXIST,
			"the book has a profile '%s' already: choose another name, or --replace it",
			options.save);
	c->plan = wanted;
	c->plan.profile = xstrdup(options.save);
	c->plan.backend = xstrdup(accounting_backend_names[calibrate_options.backend]);
	c->plan.cpu = calibrate_options.cpu;
	c->plan.anyway = calibrate_options.ignore_audit;
	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		struct size size = options.sizes[i].count ? options.sizes[i]
							  : presets[options.preset][i];

		c->plan.phases[i].length_ns = size.length_ns;
		c->plan.phases[i].samples = (uint32_t)size.count;
	}
	if (options.reuse_long)
		r = reuse_long_run(c, err);
	for (int i = 0; r == 0 && i < CALIBRATION_PHASES; i++) {
		const struct calibration_phase *phase = &c->plan.phases[i];

		if (phase->length_ns > JSON_TIME_MAX ||
			phase->central_max_ns > JSON_TIME_MAX) /* as in the book */
			return error_say(
				err, -EINVAL, "a sample must not take longer than 366 days");
		if (!phase->run)
			takes_ns = saturate_add(takes_ns,
				saturate_multiply(UINT64_C(1) + phase->samples, phase->length_ns));
	}
	if (r == 0 && !options.yes)
		r = confirm_run(takes_ns, err);
	if (r == 0)
		r = calibration_prepare(c, err);
	return r != 0 ? r : calibration_find_constant(c, 0, err);
}

static int calibrate_run_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	struct calibration *c = &calibration;
	const struct option_rule rules[] = {
		{!options.save || !*options.save, "name the profile with --save NAME"},
		{options.reuse_long && options.sizes[LONG_PHASE].count,
			"--reuse-long takes no long run: omit --long"},
		{calibrate_options.ignore_changes && !options.resume,
			"--ignore-changes is for a calibration that is resumed: add --resume"},
	};
	int begun = 0, r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r < 0)
		return r;
	r = calibration_open(c, RUN_LOCK_TAKEN, err);
	/* --resume: resumes the calibration if it has begun; does nothing if it is complete */
	if (r == 0 && options.resume)
		r = begun = book_find_calibration(
			c->base.book, 0, options.save, false, &c->plan, err);
	if (r == 0 && options.resume && !wanted.replace &&
		has_profile(c->base.book, options.save)) {
		calibrate_print("Profile '%s' exists already: nothing to do\n",
			terminal_text(options.save));
		sd_notify(0, "READY=1"); /* a service that ends without it counts as failed */
		return 0;
	}
	if (r >= 0)
		r = begun ? prepare_to_resume(c, err) : begin_new(c, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the first sample");
	return r != 0 ? r : calibration_run(c, err);
}

const struct verb calibrate_run = {
	.name = "run",
	.summary = "run INC, short and long, and make a profile of cutoffs",
	.options = run_options,
	.run = calibrate_run_verb,
};
