/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two complete runs show: see calibration_profile.h. */
#include "calibrate/calibration_profile.h"

#include "calibrate/calibration_duet.h"
#include "calibrate/options.h"
#include "calibrate/screen.h"
#include "lib/base/terminal.h"
#include "lib/document/document.h"
#include "lib/record/profile.h"
#include "lib/report/daemon_causes.h"
#include "lib/report/results.h"
#include "lib/report/notes.h"

/* The profile and the end of its calibration, in one transaction. */
static int store_profile(struct calibration *c, struct profile *profile, struct error *err)
{
	enum calibration_state before = c->plan.state;
	struct book *book = c->base.book;
	int r = book_begin(book, err);

	if (r < 0)
		return r;
	c->plan.state = CALIBRATION_DONE;
	r = book_put_profile(book, profile, c->plan.replace, err);
	if (r == 0)
		r = book_put_calibration(book, &c->plan, err);
	r = book_end(book, r, err);
	if (r < 0)
		c->plan.state = before; /* it can be resumed */
	return r;
}

/* What disturbed the runs: a line for each counter with -v, and one for all. */
static int print_warnings(
	struct book *book, const struct analysis analyses[CALIBRATION_PHASES], struct error *err)
{
	_cleanup_(freep) char *list = NULL;
	size_t changed[N_COUNTERS] = {}, n_samples = 0;

	/* for each counter, the samples of both runs in which it changed */
	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		_cleanup_(run_result_clear) struct run_result result = {};
		const struct disturbances *found = &result.disturbances;
		int r = run_result_read(book, analyses[i].run.id, &(struct discard_rules){},
			RESULT_COUNTERS, &result, err);

		if (r < 0)
			return r;
		n_samples += analyses[i].n_samples;
		for (size_t k = 0; k < found->n; k++) {
			_cleanup_(freep) char *description = disturbance_description(found, k);

			changed[found->items[k].which] += found->items[k].n;
			if (calibrate_options.verbose)
				calibrate_print("  Run %lld: %s\n", (long long)analyses[i].run.id,
					description);
		}
	}
	for (int i = 0; i < N_COUNTERS; i++) {
		if (changed[i])
			text_append(&list, ", ", "%s in %zu", disturbance_name(i), changed[i]);
	}
	if (list)
		calibrate_print("Warnings: %s of %zu samples%s\n", list, n_samples,
			calibrate_options.verbose ? "" : " (-v)");
	return 0;
}

static int show_new_profile(
	struct calibration *c, const struct new_profile *made, struct error *err)
{
	const struct profile *p = &made->profile;
	int which = made->analyses[SHORT_PHASE].n_l_samples ? SHORT_PHASE : LONG_PHASE;
	enum { PAPERS_SAMPLES = 10 };
	FILE *screen = calibrate_screen();
	int r = 0;

	if (calibrate_options.json) {
		r = document_print_profile(p, err);
	} else {
		const char *mdd;

		printf("Profile '%s': %s", terminal_text(p->name),
			text_count(p->n_cutoffs, "cutoff"));
		if (made->left_out.n > 0)
			printf(", %zu left out (--material)", made->left_out.n);
		printf("\n");
		cutoffs_print_omitted(p, &made->left_out, screen);
		noise_print(screen, p->name, &p->mark);
		if (p->n_cutoffs)
			cutoffs_print(p, calibrate_options.verbose, screen);
		mdd = mdd_text_of(p->mdd, PAPERS_SAMPLES, false);
		if (*mdd)
			terminal_say(stdout, 2, "Resolution: %s", mdd);
	}

	if (r == 0 && calibrate_options.verbose)
		r = daemon_causes_print(
			c->base.book, made->analyses, CALIBRATION_PHASES, screen, err);
	if (r < 0)
		return r;
	if (p->n_cutoffs && !calibrate_options.verbose)
		calibrate_print("Causes: emp-analyze%s daemons %lld\n", calibrate_db(),
			(long long)made->analyses[which].run.id);
	calibrate_print("Next: emp-measure%s --profile %s%s -- COMMAND\n", calibrate_db(),
		calibrate_quoted(p->name),
		c->plan.cpu < 0 ? "" : text_brief(" --cpu %d", c->plan.cpu));
	return 0;
}

int calibration_conclude(struct calibration *c, struct error *err)
{
	_cleanup_(new_profile_clear) struct new_profile made = {};
	const struct calibration_phase *phases = c->plan.phases;
	const struct profile_request request = {
		.name = c->plan.profile,
		.runs = {phases[SHORT_PHASE].run, phases[LONG_PHASE].run},
		.central_max_ns = {phases[SHORT_PHASE].central_max_ns,
			phases[LONG_PHASE].central_max_ns},
		.options = {.by_wait_if_exact = !c->plan.by_et, .other_cpus = c->plan.other_cpus},
		.least_share_ppm = c->plan.material_ppm,
		.force = c->plan.force,
	};
	int r, refused = profile_from_runs(c->base.book, &request, &made, err);

	if (refused < 0)
		return refused;
	r = print_warnings(c->base.book, made.analyses, err);
	if (r < 0)
		return r;
	if (refused) {
		calibrate_print(
			"No profile was made. To look at the runs, and to make one anyway:\n"
			"  emp-analyze%s scatter %lld -o short.png\n"
			"  emp-analyze%s cutoffs --short %lld --long %lld --force --save %s\n",
			calibrate_db(), (long long)phases[SHORT_PHASE].run, calibrate_db(),
			(long long)phases[SHORT_PHASE].run, (long long)phases[LONG_PHASE].run,
			calibrate_quoted(c->plan.profile));
		c->plan.state = CALIBRATION_REFUSED;
		book_put_calibration(c->base.book, &c->plan, NULL);
		return STATUS_NOT_FIT;
	}

	r = calibration_duet(c, made.profile.mdd, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: both runs are complete; "
			"to resume: emp-calibrate%s resume %lld",
			calibrate_db(), (long long)phases[SHORT_PHASE].run);
	if (r == 0)
		r = store_profile(c, &made.profile, err);
	return r < 0 ? r : show_new_profile(c, &made, err);
}
