/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate resume: goes on with a calibration that was ended before it was done, on the same machine
 * with the same settings, and marks where. */
#include "calibrate/calibrate.h"
#include "calibrate/find_calibration.h"
#include "calibrate/calibration.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/protocol/environment_diff.h"

#include <errno.h>
#include <string.h>

static bool anyway;

const struct option_row resume_options[] = {
	{.name = "anyway",
		.summary = "go on although the environment has changed, or the audit says not fit",
		.into = &anyway},
	{},
};

static int nothing_to_do(struct calibration *w, int64_t run, struct error *err)
{
	_cleanup_(run_clearp) struct run there = {};
	int r;

	if (!run)
		return error_say(err, -ENOENT, "no calibration in the book '%s' waits to be gone on with",
			w->book_path);
	r = book_get_run(w->book, run, &there, err);
	if (r < 0)
		return r;
	return error_say(err, -EINVAL,
		"run %lld (%s, '%s') belongs to no calibration that can be gone on with", (long long)run,
		there.program, there.purpose);
}

static int find(struct calibration *w, int64_t run, struct error *err)
{
	int r = find_calibration(w->book, run, false, &w->plan, err);

	if (r < 0)
		return r;
	if (r == 0)
		return nothing_to_do(w, run, err);
	if (!strcmp(w->plan.state, "done"))
		return error_say(err, -EINVAL,
			"the calibration of runs %lld and %lld is complete: 'emp-calibrate profile show %s'",
			(long long)w->plan.phases[SHORT_PHASE].run, (long long)w->plan.phases[LONG_PHASE].run,
			w->plan.profile);
	return 0;
}

/* The one that its last sample was taken in: that of the last seam, if it has any. */
static int last_environment(struct calibration *w, int64_t *ret, struct error *err)
{
	const struct calibration_phase *phases = w->plan.phases;
	_cleanup_(run_clearp) struct run run = {};
	int64_t id = phases[LONG_PHASE].run ?: phases[SHORT_PHASE].run;
	struct resume_point *resume_points;
	size_t n;
	int r;

	r = book_get_run(w->book, id, &run, err);
	if (r == 0)
		r = book_resume_points(w->book, id, &resume_points, &n, err);
	if (r < 0)
		return r;
	*ret = n > 0 && resume_points[n - 1].environment ? resume_points[n - 1].environment : run.environment;
	resume_points_free(resume_points, n);
	return 0;
}

static int load(struct book *book, int64_t environment, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = book_get_environment(book, environment, NULL, &text, err);

	if (r < 0)
		return r;
	*ret = text ? json_loads(text, 0, NULL) : json_object();
	return *ret ? 0
		    : error_say(err, -EBADMSG, "the book's environment %lld is no JSON",
			      (long long)environment);
}

static int describe_change(struct calibration *w, int64_t before, char **ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *was = NULL, *is = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	int r;

	r = load(w->book, before, &was, err);
	if (r == 0)
		r = load(w->book, w->environment, &is, err);
	if (r == 0)
		r = environment_diff(was, is, &differences, err);
	return r < 0 ? r : differences_description(&differences, 3, ret, err);
}

/* Half a run on one machine and half on another is no run. */
static int check_environment(struct calibration *w, bool go_on_anyway, struct error *err)
{
	_cleanup_(freep) char *words = NULL;
	int64_t before;
	int r;

	r = last_environment(w, &before, err);
	if (r < 0 || before == w->environment)
		return r;
	r = describe_change(w, before, &words, err);
	if (r < 0)
		return r;
	if (!go_on_anyway)
		return error_say(err, STATUS_NOT_FIT,
			"this is not the environment in which the calibration was begun: %s. Put that back, or go on with --anyway; the runs then say so",
			words);
	fprintf(calibration_talk(), "Environment: changed (%s); going on anyway, and the seam says so\n",
		words);
	return 0;
}

int calibration_continue(struct calibration *w, bool go_on_anyway, struct error *err)
{
	_cleanup_(run_clearp) struct run first = {};
	int r;

	w->plan.anyway |= go_on_anyway;
	fprintf(calibration_talk(), "Going on with the calibration for profile '%s'\n", w->plan.profile);
	r = book_get_run(w->book, w->plan.phases[SHORT_PHASE].run, &first, err);
	if (r == 0)
		r = calibration_prepare(w, err);
	if (r == 0)
		r = check_environment(w, go_on_anyway, err);
	return r != 0 ? r : calibration_constant(w, first.environment, err);
}

static int prepare(struct calibration *w, int64_t run, struct error *err)
{
	int r;

	r = calibration_open(w, "resume", err);
	if (r == 0)
		r = find(w, run, err);
	return r < 0 ? r : calibration_continue(w, anyway, err);
}

int verb_resume(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	int64_t run = 0;
	int r = 0;

	if (argc > 0)
		r = text_parse_int(argv[0], "RUN", 1, INT64_MAX, &run, err);
	if (r == 0)
		r = prepare(&calibration, run, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the next sample");
	if (r != 0)
		return r;
	calibration_announce(&calibration, err);
	return calibration_run(&calibration, err);
}
