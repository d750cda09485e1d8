/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze refresh: stores the results that other programs read, of runs of an older EMP and of
 * runs that were killed. */
#include "analyze/options.h"
#include "analyze/run.h"

#include "lib/base/json.h"
#include "lib/report/stored_results.h"

/* Of the runs that the operands name. */
static int refresh_named(struct book *book, int argc, char **argv, json_t *done, struct error *err)
{
	for (int i = 0; i < argc; i++) {
		int64_t id;
		int r = analyze_find_run(book, argv[i], &id, err);

		if (r > 0)
			r = result_store_run(book, id, err);
		if (r < 0)
			return r;
		json_array_append_new(done, json_integer(id));
	}
	return 0;
}

static int analyze_refresh_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *done = json_array();
	_cleanup_(book_freep) struct book *book = NULL;
	int r = book_open(&book, analyze_options.db, BOOK_WRITE, err);

	if (r == 0)
		r = argc > 0 ? refresh_named(book, argc, argv, done, err)
			     : results_store_missing(book, 0, done, err);
	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-refresh", json_pack("{s:O}", "runs", done), err);
	printf("Stored the results of %s\n", text_count(json_array_size(done), "run"));
	return 0;
}

const struct verb analyze_refresh = {
	.name = "refresh",
	.args = "[RUN...]",
	.summary = "store the results that SQL readers of the book lack",
	.min_args = 0,
	.max_args = -1,
	.run = analyze_refresh_verb,
};
