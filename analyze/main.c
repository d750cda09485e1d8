/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: analyses the runs in the lab book. */
#include "analyze/analyze.h"

#include "lib/report/run_result.h"

struct analyze_options analyze_options;

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, otherwise the user's own)", NULL,
		&analyze_options.db},
	{0, "json", NULL, "print the result as JSON", NULL, &analyze_options.json, .dash = true},
	{},
};

const struct option_row profile_options[] = {
	{0, "profile", "NAME", "the profile of cutoffs (default: that of the run)", NULL,
		&analyze_options.profile},
	OTHER_CPUS_OPTION,
	{},
};

static const struct verb verbs[] = {
	{"list", NULL, "list the runs in the book", 0, 0, list_options, verb_list},
	{"show", "RUN", "show one run: how it was made, its times, its verdict", 1, 1, show_options,
		verb_show},
	{"import", "FILE...", "add runs to the book from emp-run documents (-: standard input)", 1, -1, NULL,
		verb_import, .reads_stdin = true},
	{"export", "RUN", "write a run as an emp-run document", 1, 1, export_options, verb_export},
	{"remove", "RUN...", "delete runs from the book", 1, -1, remove_options, verb_remove},
	{"cutoffs", NULL, "make a profile of cutoffs from a short and a long run", 0, 0, cutoffs_options,
		verb_cutoffs},
	{"discard", "RUN", "apply a profile to a run: discarded samples, causes, statistics", 1, 1,
		profile_options, verb_discard},
	{"daemons", "RUN", "list the daemons in the central cluster and in the L-samples", 1, 1,
		daemons_options, verb_daemons},
	{"sample-size", "RUN", "suggest how many samples are enough", 1, 1, sample_size_options,
		verb_sample_size},
	{"protocols", "RUN...", "show the statistics after each step of the protocol", 1, -1, profile_options,
		verb_protocols},
	{"compare", "A B", "compare two runs, or results of hyperfine, pyperf or emp-measure", 2, 2,
		compare_options, verb_compare},
	{"trend", "NAME", "follow a program over its runs, and say where its time changed", 1, 1,
		trend_options, verb_trend},
	{"load", "RUN [RUN]", "show what emp-load measured, or compare two loads", 1, 2, load_options,
		verb_load},
	{"jitter", "RUN [AFTER]", "list what interrupted a CPU, by name, or what changed", 1, 2,
		jitter_options, verb_jitter},
	{"scatter", "RUN -o FILE", "draw the scatter plot of dual executions", 1, 1, scatter_options,
		verb_scatter},
	{"clocks", "[CALIBRATION]", "show what reading each clock costs, and how precise it is", 0, 1,
		clocks_options, verb_clocks},
	{},
};

static const struct tool tool = {
	.name = "emp-analyze",
	.summary = "Reports what the runs in the lab book show.",
	.notes = "Examples:\n"
		 "  emp-analyze list\n"
		 "  emp-analyze cutoffs --short 1 --long 2 --save lab1\n"
		 "  emp-analyze discard 3 --profile lab1\n"
		 "  emp-analyze scatter 1 -o short.png\n",
	.options = common_options,
	.verbs = verbs,
};

int analyze_check_options(const struct option_rule *rules, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return error_say(err, -EINVAL, "%s", rules[i].sentence);
	return 0;
}

int analyze_parse_run(const char *text, const char *what, int64_t *ret, struct error *err)
{
	if (text_parse_int(text, what, 1, INT64_MAX, ret, err) == 0)
		return 0;
	return error_say(err, -EINVAL,
		"%s must be the number of a run, not '%s'; 'emp-analyze list' shows the numbers", what, text);
}

int option_run(const char *value, const char *name, void *into, struct error *err)
{
	return analyze_parse_run(value, name, into, err);
}

int analyze_open(const char *run, struct book **ret_book, int64_t *ret_run, struct error *err)
{
	int r = analyze_parse_run(run, "RUN", ret_run, err);

	return r < 0 ? r : book_open(ret_book, analyze_options.db, BOOK_READ, err);
}

int analyze_load(const char *run, const struct analysis_options *options, struct book **ret_book,
	struct analysis *ret, struct error *err)
{
	struct analysis_options how = *options;
	int64_t id;
	int r = analyze_open(run, ret_book, &id, err);

	how.other_cpus = analyze_options.other_cpus;
	how.by_wait = analyze_options.by_wait;
	how.by_wait_if_exact = !analyze_options.by_et;
	return r < 0 ? r : analysis_load(*ret_book, id, &how, ret, err);
}

int analyze_discard(struct book *book, int64_t run, struct discarding *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile cutoffs = {};
	const char *profile = analyze_options.profile;
	const struct discard_rules rules = {
		.profile = profile ? &cutoffs : NULL, .other_cpus = analyze_options.other_cpus};
	int r = profile ? book_get_profile(book, 0, profile, &cutoffs, err) : 0;

	return r < 0 ? r : discard_run(book, run, &rules, ret, err);
}

int analyze_discard_own(
	struct book *book, int64_t id, struct discarding *ret, char **ret_profile, struct error *err)
{
	_cleanup_(run_clear) struct run run = {};
	_cleanup_(run_rules_clear) struct run_rules own = {};
	int r;

	if (analyze_options.profile) {
		r = analyze_discard(book, id, ret, err);
	} else {
		r = book_get_run(book, id, &run, err);
		if (r == 0)
			r = run_rules_load(book, &run, NULL, false, &own, err);
		if (r == 0 && !own.rules.profile)
			return error_say(err, -EINVAL,
				"run %" PRId64
				" was measured %s: name the profile with --profile; 'emp-calibrate profile list' lists them",
				id,
				own.missing ? "with a profile that is no longer in the book"
					    : "without a profile");
		own.rules.other_cpus |= analyze_options.other_cpus;
		if (r == 0)
			r = discard_run(book, id, &own.rules, ret, err);
	}
	if (r == 0)
		*ret_profile = text_copy(analyze_options.profile ?: own.profile.name);
	return r;
}

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
