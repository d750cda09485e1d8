/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of emp-analyze and their options, for the table in main.c. A verb has a file of its
 * own; protocols is in discard.c. */
#pragma once

#include "lib/base/tool.h"

extern const struct option_row clocks_options[], compare_options[], cutoffs_options[],
	daemons_options[], export_options[], jitter_options[], list_options[], load_options[],
	profile_options[], remove_options[], sample_size_options[], scatter_options[],
	show_options[], trend_options[];

verb_function analyze_clocks_verb, analyze_compare_verb, analyze_cutoffs_verb, analyze_daemons_verb,
	analyze_discard_verb, analyze_export_verb, analyze_import_verb, analyze_jitter_verb,
	analyze_list_verb, analyze_load_verb, analyze_protocols_verb, analyze_remove_verb,
	analyze_sample_size_verb, analyze_scatter_verb, analyze_show_verb, analyze_trend_verb;
