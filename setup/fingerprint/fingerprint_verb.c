/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb fingerprint: prints it, stores it, or compares two. */
#include "lib/base/json.h"
#include "lib/record/book/book.h"
#include "setup/fingerprint/fingerprint.h"
#include "setup/options.h"

#include <errno.h>
#include <inttypes.h>

static int store(const struct fingerprint *f, const json_t *document, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *path = NULL, *text = json_dumps(document, JSON_COMPACT);
	int64_t id;
	int r = text ? book_path(options.db, &path, err) : error_oom(err);

	if (r == 0)
		r = book_open(&book, path, BOOK_WRITE, err);
	if (r == 0)
		r = book_put_environment(book, f->digest, f->machine, text, &id, err);
	if (r == 0 && !options.json)
		printf("Stored as environment %" PRId64 " in %s.\n", id, path);
	return r;
}

static int check_operands(int argc, struct error *err)
{
	if (options.diff && argc == 0)
		return error_say(
			err, -EINVAL, "--diff needs a file that 'emp-setup fingerprint --json' wrote");
	if (!options.diff && argc > 0)
		return error_say(
			err, -EINVAL, "files need --diff: emp-setup fingerprint --diff BEFORE [NOW]");
	return 0;
}

int fingerprint_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(fingerprint_clear) struct fingerprint fingerprint = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(closep) int root_fd = -1;
	int r = check_operands(argc, err);

	if (r == 0 && options.diff)
		return fingerprint_diff(argv[0], argc > 1 ? argv[1] : "now", err);
	if (r == 0)
		r = options_root_open(&root_fd, err);
	if (r == 0)
		r = fingerprint_take(&fingerprint, root_fd, err);
	if (r < 0)
		return r;
	document = fingerprint_json(&fingerprint);
	if (!document)
		return error_oom(err);
	if (options.json)
		r = json_print(document, stdout, err);
	else
		fingerprint_print(&fingerprint, stdout);
	return r == 0 && options.save ? store(&fingerprint, document, err) : r;
}
