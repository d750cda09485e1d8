/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of emp-calibrate and their options, for the table in main.c. A verb has a file of its
 * own. */
#pragma once

#include "lib/base/tool.h"

extern const struct option_row clocks_options[], constant_options[], jitter_options[],
	profile_options[], resume_options[], revalidate_options[], run_options[];

verb_function calibrate_clocks_verb, calibrate_constant_verb, calibrate_jitter_verb,
	calibrate_profile_verb, calibrate_resume_verb, calibrate_revalidate_verb,
	calibrate_run_verb, calibrate_status_verb;
