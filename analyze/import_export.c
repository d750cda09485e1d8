/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze import and export: runs between books, as emp-run documents. */
#include "analyze/analyze.h"

#include "lib/record/document/document.h"

#include <inttypes.h>

static int import(struct book *book, const char *path, int64_t *ret, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r;

	r = json_read(&document, path, err);
	if (r < 0)
		return r;
	r = document_import_run(book, document, ret, err);
	return r < 0 ? error_prefix(err, r, "'%s' was not imported", path) : 0;
}

static int import_all(struct book *book, int argc, char **argv, json_t *runs, struct error *err)
{
	for (int i = 0; i < argc; i++) {
		int64_t run;
		int r = import(book, argv[i], &run, err);

		if (r < 0)
			return r;
		json_array_append_new(runs, json_integer(run));
		if (!analyze_options.json)
			printf("%" PRId64 "\n", run);
	}
	return 0;
}

int verb_import(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(json_decrefp) json_t *runs = json_array();
	int r = book_open(&book, analyze_options.db, BOOK_WRITE, err);

	if (r < 0)
		return r;
	r = import_all(book, argc, argv, runs, err);
	if (analyze_options.json && (r == 0 || json_array_size(runs) > 0)) {
		struct error ignored;

		json_print_document("emp-import", json_pack("{s:O}", "runs", runs), r < 0 ? &ignored : err);
	}
	return r;
}

int verb_export(int argc, char **argv, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(json_decrefp) json_t *document = NULL;
	int64_t run;
	int r;

	r = analyze_open(argv[0], &book, &run, err);
	if (r == 0)
		r = document_export_run(book, run, &document, err);
	return r < 0 ? r : json_print(document, stdout, err);
}
