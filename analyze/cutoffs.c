/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze cutoffs: makes a profile from a short and a long run, and explains each cutoff (EMP,
 * Tables X, XI and XVI). */
#include "analyze/analysis_print.h"
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/terminal.h"
#include "lib/record/profile.h"
#include "lib/report/results.h"
#include "lib/document/document.h"

static struct profile_request request = {.least_share_ppm = -1};
static const char *operands[2];
static bool replace;

static const struct option_row cutoffs_options[] = {
	{0, "short", "RUN", "the short run", NULL, &operands[0]},
	{0, "long", "RUN", "the long run", NULL, &operands[1]},
	{0, "save", "NAME", "save the profile in the book", NULL, &request.name},
	{0, "replace", NULL, "overwrite a profile of the same name", NULL, &replace},
	{0, "resolution", "TIME",
		"round PTs and cutoffs, such as 1ms (default: the coarser of the runs')",
		option_duration, &analyze_options.analysis.resolution_ns},
	{0, "short-central-max", "TIME",
		"longest ET of the short run's central cluster, set by hand", option_duration,
		&request.central_max_ns[0]},
	{0, "long-central-max", "TIME", "the same for the long run", option_duration,
		&request.central_max_ns[1]},
	OTHER_CPUS_OPTION,
	EXECUTION_CLOCK_OPTION,
	BY_WAIT_OPTIONS,
	{0, "material", "PERCENT", "leave out cutoffs that explain less (default 10%)",
		option_share, &request.least_share_ppm},
	{0, "force", NULL, "make a profile whatever the verdicts on the runs", NULL,
		&request.force},
	{},
};

/* Where the cutoff of one run comes from. */
static void print_origin(
	const char *which, const struct analysis *analysis, const char *daemon, int64_t cutoff_ns)
{
	const struct daemon_statistics *h = analysis_daemon(analysis, daemon);
	const char *central = "none in the central cluster";

	if (!h || cutoff_ns < 0) {
		printf("  %s run: %s\n", which, h ? "never long" : "not seen");
		return;
	}
	if (h->n_long_executions == 0) {
		terminal_say(stdout, 4,
			"  %s run: only in the central cluster; cutoff = %s + 2 sd of %s", which,
			text_duration(h->central_max_ns),
			h->n_central > 1 ? text_duration((int64_t)(h->central_sd_ns + 0.5)) : "-");
		return;
	}

	if (h->n_central > 0)
		central = text_brief("central maximum %s", text_duration(h->central_max_ns));
	terminal_say(stdout, 4, "  %s run: %s from %s; %s", which,
		text_count(h->n_long_executions, "long execution"), text_duration(h->long_min_ns),
		central);
	if (period_is_known(&h->period))
		terminal_say(stdout, 6, "    %s", analysis_period_text(analysis, h));
	terminal_say(stdout, 6, "    explains %s of the delay of %s", text_percent(h->share),
		h->n_long_executions == 1 ? "its sample" : "its samples");
}

static int print_profile(const struct new_profile *made, struct error *err)
{
	const struct analysis *short_run = &made->analyses[0], *long_run = &made->analyses[1];
	const struct profile *profile = &made->profile;
	size_t n_left_out = made->left_out.n;

	if (analyze_options.json)
		return document_print_profile(profile, err);
	analysis_print(short_run);
	analysis_print(long_run);
	noise_print(stdout, profile->name, &profile->mark);
	if (n_left_out > 0)
		printf("%zu cutoff%s left out (--material):\n", n_left_out,
			n_left_out == 1 ? " was" : "s were");
	cutoffs_print_omitted(profile, &made->left_out, stdout);
	run_state_print(stdout, &short_run->run);
	run_state_print(stdout, &long_run->run);
	if (profile->n_cutoffs == 0) {
		terminal_say(stdout, 2, "%sthe profile is empty and discards nothing.",
			n_left_out > 0 ? "So " : "No infrequent daemon ran long: ");
		return 0;
	}
	printf("%s, rounded to %s:\n", text_count(profile->n_cutoffs, "cutoff"),
		text_duration(profile->resolution_ns));
	cutoffs_print(profile, true, stdout);
	for (size_t i = 0; i < profile->n_cutoffs; i++) {
		const struct cutoff *c = &profile->cutoffs[i];

		daemon_print(stdout, c->daemon, c->names, c->unit);
		printf("\n");
		print_origin("short", short_run, c->daemon, c->short_ns);
		print_origin("long", long_run, c->daemon, c->long_ns);
	}
	return 0;
}

static int analyze_cutoffs_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(new_profile_clear) struct new_profile made = {};
	const struct option_rule rules[] = {
		{!operands[0] || !operands[1],
			"name both runs with --short RUN and --long RUN; 'emp-analyze list' lists "
			"runs"},
		{request.name && !*request.name, "name the profile with --save NAME"},
		{replace && !request.name, "--replace needs --save NAME"},
	};
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r == 0)
		r = analyze_check_by(err);
	if (r < 0)
		return r;
	request.options = analyze_options.analysis;
	request.options.by_wait_if_exact = !analyze_options.by_et;
	r = book_open(&book, analyze_options.db, request.name ? BOOK_WRITE : BOOK_READ, err);
	for (size_t i = 0; r >= 0 && i < 2; i++)
		r = analyze_find_run(book, operands[i], &request.runs[i], err);
	if (r >= 0)
		r = profile_from_runs(book, &request, &made, err);
	if (r == PROFILE_REFUSED) {
		struct error refused = *err;

		return error_say(err, STATUS_NOT_FIT,
			"%s; --force makes a profile anyway, --%s-central-max sets the bound by "
			"hand",
			refused.text,
			verdict_gives_cutoffs(made.analyses[0].verdict) ? "long" : "short");
	}
	if (r == 0 && request.name)
		r = book_put_profile(book, &made.profile, replace, err);
	if (r == -EEXIST)
		return error_say(
			err, r, "profile '%s' exists; --replace overwrites it", request.name);
	if (r == 0)
		r = print_profile(&made, err);
	if (r == 0 && request.name && !analyze_options.json)
		printf("Saved as profile '%s'.\n", terminal_text(request.name));
	return r;
}

const struct verb analyze_cutoffs = {
	.name = "cutoffs",
	.summary = "make a profile of cutoffs from a short and a long run",
	.options = cutoffs_options,
	.run = analyze_cutoffs_verb,
};
