/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate resume: resumes a calibration that was interrupted, on the same machine with the same settings, and
 * records the resume point. */
#include "calibrate/resume.h"

#include "calibrate/calibrate.h"
#include "calibrate/find_calibration.h"
#include "calibrate/prepare.h"
#include "calibrate/screen.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/report/notes.h"

#include <errno.h>

static bool anyway;

const struct option_row resume_options[] = {
	{0, "ignore-audit", NULL, "resume although the machine is not fit", NULL,
		&calibrate_options.ignore_audit},
	{0, "ignore-changes", NULL, "resume although the environment has changed", NULL,
		&calibrate_options.ignore_changes},
	{0, "anyway", NULL, NULL, NULL, &anyway, .hidden = true}, /* both, in 0.1.0 */
	{},
};

static int nothing_to_resume(struct calibration *c, int64_t run, struct error *err)
{
	_cleanup_(run_clear) struct run there = {};
	int r;

	if (!run)
		return error_say(
			err, -ENOENT, "no calibration to resume in the lab book '%s'", book_file(c->book));
	r = book_get_run(c->book, run, &there, err);
	if (r < 0)
		return r;
	return error_say(err, -EINVAL, "run %lld (%s, '%s') is not part of a calibration", (long long)run,
		there.program, run_kind_names[there.kind]);
}

static int find(struct calibration *c, int64_t run, struct error *err)
{
	int r = find_calibration(c->book, &(struct calibration_wish){.run = run}, &c->plan, err);

	if (r < 0)
		return r;
	if (r == 0)
		return nothing_to_resume(c, run, err);
	if (c->plan.state == CALIBRATION_DONE)
		return error_say(err, -EINVAL,
			"the calibration of runs %lld and %lld is complete: 'emp-calibrate%s profile show %s'",
			(long long)c->plan.phases[SHORT_PHASE].run, (long long)c->plan.phases[LONG_PHASE].run,
			calibrate_db(), calibrate_quoted(c->plan.profile));
	return 0;
}

/* The environment of the last sample: that of the last resume point, if there is one. */
static int last_environment(struct calibration *c, int64_t *ret, struct error *err)
{
	const struct calibration_phase *phases = c->plan.phases;
	_cleanup_(run_clear) struct run run = {};
	int64_t id = phases[LONG_PHASE].run ?: phases[SHORT_PHASE].run;
	struct resume_point *resume_points;
	size_t n;
	int r;

	r = book_get_run(c->book, id, &run, err);
	if (r == 0)
		r = book_resume_points(c->book, id, &resume_points, &n, err);
	if (r < 0)
		return r;
	*ret = n > 0 && resume_points[n - 1].environment ? resume_points[n - 1].environment : run.environment;
	resume_points_free(resume_points, n);
	return 0;
}

/* All samples of a run must come from the same environment. */
static int check_environment(struct calibration *c, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(freep) char *changes = NULL;
	int64_t before;
	int r;

	r = last_environment(c, &before, err);
	if (r < 0 || before == c->environment)
		return r;
	r = environment_differences(c->book, before, c->environment, &differences, err);
	if (r < 0)
		return r;
	changes = differences_description(&differences, 3);
	if (!calibrate_options.ignore_changes)
		return error_say(err, STATUS_NOT_FIT,
			"the environment has changed since the calibration began: %s. Restore it, or use --ignore-changes, which the runs record",
			*changes ? changes : "the book does not have the earlier one");
	screen_print("Environment: changed (%s), ignored\n", terminal_text(changes));
	return 0;
}

int resume_prepare(struct calibration *c, struct error *err)
{
	_cleanup_(run_clear) struct run first = {};
	int r;

	c->plan.anyway |= calibrate_options.ignore_audit;
	screen_print("Resuming the calibration for profile '%s'\n", terminal_text(c->plan.profile));
	r = book_get_run(c->book, c->plan.phases[SHORT_PHASE].run, &first, err);
	if (r == 0)
		r = prepare_machine(c, err);
	if (r == 0)
		r = check_environment(c, err);
	return r != 0 ? r : prepare_constant(c, first.environment, err);
}

int verb_resume(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	int64_t run = 0;
	int r = 0;

	calibrate_options.ignore_audit |= anyway;
	calibrate_options.ignore_changes |= anyway;
	if (argc > 0)
		r = text_parse_int(argv[0], "RUN", 1, INT64_MAX, &run, err);
	if (r == 0)
		r = calibration_open(&calibration, err);
	if (r == 0)
		r = find(&calibration, run, err);
	if (r == 0)
		r = resume_prepare(&calibration, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the next sample");
	return r != 0 ? r : calibration_run(&calibration, err);
}
