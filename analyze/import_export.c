/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze import and export: runs between books, as emp-run documents. */
#include "analyze/analyze.h"

#include "lib/base/xalloc.h"
#include "lib/document/document.h"

#include <inttypes.h>

/* All or none. The transaction begins when the first document was opened, which reads all of a pipe: it may come from a process that uses the
 * book. */
static int import_all(struct book *book, int argc, char **argv, int64_t *ret_runs, struct error *err)
{
	int r;

	for (int i = 0; i < argc; i++) {
		_cleanup_(json_stream_freep) struct json_stream *document = NULL;

		r = json_stream_open(&document, argv[i], err);
		if (r == 0 && i == 0)
			r = book_begin(book, err);
		if (r < 0)
			return r;
		r = document_import(book, document, &ret_runs[i], err);
		if (r < 0)
			return error_prefix(err, r,
				argc == 1 ? "'%s' was not imported" : "nothing was imported: '%s'", argv[i]);
	}
	return book_commit(book, err);
}

static int print_runs(const int64_t *runs, int n, struct error *err)
{
	_cleanup_(json_decrefp) json_t *array = json_array();

	for (int i = 0; i < n; i++) {
		json_array_append_new(array, json_integer(runs[i]));
		if (!analyze_options.json)
			printf("%" PRId64 "\n", runs[i]);
	}
	return analyze_options.json
		       ? json_print_document("emp-import", json_pack("{s:O}", "runs", array), err)
		       : 0;
}

int verb_import(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) int64_t *runs = xcalloc((size_t)argc, sizeof(*runs));
	int r = runs ? book_open(&book, analyze_options.db, BOOK_WRITE, err) : error_oom(err);

	if (r == 0)
		r = import_all(book, argc, argv, runs, err);
	return r < 0 ? r : print_runs(runs, argc, err);
}

static struct document_parts parts;

const struct option_row export_options[] = {
	{0, "no-profile", NULL, "leave out the profile that the run was measured with", NULL, &parts.no_profile},
	{0, "no-environment", NULL, "leave out the machine and its fingerprint", NULL, &parts.no_environment},
	{},
};

int verb_export(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	int64_t run;
	int r = analyze_open(argv[0], &book, &run, err);

	return r < 0 ? r : document_export_run(book, run, &parts, stdout, err);
}
