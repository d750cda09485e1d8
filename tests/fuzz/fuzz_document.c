/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a document. Whatever is accepted must come out again, and what comes out must be accepted
 * and come out the same: an abort here is a bug. */
#include "lib/record/document/document.h"

#include "tests/fuzz/fuzz.h"

static struct book *book;

static void close_book(void)
{
	book_free(book);
}

static void make_book(void)
{
	struct error err = {};
	char path[256];

	snprintf(path, sizeof(path), "%s/emp.db", fuzz_directory());
	FUZZ_MUST(book_open(&book, path, BOOK_WRITE, &err) == 0);
	atexit(close_book);
}

/* A copy of a run gets a uid of its own. */
static bool same_run(json_t *a, json_t *b)
{
	json_object_del(a, "uid");
	json_object_del(b, "uid");
	return json_equal(a, b);
}

static void try_run(const json_t *document)
{
	_cleanup_(json_decrefp) json_t *first = NULL, *second = NULL;
	struct error err = {};
	int64_t id, again;

	if (book_begin(book, &err) < 0)
		abort();
	if (document_import_run(book, document, &id, &err) < 0) {
		if (!*err.text)
			abort(); /* refused without a word */
	} else if (document_export_run(book, id, &first, &err) < 0 ||
		   document_import_run(book, first, &again, &err) < 0 ||
		   document_export_run(book, again, &second, &err) < 0 || !same_run(first, second)) {
		fprintf(stderr, "not the same again: %s\n", err.text);
		abort();
	}
	book_rollback(book);
}

static void try_profile(const json_t *document)
{
	_cleanup_(profile_clear) struct profile in = {}, out = {};
	_cleanup_(json_decrefp) json_t *first = NULL, *second = NULL;
	struct error err = {};

	if (document_parse_profile(document, &in, &err) < 0) {
		if (!*err.text)
			abort();
		return;
	}
	if (document_make_profile(&in, &first, &err) < 0 || document_parse_profile(first, &out, &err) < 0 ||
		document_make_profile(&out, &second, &err) < 0 || !json_equal(first, second)) {
		fprintf(stderr, "not the same again: %s\n", err.text);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(json_decrefp)
		json_t *document = json_loadb((const char *)bytes, n, JSON_REJECT_DUPLICATES, NULL);

	if (!document)
		return 0;
	if (!book)
		make_book();
	try_run(document);
	try_profile(document);
	return 0;
}
