/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-study: experiments on how well programs can be timed on a machine, as the papers' own. */
#include "study/options.h"

#include "lib/host/process/signals.h"

struct study_options study_options = {.cpu = -1, .seed = -1};

static const struct option_row common_options[] = {
	{0, "db", "FILE", "the lab book (default: EMP_DB, else the user's own)", NULL,
		&study_options.db},
	{},
};

/* A verb has a file of its own, with its options. */
extern const struct verb study_list, study_show, study_run_row, study_resume_row, study_remove,
	study_blocks_row;

/* In the order of help. */
static const struct verb *const verbs[] = {
	&study_list, &study_show, &study_run_row, &study_resume_row, &study_remove, NULL};

static const struct tool tool = {
	.name = "emp-study",
	.summary =
		"Shows by experiment what a setting, a length or a clock is worth on this machine.",
	.notes = "Examples:\n"
		 "  emp-study run clean-room            a minute: EMP and other tools\n"
		 "  emp-study run --dry-run lengths     what would be measured, and how long\n"
		 "  emp-study show settings > my.ini    a study of your own: edit it, and\n"
		 "  emp-study run my.ini                run it\n"
		 "  emp-analyze study                   the result of the last study\n",
	.options = common_options,
	.verbs = verbs,
};

/* How emp-study runs itself below emp-setup. */
static const struct tool blocks_tool = {.name = "emp-study",
	.options = common_options,
	.verbs = (const struct verb *const[]){&study_blocks_row, NULL}};

int main(int argc, char **argv)
{
	tool_start();
	interrupt_init();
	/* emp-study --db BOOK blocks … */
	return tool_main(argc > 3 && !strcmp(argv[3], "blocks") ? &blocks_tool : &tool, argc, argv);
}
