/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze remove: deletes runs from the book, all of them or none. */
#include "analyze/analyze.h"

#include <errno.h>

static bool force;

const struct option_row remove_options[] = {
	{0, "force", NULL, "delete a run even if a profile or a calibration needs it", NULL, &force},
	{},
};

static int remove_all(struct book *book, int argc, char **argv, struct error *err)
{
	for (int i = 0; i < argc; i++) {
		int64_t id;
		int r = analyze_parse_run(argv[i], "RUN", &id, err);

		if (r == 0)
			r = book_remove_run(book, id, force, err);
		if (r == -EBUSY) {
			struct error busy = *err;

			return error_say(err, r, "%s; --force deletes it anyway", busy.text);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int verb_remove(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int r;

	r = book_open(&book, analyze_options.db, BOOK_WRITE, err);
	if (r == 0)
		r = book_begin(book, err);
	if (r < 0)
		return r;
	r = remove_all(book, argc, argv, err);
	if (r < 0) {
		book_rollback(book);
		return r;
	}
	return book_commit(book, err);
}
