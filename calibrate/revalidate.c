/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate revalidate: whether a profile still holds, for example after an upgrade: compares
 * the fingerprints, runs INC for a few minutes, and gives a verdict. */
#include "calibrate/calibration.h"
#include "calibrate/calibration_duet.h"
#include "calibrate/options.h"
#include "calibrate/screen.h"

#include "lib/host/process/pinning.h"
#include "lib/protocol/validity.h"
#include "lib/record/profile.h"
#include "lib/report/notes.h"
#include "lib/report/stored_results.h"
#include "lib/base/terminal.h"
#include "lib/run/sampling.h"

static struct {
	int64_t length_ns;
	bool adopt;
} options = {.length_ns = 300 * NS_PER_S};

static const struct option_row revalidate_options[] = {
	{0, "for", "TIME", "how long INC runs (default 5min)", option_duration, &options.length_ns},
	{0, "cpu", "N", "run INC on this CPU (default: as the profile's runs)", pinning_option,
		&calibrate_options.cpu},
	{0, "ignore-audit", NULL, "run although the machine is not fit", NULL,
		&calibrate_options.ignore_audit},
	{0, "anyway", NULL, NULL, NULL, &calibrate_options.anyway, .hidden = true},
	{0, "adopt", NULL, "if the profile holds, use it for today's environment", NULL,
		&options.adopt},
	{0, "accounting", "BACKEND", "auto (default), bpf or taskstats", NULL,
		&calibrate_options.backend, .choices = calibrate_backends},
	{},
};

/* The profile, its runs and its environment, if this book has them; and the new run. */
struct past {
	struct profile profile;
	struct differences changes; /* of the fingerprint since then */
	struct analysis then, then_long, now;
	struct evidence evidence; /* points to what is known of the above */
};

static void past_clear(struct past *p)
{
	profile_clear(&p->profile);
	differences_clear(&p->changes);
	analysis_clear(&p->then);
	analysis_clear(&p->then_long);
	analysis_clear(&p->now);
}

static int load_past(struct book *book, const char *name, struct past *p, struct error *err)
{
	struct analysis_options how = {};
	int r = book_get_profile(book, 0, name, &p->profile, err);

	if (r < 0)
		return r;
	if (!p->profile.short_run.run)
		return error_say(err, -ENOENT,
			"profile '%s' was imported: its runs are not in this lab book, so it "
			"cannot be compared; calibrate this machine with 'emp-calibrate run'",
			name);
	how.by_wait_if_exact = p->profile.by_wait;
	r = analysis_load(book, p->profile.short_run.run, &how, &p->then, err);
	how.family_reference[0] = &p->then;
	p->evidence = (struct evidence){.profile = &p->profile, .then = &p->then, .now = &p->now};
	if (r == 0 && p->profile.long_run.run) {
		r = analysis_load(book, p->profile.long_run.run, &how, &p->then_long, err);
		p->evidence.then_long = &p->then_long;
	}
	if (r == 0 && p->then.run.task_length_ns <= 0)
		return error_say(err, -EINVAL,
			"run %lld, the short run of profile '%s', does not record its task length",
			(long long)p->then.run.id, name);
	return r;
}

static int compare_fingerprints(struct calibration *c, struct past *p, struct error *err)
{
	int r = environment_differences(
		c->base.book, p->then.run.environment, c->base.environment, &p->changes, err);

	if (r < 0)
		return r;
	p->evidence.differences = r > 0 ? &p->changes : NULL;
	if (r == 0)
		calibrate_print("Fingerprint: that of the profile is not known\n");
	else if (p->changes.n == 0)
		calibrate_print("Fingerprint: unchanged since the profile was made\n");
	else
		calibrate_print("Fingerprint: changed since the profile was made:\n");
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct difference *d = &p->changes.items[i];

		calibrate_print("  %s %s: was %s, is %s\n", d->identity ? "identity" : "setting",
			terminal_text(d->what), terminal_text(d->before), terminal_text(d->now));
	}
	return 0;
}

/* A new run of the same work as in the profile's runs, by the constant of their environment; or,
 * with another INC, of the same length by today's. */
static int take_run(
	struct calibration *c, const struct past *p, int64_t *ret_run, struct error *err)
{
	enum { FEWEST = 10 };
	int64_t length_ns = p->then.run.task_length_ns, n = options.length_ns / length_ns;
	_cleanup_(run_clear) struct run run = {};
	struct inc_program inc;
	struct sampling sampling = {.run = &run, .spec = &inc.spec, .warm_ups = 1};
	const struct sampling_plan plan = {
		.session = &c->base,
		.items = &sampling,
		.n = 1,
		.quiet = calibrate_options.quiet,
	};
	int r;

	if (n > p->profile.short_run.samples)
		n = p->profile.short_run.samples;
	sampling.samples = n < FEWEST ? FEWEST : (uint32_t)n;
	r = calibration_new_run(c, RUN_REVALIDATE, length_ns, &inc, &run, err);
	if (r < 0)
		return r;
	run.profile = xstrdup(p->profile.name);
	calibrate_print("Plan: %s x %u, %s\n", terminal_text(run.program), sampling.samples,
		text_duration(saturate_multiply(sampling.samples + 1, length_ns)));
	r = sampling_run(&plan, err);
	*ret_run = run.id;
	return r ?: result_store_run(c->base.book, run.id, err);
}

/* Prints the findings. New processes that made no sample long are only counted, unless -v is
 * given. */
static void print_findings(const struct judgement *j)
{
	size_t n_new = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct finding *finding = &j->findings[i];

		if (finding->harmless && !calibrate_options.verbose) {
			n_new++;
			continue;
		}
		fputs(finding->verdict == VALIDITY_HOLDS ? "  " : "! ", stdout);
		terminal_wrap(stdout, finding->text, 2, 4);
	}
	if (n_new > 0)
		terminal_say(stdout, 4, "  %s new, and made no sample long (-v lists them)",
			n_new == 1 ? "1 process is" : text_brief("%zu processes are", n_new));
}

static void print_verdict(
	const struct calibration *c, const struct judgement *j, const struct past *p)
{
	const char *cpu = c->plan.cpu < 0 ? "" : text_brief(" --cpu %d", c->plan.cpu);
	const char *db = calibrate_db(), *name = terminal_text(p->profile.name),
		   *word = calibrate_quoted(p->profile.name);

	print_findings(j);
	switch (j->verdict) {
	case VALIDITY_HOLDS:
		printf("Verdict: profile '%s' holds\n", name);
		if (p->changes.n > 0 && !options.adopt)
			printf("To use it for the changed environment from now on:\n"
			       "  emp-calibrate%s revalidate %s --adopt\n",
				db, word);
		break;

	case VALIDITY_REPEAT_CHECK:
		terminal_say(stdout, 2,
			"Verdict: unknown; repeat the check of profile '%s' "
			"when the machine is quiet:",
			name);
		printf("  emp-calibrate%s revalidate %s%s\n", db, word, cpu);
		break;
	case VALIDITY_REPEAT_SHORT:
		terminal_say(stdout, 2,
			"Verdict: repeat the short run of profile '%s'; keep the long one:", name);
		printf("  emp-calibrate%s run --reuse-long %lld%s --save %s --replace\n", db,
			(long long)p->profile.long_run.run, cpu, word);
		break;
	case VALIDITY_REPEAT_ALL:
		printf("Verdict: repeat the whole calibration of profile '%s':\n"
		       "  emp-calibrate%s run%s --save %s --replace\n",
			name, db, cpu, word);
		break;
	}
}

/* The member "verdict" of 0.1.0; "validity" has the new names. */
static const char *verdict_word(enum validity validity)
{
	return validity == VALIDITY_HOLDS ? "stands" : validity_name(validity);
}

static json_t *verdict_json(const struct judgement *j, const struct past *p, int64_t run)
{
	json_t *changes = json_array(), *findings = json_array();

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct difference *d = &p->changes.items[i];

		json_array_append_new(
			changes, json_pack("{s:s, s:s, s:s, s:s}", "part",
					 d->identity ? "identity" : "settings", "what", d->what,
					 "before", d->before, "now", d->now));
	}
	for (size_t i = 0; i < j->n; i++)
		json_array_append_new(
			findings, json_pack("{s:s, s:s, s:s}", "validity",
					  validity_name(j->findings[i].verdict), "verdict",
					  verdict_word(j->findings[i].verdict), "words",
					  j->findings[i].text));
	return JSON_OBJECT({"profile", json_text(p->profile.name)},
		{"validity", json_text(validity_name(j->verdict))},
		{"verdict", json_text(verdict_word(j->verdict))}, {"run", json_integer(run)},
		{"changes", changes}, {"findings", findings});
}

/* Whether the new run shows all that the profile has of another INC. */
static bool run_shows_enough(const struct past *p)
{
	const struct profile *profile = &p->profile;
	struct mdd mdd[N_MDD];

	mdd_find(mdd, &p->now);
	return (mdd[0].samples > 0 || profile->mdd[0].samples == 0) &&
	       (correlation_find(&p->now).samples > 0 || profile->correlation.samples == 0);
}

/* The noise of today's run, and how the profile was made: whether it was forced stays true. */
static int renew_profile_mark(struct book *book, struct past *p, struct error *err)
{
	const struct analysis *made_of[2] = {&p->then, p->evidence.then_long ?: &p->then};
	struct analysis runs[2] = {p->now, p->now};
	struct profile *profile = &p->profile;
	bool forced = profile->mark.noise && strstr(profile->mark.noise, "forced");

	for (int i = 0; i < 2; i++)
		if (forced)
			runs[i].verdict = made_of[i]->verdict;
		else
			runs[i].central.by_hand = true;
	free(profile->mark.noise);
	profile->mark = (struct profile_mark){};
	return noise_mark(book, runs, profile, err);
}

/* Replaces the figures of the profile that another INC gave by those of the new run. */
static int renew_figures(struct calibration *c, struct past *p, struct error *err)
{
	struct profile *profile = &p->profile;
	int r;

	profile_for_inc(profile, c->base.inc_digest);
	free(profile->inc_digest);
	profile->inc_digest = text_copy(c->base.inc_digest);
	profile->other_inc = false;
	mdd_find(profile->mdd, &p->now);
	profile->correlation = correlation_find(&p->now);
	r = calibration_duet(c, profile->mdd, err);
	if (r == 0 && !profile->by_wait)
		r = renew_profile_mark(c->base.book, p, err);
	return r;
}

/* For today's environment, with --adopt; with figures of today's INC, if the run was long enough
 * for them. */
static int store_profile_that_holds(struct calibration *c, struct past *p, struct error *err)
{
	enum { ENOUGH = 50 }; /* samples, of which some may be long */
	struct profile *profile = &p->profile;
	bool moves = options.adopt && p->changes.n > 0;
	bool of_other_inc = (moves || p->changes.n == 0) &&
			    strcmp(profile->inc_digest ?: "", c->base.inc_digest ?: "");
	bool renews = of_other_inc && run_shows_enough(p);
	int r = renews ? renew_figures(c, p, err) : 0;

	if (r == 0 && of_other_inc && !renews)
		calibrate_print(
			"Too short to measure anew what another INC showed: --for must be %s or "
			"more\n",
			text_duration(saturate_multiply(ENOUGH, p->then.run.task_length_ns)));
	if (r < 0 || (!moves && !renews))
		return r;
	if (moves) {
		free(profile->environment_digest);
		profile->environment_digest = xstrdup(c->base.environment_digest);
	}
	r = book_put_profile(c->base.book, profile, true, err);
	if (r == 0 && moves)
		calibrate_print("Profile '%s' is now used for environment %.16s\n",
			terminal_text(profile->name), profile->environment_digest);
	if (r == 0 && renews) {
		const char *mdd = mdd_text_of(profile->mdd, SIZE_MAX, false);

		calibrate_print("Measured with today's INC%s%s\n", *mdd ? ": " : "", mdd);
	}
	return r;
}

static int judge_run(struct calibration *c, struct past *p, int64_t run, struct error *err)
{
	_cleanup_(judgement_clear) struct judgement judgement = {};
	const struct analysis_options how = {.by_wait_if_exact = p->profile.by_wait,
		.family_reference = {&p->then, p->evidence.then_long}};
	int r = analysis_load(c->base.book, run, &how, &p->now, err);

	if (r == 0)
		r = run_variation_load(
			c->base.book, p->then.run.id, run, false, &p->evidence.variation, err);
	if (r < 0)
		return r;
	judgement = validity_judge(&p->evidence);
	if (calibrate_options.json)
		r = json_print_document("emp-revalidation", verdict_json(&judgement, p, run), err);
	else
		print_verdict(c, &judgement, p);
	if (r < 0 || judgement.verdict != VALIDITY_HOLDS)
		return r < 0 ? r : STATUS_NOT_FIT;
	return store_profile_that_holds(c, p, err);
}

static int calibrate_revalidate_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	struct calibration_plan *plan = &calibration.plan;
	_cleanup_(past_clear) struct past past = {};
	int64_t run = 0;
	bool other_inc;
	int r = calibration_open(&calibration, RUN_LOCK_TAKEN, err);

	if (r == 0)
		r = load_past(calibration.base.book, argv[0], &past, err);
	if (r < 0)
		return r;
	plan->anyway = calibrate_options.ignore_audit;
	plan->cpu = calibrate_options.cpu >= 0 ? calibrate_options.cpu : past.then.run.cpu;
	plan->phases[SHORT_PHASE].length_ns = past.then.run.task_length_ns;
	plan->backend = xstrdup(accounting_backend_names[calibrate_options.backend]);
	r = calibration_prepare(&calibration, err);
	if (r == 0)
		r = compare_fingerprints(&calibration, &past, err);
	if (r == 0) {
		other_inc = strcmp(past.then.run.inc_digest ?: "",
				    calibration.base.inc_digest ?: "") != 0;
		past.evidence.other_inc = other_inc;
		r = calibration_find_constant(
			&calibration, other_inc ? 0 : past.then.run.environment, err);
	}
	if (r == 0)
		r = take_run(&calibration, &past, &run, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted: there is no verdict");
	return r != 0 ? r : judge_run(&calibration, &past, run, err);
}

const struct verb calibrate_revalidate = {
	.name = "revalidate",
	.args = "PROFILE",
	.summary = "check in minutes whether a profile still holds",
	.min_args = 1,
	.max_args = 1,
	.options = revalidate_options,
	.run = calibrate_revalidate_verb,
};
