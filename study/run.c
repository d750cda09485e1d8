/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-study run and resume. */
#include "study/options.h"

static const struct option_row run_study_options[] = {
	{'n', "dry-run", NULL, "show the plan and how long it takes", NULL, &study_options.dry_run},
	{'q', "quiet", NULL, "no progress", NULL, &study_options.quiet},
	{},
};

static int run_study_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(study_session_close) struct study_session session = STUDY_SESSION_NEW;

	if (argc > 1)
		study_options.command = argv + 1;
	return study_run(&session, &study_options, argv[0], err);
}

const struct verb study_run_row = {
	.name = "run",
	.args = "NAME|FILE [-- COMMAND...]",
	.summary = "measure a study",
	.min_args = 1,
	.max_args = -1,
	.options = run_study_options,
	.run = run_study_verb,
};

static int resume_study_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(study_session_close) struct study_session session = STUDY_SESSION_NEW;
	int64_t id = 0;
	int r = argc > 0 ? text_parse_int(argv[0], "STUDY", 1, INT64_MAX, &id, err) : 0;

	return r < 0 ? r : study_resume(&session, &study_options, id, err);
}

const struct verb study_resume_row = {
	.name = "resume",
	.args = "[STUDY]",
	.summary = "go on with a study that was interrupted",
	.max_args = 1,
	.options = run_study_options,
	.run = resume_study_verb,
};
