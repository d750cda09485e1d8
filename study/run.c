/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-study run and resume. */
#include "study/options.h"

#include "lib/host/process/pinning.h"

static int parse_seed(const char *value, const char *name, void *into, struct error *err)
{
	return text_parse_int(value, name, 0, INT64_MAX, into, err);
}

static const struct option_row run_study_options[] = {
	{'n', "dry-run", NULL, "show the plan and how long it takes, measure nothing", NULL,
		&study_options.dry_run},
	{0, "max-time", "TIME", "take fewer samples if it would take longer than this",
		option_duration, &study_options.max_time_ns},
	{0, "scale", "FACTOR", "make INC so many times as long", study_parse_scale,
		&study_options.scale},
	{0, "seed", "N", "of the random order of the blocks", parse_seed, &study_options.seed},
	{0, "profile", "NAME", "discard by the cutoffs of this profile (see emp-calibrate)", NULL,
		&study_options.profile},
	{0, "cpu", "N", "run the programs on this CPU", pinning_option, &study_options.cpu},
	{'q', "quiet", NULL, "no progress", NULL, &study_options.quiet},
	{0, "ignore-lock", NULL, "measure although another tool measures or calibrates", NULL,
		&study_options.ignore_lock},
	{},
};

static int run_study_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(study_session_close) struct study_session session = STUDY_SESSION_NEW;

	argv[argc] = NULL;
	if (argc > 1)
		study_options.command = argv + 1;
	return study_run(&session, &study_options, argv[0], err);
}

const struct verb study_run_row = {
	.name = "run",
	.args = "NAME|FILE.ini [-- COMMAND...]",
	.summary = "measure a study",
	.min_args = 1,
	.max_args = -1,
	.options = run_study_options,
	.run = run_study_verb,
};

static const struct option_row resume_study_options[] = {
	{'q', "quiet", NULL, "no progress", NULL, &study_options.quiet},
	{0, "ignore-lock", NULL, "measure although another tool measures or calibrates", NULL,
		&study_options.ignore_lock},
	{},
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
	.summary = "go on with a study that was interrupted, or by default the latest",
	.max_args = 1,
	.options = resume_study_options,
	.run = resume_study_verb,
};

static int blocks_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(study_session_close) struct study_session session = STUDY_SESSION_NEW;
	int64_t numbers[3];

	for (int i = 0; i < 3; i++)
		if (text_parse_int(argv[i], "number", 0, UINT32_MAX, &numbers[i], err) < 0)
			return -EINVAL;
	study_options.quiet = true;
	return study_run_blocks(
		&session, &study_options, numbers[0], (size_t)numbers[1], (size_t)numbers[2], err);
}

const struct verb study_blocks_row = {
	.name = "blocks",
	.args = "STUDY FROM TO",
	.summary = "",
	.min_args = 3,
	.max_args = 3,
	.run = blocks_verb,
};
