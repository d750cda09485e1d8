/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a calibration: from two complete runs to the profile, or the reason why there is none. */
#include "calibrate/advice.h"
#include "calibrate/calibrate.h"
#include "calibrate/calibration.h"

#include "lib/base/json.h"
#include "lib/report/results_table.h"
#include "lib/base/text.h"
#include "lib/report/analysis_load.h"
#include "lib/record/document/document.h"

#include <errno.h>
#include <string.h>

/* INC does the same work each time. Where the longest sample of the central cluster takes half as much again
 * as the shortest, a rare daemon would have to take more than that to be seen. */
static const double WIDE = 1.5;

static void print_analysis(const struct analysis *analysis)
{
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];

	fprintf(calibration_talk(),
		"Run %lld (%s): %s. Central cluster %s to %s, %zu of %zu samples; %zu L-sample%s\n",
		(long long)analysis->run.id, analysis->run.program, verdict_name(analysis->verdict),
		text_duration(low, analysis->central.low_ns), text_duration(high, analysis->central.high_ns),
		analysis->central.n_central, analysis->n_samples, analysis->n_l_samples,
		analysis->n_l_samples == 1 ? "" : "s");
	if ((double)analysis->central.high_ns > WIDE * (double)analysis->central.low_ns)
		fprintf(calibration_talk(),
			"  Warning: the central cluster is wide, and hides daemons that take less than its width: the machine's speed\n  wanders, or others kept it busy\n");
}

static int print_profile(const struct calibration *w, const struct profile *profile, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r;

	if (calibrate_options.json) {
		r = document_make_profile(profile, &document, err);
		return r < 0 ? r : json_print(document, stdout, err);
	}
	printf("Profile '%s': %zu cutoff%s\n", profile->name, profile->n_cutoffs,
		profile->n_cutoffs == 1 ? "" : "s");
	if (profile->n_cutoffs > 0) {
		r = cutoffs_print(profile, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void print_next(const struct calibration *w)
{
	fprintf(calibration_talk(),
		"See: emp-analyze scatter %lld -o short.png\nUse: emp-measure --profile %s -- COMMAND\n",
		(long long)w->plan.phases[SHORT_PHASE].run, w->plan.profile);
}

static int set_state(struct calibration *w, const char *state, struct error *err)
{
	char *copy = strdup(state);

	if (!copy)
		return error_os(err, -ENOMEM, "cannot end a calibration");
	free(w->plan.state);
	w->plan.state = copy;
	return book_update_calibration(w->book, &w->plan, err);
}

static int refuse(struct calibration *w, struct error *err)
{
	struct error ignored;

	fprintf(calibration_talk(),
		"No profile was made. The runs are kept: look at them with 'emp-analyze scatter', and if you know better:\n"
		"  emp-analyze cutoffs --short %lld --long %lld --force --save %s\n",
		(long long)w->plan.phases[SHORT_PHASE].run, (long long)w->plan.phases[LONG_PHASE].run,
		w->plan.profile);
	set_state(w, "refused", &ignored); /* the sentence at hand is the shape's */
	return STATUS_NOT_FIT;
}

/* The profile and the end of its calibration come into the book together. */
static int save(struct calibration *w, const struct profile *profile, struct error *err)
{
	int r;

	r = book_begin(w->book, err);
	if (r < 0)
		return r;
	r = book_put_profile(w->book, profile, w->plan.replace, err);
	if (r == 0)
		r = set_state(w, "done", err);
	if (r == 0)
		return book_commit(w->book, err);
	book_rollback(w->book);
	return r;
}

int calibration_conclude(struct calibration *w, struct error *err)
{
	_cleanup_(analysis_clearp) struct analysis short_analysis = {};
	_cleanup_(analysis_clearp) struct analysis long_analysis = {};
	_cleanup_(profile_clearp) struct profile profile = {};
	const struct calibration_phase *phases = w->plan.phases;
	const struct profile_request making = {
		.name = w->plan.profile,
		.force = w->plan.force,
		.short_central_max_ns = phases[SHORT_PHASE].central_max_ns,
		.long_central_max_ns = phases[LONG_PHASE].central_max_ns,
		.short_analysis = &short_analysis,
		.long_analysis = &long_analysis,
	};
	int r;

	r = profile_from_runs(
		w->book, phases[SHORT_PHASE].run, phases[LONG_PHASE].run, &making, &profile, err);
	if (r < 0)
		return r;
	print_analysis(&short_analysis);
	print_analysis(&long_analysis);
	if (r == PROFILE_REFUSED)
		return refuse(w, err);
	r = save(w, &profile, err);
	if (r == 0)
		r = print_profile(w, &profile, err);
	if (r == 0)
		r = advice_print(w->book, &profile, &short_analysis, &long_analysis, calibration_talk(), err);
	if (r == 0)
		print_next(w);
	return r;
}
