/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a document. Whatever is accepted must come out again, and what comes out must be
 * accepted and come out the same: an abort here is a bug. */
#include "tests/fuzz/fuzz.h"
#include "tests/memory_document.h"
#include "lib/record/profile.h"

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

static bool same_run(json_t *a, json_t *b)
{
	static const char *const of_book[] = {
		"uid", "run", "id", "reference", "source", "combination", NULL};

	drop_members(a, of_book);
	drop_members(b, of_book);
	return json_equal(a, b);
}

static void try_run(const uint8_t *bytes, size_t n)
{
	_cleanup_(json_decrefp) json_t *first = NULL, *second = NULL;
	struct error err = {};
	int64_t id, again;

	if (book_begin(book, &err) < 0)
		abort();
	if (import_bytes(book, bytes, n, &id, &err) < 0) {
		if (!*err.text)
			abort(); /* refused without a word */
	} else if (memmem(bytes, n, "emp-clocks", 10)) {
		return book_rollback(book);
	} else if (export_document(book, id, &first, &err) < 0 ||
		   import_document(book, first, &again, &err) < 0 ||
		   export_document(book, again, &second, &err) < 0 || !same_run(first, second)) {
		_cleanup_(freep) char *one = json_dumps(first, JSON_INDENT(1)),
				      *two = json_dumps(second, JSON_INDENT(1));

		fprintf(stderr, "not the same again: %s\n%s\n%s\n", err.text, one ?: "-",
			two ?: "-");
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
	if (document_make_profile(&in, &first, &err) < 0 ||
		document_parse_profile(first, &out, &err) < 0 ||
		document_make_profile(&out, &second, &err) < 0 || !json_equal(first, second)) {
		fprintf(stderr, "not the same again: %s\n", err.text);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(json_decrefp)
		json_t *document = json_loadb((const char *)bytes, n, JSON_REJECT_DUPLICATES, NULL);

	if (!book)
		make_book();
	try_run(bytes, n);
	if (document)
		try_profile(document);
	return 0;
}
