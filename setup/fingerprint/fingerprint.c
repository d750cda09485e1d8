/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb fingerprint: prints what this machine is and how it is set, stores it, or compares two
 * documents of it. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/book/book.h"
#include "setup/fingerprint/document.h"
#include "setup/fingerprint/difference_rows.h"
#include "setup/options.h"

/* A fingerprint document: a file that "fingerprint --json" wrote, or for "now" this machine's. */
static int read_document(json_t **ret, const char *name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *format;
	int r;

	if (!strcmp(name, "now"))
		return fingerprint_take(ret, AT_FDCWD, err);
	r = json_read(&document, name, err);
	if (r < 0)
		return r;
	format = json_string_value(json_object_get(document, "format"));
	if (!format || strcmp(format, "emp-fingerprint") != 0)
		return error_say(err, -EINVAL,
			"%s is not a fingerprint; 'emp-setup fingerprint --json' prints one", name);
	*ret = TAKE(document);
	return 0;
}

/* One line for each value, named by what it is in: "cpu.name"; of a list, its texts with ", "
 * between. */
static void print_value(const char *name, const json_t *value)
{
	_cleanup_(freep) char *text = NULL;
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_object(value) && json_object_size(value) > 0) {
		json_object_foreach ((json_t *)value, key, item) {
			_cleanup_(freep) char *longer = text_format(
				"%s%s%s", name, *name ? "." : "", key);

			print_value(longer, item);
		}
		return;
	}
	if (json_is_object(json_array_get(value, 0))) {
		json_array_foreach (value, i, item) {
			_cleanup_(freep) char *indexed = text_format("%s.%zu", name, i);

			print_value(indexed, item);
		}
		return;
	}
	json_array_foreach (value, i, item)
		text_append(&text, ", ", "%s", json_string_value(item) ?: "?");
	if (json_is_string(value))
		text = xstrdup(json_string_length(value) ? json_string_value(value) : "\"\"");
	else if (json_is_null(value))
		text = xstrdup("-");
	else if (!text)
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	terminal_wrap(stdout, text, (size_t)printf("  %-36s", name), 4);
}

static int fingerprint_diff(const char *before_name, const char *now_name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(table_freep) struct table *list = NULL;
	int r = read_document(&before, before_name, err);

	if (r == 0)
		r = read_document(&now, now_name, err);
	if (r < 0)
		return r;
	differences = fingerprint_compare(before, now, &list);
	if (options.json)
		r = json_print_document("emp-differences",
			json_pack("{s:o}", "differences", table_json(list)), err);
	else if (differences.n == 0)
		printf("Identity and settings are the same.\n");
	else
		table_print(list, stdout);
	if (r < 0)
		return r;
	return differences.n ? STATUS_NOT_FIT : STATUS_DONE;
}

static void print_fingerprint(const json_t *document)
{
	static const struct {
		const char *heading, *member;
	} parts[] = {{"Identity", "identity"}, {"Settings", "settings"},
		{"Volatile (not part of the digest)", "volatile"}};

	printf("Digest %s\n", json_string_value(json_object_get(document, "digest")));
	terminal_say(stdout, 2, "of identity and settings; a profile is bound to the identity.");
	for (size_t i = 0; i < ELEMENTS(parts); i++) {
		printf("\n%s\n", parts[i].heading);
		print_value("", json_object_get(document, parts[i].member));
	}
	putchar('\n');
	terminal_say(
		stdout, 2, "\"-\" means that this machine does not have it or does not report it.");
}

static int save_fingerprint(const json_t *document, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *text = json_dumps(document, JSON_COMPACT);
	const char *digest = json_string_value(json_object_get(document, "digest"));
	const char *machine = json_string_value(json_object_get(document, "machine"));
	int64_t id;
	int r = book_open(&book, options.db, BOOK_WRITE, err);

	if (r == 0)
		r = book_put_environment(book, digest, machine, text, &id, err);
	if (r == 0 && !options.json)
		printf("Stored as environment %" PRId64 " in %s.\n", id, book_file(book));
	return r;
}

static const struct option_row fingerprint_options[] = {
	JSON_OPTION,
	{0, "diff", NULL, "compare two documents of --json (NOW: this machine)", NULL,
		&options.diff},
	{0, "save", NULL, "also store it in the lab book", NULL, &options.save},
	DB_OPTION,
	ROOT_OPTION,
	{},
};

static int fingerprint_verb(int argc, char **argv, struct error *err)
{
	const struct option_rule rules[] = {
		{options.diff && argc == 0,
			"--diff needs a file that 'emp-setup fingerprint --json' wrote"},
		{!options.diff && argc > 0,
			"files need --diff: emp-setup fingerprint --diff BEFORE [NOW]"},
		{options.diff && (options.save || options.root_fd != AT_FDCWD),
			"--diff compares documents, and takes no fingerprint: "
			"omit --save and --root"},
		{options.db && !options.save, "--db names the lab book of --save: add it"},
	};
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r = option_check_rules(rules, ELEMENTS(rules), err);

	if (r < 0)
		return r;
	if (options.diff)
		return fingerprint_diff(argv[0], argc > 1 ? argv[1] : "now", err);
	r = fingerprint_take(&document, options.root_fd, err);
	if (r < 0)
		return r;
	if (options.json)
		r = json_print(json_incref(document), stdout, err);
	else
		print_fingerprint(document);
	if (r < 0 || !options.save)
		return r;
	return save_fingerprint(document, err);
}

const struct verb setup_fingerprint = {
	.name = "fingerprint",
	.args = "[--diff BEFORE [NOW]]",
	.summary = "describe this machine and its settings, with a digest",
	.max_args = 2,
	.options = fingerprint_options,
	.run = fingerprint_verb,
};
