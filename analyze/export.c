/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze export: a run of the book as an emp-run document. */
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/document/document.h"

static struct document_parts parts;

static const struct option_row export_options[] = {
	{0, "no-profile", NULL, "leave out the profile that the run was measured with", NULL,
		&parts.no_profile},
	{0, "no-environment", NULL, "leave out the machine and its fingerprint", NULL,
		&parts.no_environment},
	LAST_RUN_OPTION,
	{},
};

static int analyze_export_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int64_t run;
	int r = analyze_open(argv[0], &book, &run, err);

	return r < 0 ? r : document_export_run(book, run, &parts, stdout, err);
}

const struct verb analyze_export = {
	.name = "export",
	.args = "RUN",
	.summary = "write a run as an emp-run document",
	.min_args = 1,
	.max_args = 1,
	.options = export_options,
	.run = analyze_export_verb,
};
