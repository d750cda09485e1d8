/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: runs INC, observes what else runs, and makes the cutoff profile. */
#include "calibrate/options.h"
#include "calibrate/verbs.h"

#include "lib/host/process/signals.h"

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, else the user's own)", NULL,
		&calibrate_options.db},
	{0, "json", NULL, "print the result as JSON", NULL, &calibrate_options.json, .dash = true},
	{'q', "quiet", NULL, "no progress", NULL, &calibrate_options.quiet},
	{'v', "verbose", NULL, "list each warning, the causes of each daemon and how to stop it",
		NULL, &calibrate_options.verbose},
	{},
};

static const struct verb verbs[] = {
	{"run", NULL, "run INC, short and long, and make a profile of cutoffs", 0, 0, run_options,
		calibrate_run_verb},
	{"resume", "[RUN|PROFILE]", "resume a calibration that was interrupted", 0, 1,
		resume_options, calibrate_resume_verb},
	{"status", "[RUN|PROFILE]", "show the progress, from another terminal", 0, 1, NULL,
		calibrate_status_verb, .without = "quiet verbose"},
	{"revalidate", "PROFILE", "check in minutes whether a profile still holds", 1, 1,
		revalidate_options, calibrate_revalidate_verb},
	{"constant", NULL, "measure and store INC's increments per second", 0, 0, constant_options,
		calibrate_constant_verb, .without = "verbose"},
	{"jitter", NULL, "measure every interruption of a CPU, and name its source", 0, 0,
		jitter_options, calibrate_jitter_verb},
	{"clocks", NULL, "measure what reading each clock costs, and how precise it is", 0, 0,
		clocks_options, calibrate_clocks_verb, .without = "verbose"},
	{"profile", "ACTION [NAME|FILE]", "list, show, export, import or remove a profile", 1, 2,
		profile_options, calibrate_profile_verb},
	{},
};

static const struct tool tool = {
	.name = "emp-calibrate",
	.summary = "Learns which daemons disturb timings, and makes the profile that emp-measure "
		   "uses.",
	.notes = "Examples:\n"
		 "  emp-calibrate run --preset quick --cpu 1 --save quick   half a minute\n"
		 "  emp-calibrate run --cpu 1 --save lab1                   paper sizes: 9 days\n"
		 "  emp-calibrate profile show lab1\n"
		 "  emp-calibrate jitter --cpu 1 --for 10min                what interrupts CPU 1\n"
		 "\n"
		 "On a machine that is not fit (emp-setup audit), run and revalidate end with\n"
		 "status 2: add --ignore-audit to take it as it is.\n",
	.options = common_options,
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	tool_start();
	interrupt_init();
	return tool_main(&tool, argc, argv);
}
