/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: analyses the runs in the lab book. */
#include "analyze/options.h"

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, otherwise the user's own)", NULL,
		&analyze_options.db},
	{0, "json", NULL, "print the result as JSON", NULL, &analyze_options.json, .dash = true},
	{},
};

/* A verb has a file of its own, with its options; protocols is in discard.c. */
extern const struct verb analyze_list, analyze_show, analyze_import, analyze_export,
	analyze_refresh, analyze_remove, analyze_cutoffs, analyze_discard, analyze_daemons,
	analyze_sample_size, analyze_protocols, analyze_compare, analyze_trend, analyze_load,
	analyze_jitter, analyze_scatter, analyze_clocks, analyze_commits, analyze_study;

/* In the order of help. */
static const struct verb *const verbs[] = {&analyze_list, &analyze_show, &analyze_import,
	&analyze_export, &analyze_refresh, &analyze_remove, &analyze_cutoffs, &analyze_discard,
	&analyze_daemons, &analyze_sample_size, &analyze_protocols, &analyze_compare,
	&analyze_commits, &analyze_trend, &analyze_load, &analyze_jitter, &analyze_scatter,
	&analyze_clocks, &analyze_study, NULL};

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
