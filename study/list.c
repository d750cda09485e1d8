/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-study list: the studies that ship with EMP, and those of the lab book. show: the file of
 * one. */
#include "study/options.h"

#include "lib/host/process/process.h"
#include "lib/study/study_show.h"

static const struct option_row list_study_options[] = {
	{0, "json", NULL, "print the result as JSON", NULL, &study_options.json, .dash = true},
	{},
};

static int list_studies_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	struct error why = {};
	int r = book_open(&book, study_options.db, BOOK_READ, &why);

	if (r < 0 && (r != -ENOENT || study_options.db)) /* nothing was measured yet */
		return error_say(err, r, "%s", why.text);
	return study_show_list(book, study_options.json, err);
}

const struct verb study_list = {
	.name = "list",
	.args = "",
	.summary = "list the studies there are to run, and those in the lab book",
	.options = list_study_options,
	.run = list_studies_verb,
};

/* Whether a study is in the lab book, and nobody measures it. */
static int check_removable(struct book *book, const char *word, int64_t *ret_id, struct error *err)
{
	_cleanup_(study_row_clear) struct study_row row = {};
	int r = text_parse_int(word, "STUDY", 1, INT64_MAX, ret_id, err);

	if (r == 0)
		r = book_get_study(book, *ret_id, &row, err);
	if (r == 0 && !row.finished_ns && process_ref_pid(row.owner) > 0)
		r = error_say(err, -EBUSY, "process %d measures study %lld",
			(int)process_ref_pid(row.owner), (long long)*ret_id);
	if (r == 0 && row.night)
		r = error_say(err, -EINVAL,
			"study %lld is a part of study %lld: 'emp-study remove %lld' deletes all "
			"of it",
			(long long)*ret_id, (long long)row.night, (long long)row.night);
	return r;
}

static int remove_study_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) int64_t *ids = xcalloc((size_t)argc, sizeof(*ids));
	int r = book_open(&book, study_options.db, BOOK_WRITE, err);

	for (int i = 0; r >= 0 && i < argc; i++)
		r = check_removable(book, argv[i], &ids[i], err);
	for (int i = 0; r >= 0 && i < argc; i++)
		r = book_remove_study(book, ids[i], err);
	return r < 0 ? r : 0;
}

const struct verb study_remove = {
	.name = "remove",
	.args = "STUDY...",
	.summary = "delete studies of the lab book, with their runs",
	.min_args = 1,
	.max_args = -1,
	.run = remove_study_verb,
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
