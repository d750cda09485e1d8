/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze import: adds the runs of emp-run documents to the book. */
#include "analyze/options.h"

#include "lib/document/document.h"
#include "lib/base/terminal.h"
#include "lib/record/profile.h"
#include "lib/report/stored_results.h"

/* A document without the profile that its run names leaves open whether it is the book's of that
 * name. */
static int say_profile(struct book *book, int64_t id, struct error *err)
{
	_cleanup_(profile_clear) struct profile profile = {};
	_cleanup_(run_clear) struct run run = {};
	int r = book_get_run(book, id, &run, err);

	if (r == 0 && run.profile_id)
		r = book_get_profile(book, run.profile_id, NULL, &profile, err);
	if (r < 0)
		return r;
	fprintf(stderr,
		"%s: run %" PRId64 ": its document names the profile '%s' and does not have it; ",
		program_invocation_short_name, id, terminal_text(run.profile));
	if (!run.profile_id)
		fputs("this book has none of that name, so no samples are discarded by it\n",
			stderr);
	else if (profile.made_ns)
		fprintf(stderr, "that of this book is used, made %s\n",
			text_moment(profile.made_ns));
	else
		fputs("that of this book is used\n", stderr);
	return 0;
}

/* Imports all documents or none. The transaction begins after the first document was opened.
 * Opening reads a pipe to its end, so that a process that writes to it may use the book until
 * then. */
static int analyze_import_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *runs = json_array();
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) int64_t *named = NULL; /* runs whose profile the documents do not have */
	size_t k, n_named = 0;
	int64_t newest = 0; /* before those that are imported */
	json_t *run;
	int r = book_open(&book, analyze_options.db, BOOK_WRITE, err);

	if (r == 0)
		r = book_find_run(book, NULL, &newest, err);
	if (r < 0)
		return r;
	for (int i = 0; i < argc; i++) {
		_cleanup_(document_stream_freep) struct document_stream *document = NULL;
		int64_t id;

		r = document_stream_open(&document, argv[i], err);
		if (r == 0 && i == 0)
			r = book_begin(book, err);
		if (r < 0)
			return r;
		r = document_import(book, document, &id, err);
		if (r < 0)
			return error_prefix(err, r,
				argc == 1 ? "'%s' was not imported" : "nothing was imported: '%s'",
				argv[i]);
		json_array_append_new(runs, json_integer(id));
		if (document_names_profile(document))
			*array_add(named, n_named) = id;
	}
	r = results_store_missing(book, newest, NULL, err);
	if (r < 0)
		return r;
	r = book_commit(book, err);
	for (size_t i = 0; r >= 0 && i < n_named; i++)
		r = say_profile(book, named[i], err);
	if (r < 0)
		return r;
	if (analyze_options.json)
		return json_print_document("emp-import", json_pack("{s:O}", "runs", runs), err);
	json_array_foreach (runs, k, run)
		printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(run));
	return 0;
}

const struct verb analyze_import = {
	.name = "import",
	.args = "FILE...",
	.summary = "add runs to the book from emp-run documents (-: standard input)",
	.min_args = 1,
	.max_args = -1,
	.run = analyze_import_verb,
	.reads_stdin = true,
};
