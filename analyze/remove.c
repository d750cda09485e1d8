/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze remove: deletes runs from the book, all of them or none. */
#include "analyze/options.h"
#include "analyze/run.h"

static bool force;

static const struct option_row remove_options[] = {
	{0, "force", NULL, "delete a run even if a profile, a calibration or a study needs it", NULL,
		&force},
	LAST_RUN_OPTION,
	{},
};

static int analyze_remove_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int r = book_open(&book, analyze_options.db, BOOK_WRITE, err);

	if (r == 0)
		r = book_begin(book, err);
	if (r < 0)
		return r;
	for (int i = 0; i < argc; i++) {
		int64_t id;

		r = analyze_find_run(book, argv[i], &id, err);
		if (r > 1)
			return error_say(err, -EINVAL,
				"'%s' is the name of %d runs: remove them by their numbers "
				"('emp-analyze list --name %s')",
				argv[i], r, argv[i]);
		if (r > 0)
			r = book_remove_run(book, id, force, err);
		if (r == -EBUSY) {
			struct error busy = *err;

			return error_say(err, r, "%s; --force deletes it anyway", busy.text);
		}
		if (r < 0)
			return r;
	}
	return book_commit(book, err);
}

const struct verb analyze_remove = {
	.name = "remove",
	.args = "RUN...",
	.summary = "delete runs from the book",
	.min_args = 1,
	.max_args = -1,
	.options = remove_options,
	.run = analyze_remove_verb,
	.without = "json",
};
