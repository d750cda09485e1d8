/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb fingerprint: takes it, prints it, stores it, or compares two: see fingerprint.h. */
#include "setup/fingerprint/fingerprint.h"

#include "lib/base/xalloc.h"
#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/book/book.h"
#include "setup/options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

json_t *fingerprint_file(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = NULL;

	if (text_read_file(root_fd, path, &text) < 0)
		return json_null();
	return json_string(text) ?: json_null(); /* not UTF-8 */
}

int fingerprint_take(struct fingerprint *ret, int root_fd, struct error *err)
{
	_cleanup_(fingerprint_clear) struct fingerprint f = {};
	_cleanup_(machine_clear) struct machine machine = {};
	_cleanup_(kernel_clear) struct kernel kernel = {};
	int r;

	machine_read(&machine, root_fd);
	r = kernel_read(&kernel, root_fd, err);
	if (r < 0)
		return r;
	snprintf(f.machine, sizeof(f.machine), "%s", *machine.id ? machine.id : "unknown");
	f.identity = fingerprint_identity(root_fd, &machine, &kernel);
	f.settings = fingerprint_settings(root_fd, &kernel);
	f.rest = fingerprint_volatile(root_fd, &machine);
	if (!f.identity || !f.settings || !f.rest)
		return error_oom(err);

	/* Sorted members without blanks: equal content gives equal bytes. */
	_cleanup_(json_decrefp)
		json_t *both = json_pack("{s:O, s:O}", "identity", f.identity, "settings", f.settings);
	_cleanup_(freep) char *text = both ? json_dumps(both, JSON_SORT_KEYS | JSON_COMPACT) : NULL;

	if (!text)
		return error_oom(err);
	digest_of(text, strlen(text), f.digest);
	*ret = TAKE_STRUCT(f);
	return 0;
}

void fingerprint_clear(struct fingerprint *f)
{
	json_decref(f->identity);
	json_decref(f->settings);
	json_decref(f->rest);
	*f = (struct fingerprint){};
}

json_t *fingerprint_json(const struct fingerprint *f)
{
	return json_pack("{s:s, s:i, s:s, s:s, s:O, s:O, s:O}", "format", "emp-fingerprint", "version", 1,
		"digest", f->digest, "machine", f->machine, "identity", f->identity, "settings", f->settings,
		"volatile", f->rest);
}

/* What is printed of a value; the caller frees it. */
static char *value_text(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_length(value) ? json_string_value(value) : "\"\"");
	if (json_array_size(value) > 0) {
		char *list = NULL;
		json_t *item;
		size_t i;

		/* The texts of an array with ", " between; the caller frees it. NULL: it has something
		 * else. */
		json_array_foreach (value, i, item) {
			_cleanup_(freep) char *shorter = list;

			list = NULL;
			if (!json_is_string(item))
				return NULL;
			list = text_format("%s%s%s", shorter ?: "", i ? ", " : "", json_string_value(item));
		}
		return list;
	}
	return json_is_null(value) ? xstrdup("-")
				   : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
}

static void print_part(const char *prefix, const json_t *part);

static void print_value(const char *name, const json_t *value)
{
	_cleanup_(freep) char *text = NULL;
	json_t *item;
	size_t i;

	if (json_is_object(value) && json_object_size(value) > 0) {
		print_part(name, value);
		return;
	}
	if (json_is_object(json_array_get(value, 0))) {
		json_array_foreach (value, i, item) {
			_cleanup_(freep) char *indexed = text_format("%s.%zu", name, i);

			print_value(indexed ?: name, item);
		}
		return;
	}
	text = value_text(value);
	terminal_wrap(stdout, text ?: "?", (size_t)printf("  %-36s", name), 4);
}

/* One line for each value, named by what it is in: "cpu.name". */
static void print_part(const char *prefix, const json_t *part)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)part, key, value) {
		_cleanup_(freep) char *name = text_format("%s%s%s", prefix, *prefix ? "." : "", key);

		print_value(name ?: key, value);
	}
}

static int store(const struct fingerprint *f, const json_t *document, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *text = json_dumps(document, JSON_COMPACT);
	int64_t id;
	int r = text ? book_open(&book, options.db, BOOK_WRITE, err) : error_oom(err);

	if (r == 0)
		r = book_put_environment(book, f->digest, f->machine, text, &id, err);
	if (r == 0 && !options.json)
		printf("Stored as environment %" PRId64 " in %s.\n", id, book_file(book));
	return r;
}

int fingerprint_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(fingerprint_clear) struct fingerprint fingerprint = {};
	_cleanup_(json_decrefp) json_t *document = NULL;
	_cleanup_(closep) int root_fd = -1;
	int r;

	if (options.diff && argc == 0)
		r = error_say(err, -EINVAL, "--diff needs a file that 'emp-setup fingerprint --json' wrote");
	else if (!options.diff && argc > 0)
		r = error_say(err, -EINVAL, "files need --diff: emp-setup fingerprint --diff BEFORE [NOW]");
	else
		r = 0;

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
	else {
		printf("Digest %s\nof identity and settings; a profile is bound to the identity.\n",
			fingerprint.digest);
		printf("\nIdentity\n");
		print_part("", fingerprint.identity);
		printf("\nSettings\n");
		print_part("", fingerprint.settings);
		printf("\nVolatile (not part of the digest)\n");
		print_part("", fingerprint.rest);
		printf("\n\"-\" means that this machine does not have it or does not report it.\n");
	}
	return r == 0 && options.save ? store(&fingerprint, document, err) : r;
}
