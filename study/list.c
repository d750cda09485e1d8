/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-study list: the studies that ship with EMP, and those of the lab book. show: the file of one. */
#include "study/options.h"

static int list_studies_verb(int argc, char **argv, struct error *err)
{
	return 0;
}

const struct verb study_list = {
	.name = "list",
	.args = "",
	.summary = "list the studies there are to run, and those in the lab book",
	.run = list_studies_verb,
};

static int show_study_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(study_file_clear) struct study_file file = {};
	int r = study_read(&file, argv[0], err);

	if (r == 0)
		fputs(file.source, stdout);
	return r;
}

const struct verb study_show = {
	.name = "show",
	.args = "NAME",
	.summary = "print the file of a study, to copy and edit",
	.min_args = 1,
	.max_args = 1,
	.run = show_study_verb,
};
