/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb verify: compares a profile's fingerprint with this machine's; and two fingerprints: see fingerprint.h. */
#include "setup/fingerprint/fingerprint.h"

#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/tool.h"
#include "lib/book/book.h"
#include "lib/protocol/environment_diff.h"
#include "setup/options.h"

static const struct {
	const char *demand;  /* what is to be repeated */
	const char *verdict; /* the member of 0.1.0; "validity" has the names that emp-calibrate uses too */
	const char *repeat;
} WORDS[] = {[VALIDITY_HOLDS] = {"no", "stands"},
	[VALIDITY_REPEAT_SHORT] = {"to the short run", "repeat the short run", "the short run"},
	[VALIDITY_REPEAT_ALL] = {"to all", "repeat all", "the whole calibration"}};

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

/* The differences, and as rows of a table or of an array. */
static int compare_documents(const json_t *before, const char *now_name, struct differences *ret,
	struct table **ret_list, struct error *err)
{
	static const struct column columns[] = {{NULL, COLUMN_TEXT, "part"}, {"WHAT", COLUMN_WRAP, "what"},
		{"BEFORE", COLUMN_WRAP, "before"}, {"NOW", COLUMN_WRAP, "now"},
		{"MATTERS", COLUMN_WRAP, "matters"}, {"WHY", COLUMN_WRAP, "why"}, {}};
	_cleanup_(json_decrefp) json_t *now = NULL;
	int r = read_document(&now, now_name, err);

	if (r < 0)
		return r;
	*ret = environment_diff(before, now);
	*ret_list = table_new(columns);
	for (size_t i = 0; i < ret->n; i++) {
		const struct difference *d = &ret->items[i];
		const struct difference_rule *rule = difference_rule(d);

		table_row(*ret_list, TEXT(d->identity ? "identity" : "settings"), TEXT(d->what),
			TEXT(d->before), TEXT(d->now), TEXT(WORDS[rule->demand].demand), TEXT(rule->why));
	}
	return 0;
}

int fingerprint_diff(const char *before_name, const char *now_name, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(table_freep) struct table *list = NULL;
	int r = read_document(&before, before_name, err);

	if (r == 0)
		r = compare_documents(before, now_name, &differences, &list, err);
	if (r == 0 && options.json)
		r = json_print_document(
			"emp-differences", json_pack("{s:o}", "differences", table_json(list)), err);
	if (r < 0)
		return r;
	if (!options.json && differences.n == 0)
		printf("Identity and settings are the same.\n");
	else if (!options.json)
		table_print(list, stdout);
	return differences.n ? STATUS_NOT_FIT : STATUS_DONE;
}

/* The fingerprint under which a profile's short run was made. */
static int read_profile(const char *name, json_t **ret, struct profile *profile, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *text = NULL;
	_cleanup_(run_clear) struct run run = {};
	int r = book_open(&book, options.db, BOOK_READ, err);

	if (r == 0)
		r = book_get_profile(book, 0, name, profile, err);
	if (r < 0)
		return r;
	if (profile->short_run.run)
		r = book_get_run(book, profile->short_run.run, &run, err);
	if (r == 0 && !run.environment)
		return error_say(err, -ENOENT,
			"profile '%s' was imported: the fingerprint of its machine is not in this book, so nothing can be compared; calibrate this machine with 'emp-calibrate run'",
			name);
	if (r == 0)
		r = book_get_environment(book, run.environment, NULL, NULL, &text, err);
	if (r < 0)
		return r;
	*ret = text ? json_loads(text, 0, NULL) : NULL;
	return *ret ? 0 : error_say(err, -ENOENT, "the book has no fingerprint for profile '%s'", name);
}

int verify_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(profile_clear) struct profile profile = {};
	enum validity validity;
	int r = read_profile(argv[0], &before, &profile, err);

	if (r == 0)
		r = compare_documents(before, "now", &differences, &list, err);
	if (r < 0)
		return r;
	validity = differences_validity(&differences);
	if (options.json)
		r = json_print_document("emp-verify",
			json_pack("{s:s, s:o, s:s, s:s}", "profile", profile.name, "differences",
				table_json(list), "validity", validity_name(validity), "verdict",
				WORDS[validity].verdict),
			err);
	else {
		printf("Changes since profile '%s'%s%s:\n\n", terminal_text(profile.name),
			profile.made_ns ? " was made on " : "",
			profile.made_ns ? text_moment(profile.made_ns) : "");
		table_print(list, stdout);
		if (differences.n == 0)
			printf("None: the profile holds.\n");
		else if (validity == VALIDITY_HOLDS)
			printf("\nThe profile holds: no change affects the times of daemons or programs.\n");
		else
			printf("\nRepeat %s, or let a few minutes of INC decide:\n  emp-calibrate%s%s revalidate %s\n",
				WORDS[validity].repeat, options.db ? " --db " : "", options.db ?: "",
				terminal_text(profile.name));
	}
	if (r < 0)
		return r;
	return validity == VALIDITY_HOLDS ? STATUS_DONE : STATUS_NOT_FIT;
}
