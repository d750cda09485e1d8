/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: runs INC, observes what else runs, and makes the cutoff profile. */
#include "calibrate/options.h"

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

/* A verb has a file of its own, with its options; resume is in run.c. */
extern const struct verb calibrate_run, calibrate_resume, calibrate_status, calibrate_revalidate,
	calibrate_constant, calibrate_jitter, calibrate_neighbour, calibrate_clocks,
	calibrate_profile;

/* In the order of help. */
static const struct verb *const verbs[] = {&calibrate_run, &calibrate_resume, &calibrate_status,
	&calibrate_revalidate, &calibrate_constant, &calibrate_jitter, &calibrate_neighbour,
	&calibrate_clocks, &calibrate_profile, NULL};

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
