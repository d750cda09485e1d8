/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a calibration: see calibration.h. */
#include "calibrate/calibration.h"

#include "calibrate/calibrate.h"
#include "calibrate/screen.h"

#include "lib/base/json.h"
#include "lib/report/analysis_load.h"
#include "lib/report/daemon_causes.h"
#include "lib/document/document.h"

#include <errno.h>

static int set_state(struct calibration *c, enum calibration_state state, struct error *err)
{
	c->plan.state = state;
	return book_update_calibration(c->book, &c->plan, err);
}

static int interrupted_in_duet(struct calibration *c, struct error *err)
{
	_cleanup_(freep) char *command = calibration_resume_command(c);

	return error_say(err, STATUS_INTERRUPTED, "interrupted: both runs are complete; to resume: %s",
		command ?: "emp-calibrate resume");
}

static int refuse(struct calibration *c)
{
	struct error ignored; /* the user gets the sentence about the run instead */

	screen_refused(c);
	set_state(c, CALIBRATION_REFUSED, &ignored);
	return STATUS_NOT_FIT;
}

/* Stores the profile and the end of its calibration in one transaction. */
static int save(struct calibration *c, struct profile *profile, struct error *err)
{
	int r;

	r = book_begin(c->book, err);
	if (r < 0)
		return r;
	r = book_put_profile(c->book, profile, c->plan.replace, err);
	if (r == 0)
		r = set_state(c, CALIBRATION_DONE, err);
	if (r == 0)
		return book_commit(c->book, err);
	book_rollback(c->book);
	return r;
}

static int print_json(const struct profile *profile, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = document_make_profile(profile, &document, err);

	return r < 0 ? r : json_print(document, stdout, err);
}

static int show(struct calibration *c, const struct profile *profile, const struct cutoffs *left_out,
	const struct analysis *const analyses[], struct error *err)
{
	int r = calibrate_options.json ? print_json(profile, err) : screen_profile(profile, left_out, err);

	if (r == 0 && calibrate_options.verbose)
		r = daemon_causes_print(c->book, analyses, CALIBRATION_PHASES, screen_file(), err);
	if (r == 0)
		screen_next(c, analyses, profile);
	return r;
}

int conclude(struct calibration *c, struct error *err)
{
	_cleanup_(analysis_clear) struct analysis short_analysis = {}, long_analysis = {};
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(cutoffs_clear) struct cutoffs left_out = {};
	const struct analysis *const analyses[] = {&short_analysis, &long_analysis};
	const struct calibration_phase *phases = c->plan.phases;
	const struct profile_request making = {
		.name = c->plan.profile,
		.force = c->plan.force,
		.by_wait_if_exact = !c->plan.by_et,
		.other_cpus = c->plan.other_cpus,
		.least_share_ppm = c->plan.material_ppm,
		.left_out = &left_out,
		.short_central_max_ns = phases[SHORT_PHASE].central_max_ns,
		.long_central_max_ns = phases[LONG_PHASE].central_max_ns,
		.short_analysis = &short_analysis,
		.long_analysis = &long_analysis,
	};
	int r, refused;

	refused = profile_from_runs(
		c->book, phases[SHORT_PHASE].run, phases[LONG_PHASE].run, &making, &profile, err);
	if (refused < 0)
		return refused;
	r = screen_warnings(c->book, analyses, err);
	if (r < 0)
		return r;
	if (refused)
		return refuse(c);
	r = calibration_duet(c, profile.resolving, err);
	if (r == -EINTR)
		return interrupted_in_duet(c, err);
	if (r < 0)
		return r;
	r = save(c, &profile, err);
	return r < 0 ? r : show(c, &profile, &left_out, analyses, err);
}
