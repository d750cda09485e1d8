/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fingerprints side by side: "fingerprint --diff A B", and the verb verify, which holds a profile's against
 * this machine's of now. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/record/book/book.h"
#include "setup/fingerprint/difference_weight.h"
#include "setup/fingerprint/fingerprint.h"
#include "setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char *weight_words(enum weight weight)
{
	static const char *const words[] = {
		[WEIGHT_NONE] = "no", [WEIGHT_SHORT] = "to the short run", [WEIGHT_ALL] = "to all"};

	return words[weight];
}

static int take_now(json_t **ret, struct error *err)
{
	_cleanup_(fingerprint_clear) struct fingerprint fingerprint = {};
	int r = fingerprint_take(&fingerprint, AT_FDCWD, err);

	if (r < 0)
		return r;
	*ret = fingerprint_json(&fingerprint);
	return *ret ? 0 : error_os(err, -ENOMEM, "cannot take the fingerprint");
}

/* A fingerprint document: "now", or a file that "fingerprint --json" wrote. */
static int read_document(json_t **ret, const char *name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	const char *format;
	int r;

	if (!strcmp(name, "now"))
		return take_now(ret, err);
	r = json_read(&document, name, err);
	if (r < 0)
		return r;
	format = json_string_value(json_object_get(document, "format"));
	if (!format || strcmp(format, "emp-fingerprint") != 0)
		return error_say(
			err, -EINVAL, "%s is no fingerprint: 'emp-setup fingerprint --json' makes one", name);
	*ret = TAKE(document);
	return 0;
}

static enum weight heaviest(const struct differences *d)
{
	enum weight most = WEIGHT_NONE;

	for (size_t i = 0; i < d->n; i++) {
		const char *why;
		enum weight weight = difference_weigh(&d->items[i], &why);

		most = weight > most ? weight : most;
	}
	return most;
}

static json_t *differences_json(const struct differences *d)
{
	json_t *array = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const char *why;
		enum weight weight = difference_weigh(&d->items[i], &why);

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "part",
				       d->items[i].identity ? "identity" : "settings", "what",
				       d->items[i].what, "before", d->items[i].before, "now", d->items[i].now,
				       "matters", weight_words(weight), "why", why));
	}
	return array;
}

static int print_differences(const struct differences *d, struct error *err)
{
	static const struct column columns[] = {{"WHAT", COLUMN_TEXT}, {"WAS", COLUMN_WRAP},
		{"IS", COLUMN_WRAP}, {"MATTERS", COLUMN_TEXT}, {"WHY", COLUMN_WRAP}, {}};
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, columns, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < d->n; i++) {
		const char *why;
		enum weight weight = difference_weigh(&d->items[i], &why);

		table_row(table);
		table_cell(table, "%s", d->items[i].what);
		table_cell(table, "%s", d->items[i].before);
		table_cell(table, "%s", d->items[i].now);
		table_cell(table, "%s", weight_words(weight));
		table_cell(table, "%s", why);
	}
	return table_print(table, stdout, err);
}

int fingerprint_diff(const char *before_name, const char *now_name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL, *document = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	int r = read_document(&before, before_name, err);

	if (r == 0)
		r = read_document(&now, now_name, err);
	if (r == 0)
		r = environment_diff(before, now, &differences, err);
	if (r < 0)
		return r;
	if (options.json) {
		document = json_pack("{s:s, s:i, s:o}", "format", "emp-differences", "version", 1,
			"differences", differences_json(&differences));
		r = document ? json_print(document, stdout, err) : -ENOMEM;
	} else if (differences.n == 0)
		printf("Identity and settings are the same.\n");
	else
		r = print_differences(&differences, err);
	if (r < 0)
		return r;
	return differences.n ? STATUS_NOT_FIT : STATUS_DONE;
}

/* The fingerprint under which a profile's short run was made. */
static int read_profiles(json_t **ret, struct profile *profile, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *path = NULL, *text = NULL;
	_cleanup_(run_clearp) struct run run = {};
	int r = book_path(options.db, &path, err);

	if (r == 0)
		r = book_open(&book, path, BOOK_READ, err);
	if (r == 0)
		r = book_get_profile(book, options.profile, profile, err);
	if (r < 0)
		return r;
	if (!profile->short_run.run)
		return error_say(err, -ENOENT,
			"profile '%s' was made elsewhere: the fingerprint of that machine is not in this book",
			options.profile);
	r = book_get_run(book, profile->short_run.run, &run, err);
	if (r == 0)
		r = book_get_environment(book, run.environment, NULL, &text, err);
	if (r < 0)
		return r;
	*ret = text ? json_loads(text, 0, NULL) : NULL;
	return *ret ? 0
		    : error_say(
			      err, -ENOENT, "the book has no fingerprint for profile '%s'", options.profile);
}

static const char *verdict_words(enum weight weight)
{
	static const char *const words[] = {
		[WEIGHT_NONE] = "stands",
		[WEIGHT_SHORT] = "repeat the short run",
		[WEIGHT_ALL] = "repeat all",
	};

	return words[weight];
}

static int print_verdict(const struct profile *profile, const struct differences *d, struct error *err)
{
	enum weight weight = heaviest(d);
	char moment[TEXT_TIME_SIZE];
	int r;

	printf("Profile '%s'%s%s, and this machine:\n\n", profile->name, profile->made_ns ? ", made on " : "",
		profile->made_ns ? text_moment(moment, profile->made_ns) : "");
	r = d->n ? print_differences(d, err) : 0;
	if (r < 0)
		return r;
	if (d->n == 0)
		printf("Nothing of this machine or its settings has changed: it stands.\n");
	else if (weight == WEIGHT_NONE)
		printf("\nIt stands: nothing that changed matters to the times of daemons or programs.\n");
	else if (weight == WEIGHT_SHORT)
		printf("\nRepeat the short run, or let 'emp-calibrate revalidate %s' find out within minutes whether it still stands.\n",
			profile->name);
	else
		printf("\nRepeat the whole calibration: 'emp-calibrate run --save NAME'.\n");
	return 0;
}

int verb_verify(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL, *document = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(profile_clearp) struct profile profile = {};
	int r;

	options.profile = argv[0];
	r = read_profiles(&before, &profile, err);
	if (r == 0)
		r = take_now(&now, err);
	if (r == 0)
		r = environment_diff(before, now, &differences, err);
	if (r < 0)
		return r;
	if (options.json) {
		document = json_pack("{s:s, s:i, s:s, s:o, s:s}", "format", "emp-verify", "version", 1,
			"profile", profile.name, "differences", differences_json(&differences), "verdict",
			verdict_words(heaviest(&differences)));
		r = document ? json_print(document, stdout, err) : -ENOMEM;
	} else
		r = print_verdict(&profile, &differences, err);
	if (r < 0)
		return r;
	return heaviest(&differences) == WEIGHT_NONE ? STATUS_DONE : STATUS_NOT_FIT;
}
