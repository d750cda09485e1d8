/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: analyses the runs in the lab book. */
#include "analyze/options.h"
#include "analyze/verbs.h"

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
	LAST_RUN_OPTION,
	{},
};

static const struct verb verbs[] = {
	{"list", NULL, "list the runs in the book", 0, 0, list_options, analyze_list_verb},
	{"show", "RUN", "show one run: how it was made, its times, its verdict", 1, 1, show_options,
		analyze_show_verb},
	{"import", "FILE...", "add runs to the book from emp-run documents (-: standard input)", 1,
		-1, NULL, analyze_import_verb, .reads_stdin = true},
	{"export", "RUN", "write a run as an emp-run document", 1, 1, export_options,
		analyze_export_verb},
	{"remove", "RUN...", "delete runs from the book", 1, -1, remove_options,
		analyze_remove_verb, .without = "json"},
	{"cutoffs", NULL, "make a profile of cutoffs from a short and a long run", 0, 0,
		cutoffs_options, analyze_cutoffs_verb},
	{"discard", "RUN", "apply a profile to a run: discarded samples, causes, statistics", 1, 1,
		profile_options, analyze_discard_verb},
	{"daemons", "RUN", "list the daemons in the central cluster and in the L-samples", 1, 1,
		daemons_options, analyze_daemons_verb},
	{"sample-size", "RUN", "suggest how many samples are enough", 1, 1, sample_size_options,
		analyze_sample_size_verb},
	{"protocols", "RUN...", "show the statistics after each step of the protocol", 1, -1,
		profile_options, analyze_protocols_verb},
	{"compare", "A B", "compare two runs, or results of hyperfine, pyperf or emp-measure", 2, 2,
		compare_options, analyze_compare_verb},
	{"trend", "NAME", "follow a program over its runs, and say where its time changed", 1, 1,
		trend_options, analyze_trend_verb},
	{"load", "RUN [RUN]", "show what emp-load measured, or compare two loads", 1, 2,
		load_options, analyze_load_verb},
	{"jitter", "RUN [AFTER]", "list what interrupted a CPU, by name, or what changed", 1, 2,
		jitter_options, analyze_jitter_verb},
	{"scatter", "RUN -o FILE", "draw the scatter plot of dual executions", 1, 1,
		scatter_options, analyze_scatter_verb, .without = "json"},
	{"clocks", "[CALIBRATION]", "show what reading each clock costs, and how precise it is", 0,
		1, clocks_options, analyze_clocks_verb},
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

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
