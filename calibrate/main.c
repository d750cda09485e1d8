/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: runs INC, sees who else ran, and makes the cutoff profile. */
#include "calibrate/calibrate.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/suite_tool.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

struct calibrate_options calibrate_options = {.cpu = -1};

static const struct option_row common_options[] = {
	{.name = "db",
		.value = "FILE",
		.summary = "the book (default: EMP_DB, else the user's own)",
		.into = &calibrate_options.db},
	{.name = "json", .summary = "print the result as JSON", .into = &calibrate_options.json},
	{.letter = 'q', .name = "quiet", .summary = "no progress", .into = &calibrate_options.quiet},
	{},
};

static const struct verb verbs[] = {
	{.name = "run",
		.summary = "run INC twice, short and long, and make a profile of cutoffs",
		.options = run_options,
		.run = verb_run},
	{.name = "resume",
		.args = "[RUN]",
		.max_args = 1,
		.summary = "go on with a calibration that was ended before it was done",
		.options = resume_options,
		.run = verb_resume},
	{.name = "status",
		.args = "[RUN]",
		.max_args = 1,
		.summary = "how far a calibration is, from another terminal",
		.run = verb_status},
	{.name = "revalidate",
		.args = "PROFILE",
		.min_args = 1,
		.max_args = 1,
		.summary = "say whether a profile still holds, after an upgrade, by a few minutes of INC",
		.options = revalidate_options,
		.run = verb_revalidate},
	{.name = "constant",
		.summary = "find and store how many iterations INC makes in a second",
		.options = constant_options,
		.run = verb_constant},
	{.name = "profile",
		.args = "list | show NAME | export NAME | import FILE | remove NAME",
		.min_args = 1,
		.max_args = 2,
		.summary = "the profiles in the book",
		.options = profile_options,
		.run = verb_profile},
	{},
};

static const struct tool tool = {
	.name = "emp-calibrate",
	.summary =
		"Runs INC, sees which daemons ran beside it, and makes the profile of cutoffs that emp-measure uses.",
	.notes = "Examples:\n"
		 "  emp-calibrate run --save lab1                        as the papers: 28 hours and 8 days\n"
		 "  emp-calibrate run --short 0.1x150 --long 1x6 --save quick\n"
		 "  emp-calibrate profile show lab1\n",
	.options = common_options,
	.verbs = verbs,
};

int calibrate_open_book(enum book_mode mode, struct book **ret, char **ret_path, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	int r;

	r = book_path(calibrate_options.db, &path, err);
	if (r < 0)
		return r;
	r = book_open(ret, path, mode, err);
	if (r < 0)
		return r;
	if (ret_path)
		*ret_path = TAKE(path);
	return 0;
}

int calibrate_find_inc(char **ret, struct error *err)
{
	return suite_tool_find("inc", ret, err);
}

int main(int argc, char **argv)
{
	interrupt_init();
	return tool_main(&tool, argc, argv);
}
