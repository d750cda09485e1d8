/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb verify: whether the profile of a calibration still holds on this machine, by what has
 * changed since. */
#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/book/book.h"
#include "lib/document/document.h"
#include "lib/protocol/environment_diff.h"
#include "lib/record/profile.h"
#include "setup/fingerprint/difference_rows.h"
#include "setup/fingerprint/document.h"
#include "setup/options.h"

static const struct {
	/* the member of 0.1.0; "validity" has the names that emp-calibrate uses too */
	const char *verdict;
	const char *repeat;
} VERDICTS[] = {
	[VALIDITY_HOLDS] = {"stands"},
	[VALIDITY_REPEAT_SHORT] = {"repeat the short run", "the short run"},
	[VALIDITY_REPEAT_ALL] = {"repeat all", "the whole calibration"},
};

/* The fingerprint under which a profile's short run was made. */
static int read_profile(const char *name, json_t **ret, struct profile *profile, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
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
			"profile '%s' was imported: the fingerprint of its machine is not in this "
			"book, so nothing can be compared; calibrate this machine with "
			"'emp-calibrate run'",
			name);
	if (r == 0)
		r = document_read_environment(book, run.environment, ret, err);
	if (r < 0)
		return r;
	return *ret ? 0
		    : error_say(err, -ENOENT, "the book has no fingerprint for profile '%s'", name);
}

static void print_profile_verdict(
	const struct profile *profile, const struct differences *differences, struct table *list)
{
	const enum validity validity = differences_validity(differences);

	terminal_say(stdout, 2, "Changes since profile '%s'%s%s:", profile->name,
		profile->made_ns ? " was made on " : "",
		profile->made_ns ? text_moment(profile->made_ns) : "");
	putchar('\n');
	table_print(list, stdout);
	if (differences->n > 0)
		putchar('\n');
	if (differences->n == 0)
		printf("None: the profile holds.\n");
	else if (validity == VALIDITY_HOLDS)
		terminal_say(stdout, 2,
			"The profile holds: no change affects the times "
			"of daemons or programs.");
	else
		printf("Repeat %s, or let a few minutes of INC decide:\n"
		       "  emp-calibrate%s%s revalidate %s\n",
			VERDICTS[validity].repeat, options.db ? " --db " : "", options.db ?: "",
			terminal_text(profile->name));
}

static const struct option_row verify_options[] = {JSON_OPTION, DB_OPTION, {}};

static int fingerprint_verify_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(table_freep) struct table *list = NULL;
	_cleanup_(profile_clear) struct profile profile = {};
	enum validity validity;
	int r = read_profile(argv[0], &before, &profile, err);

	if (r == 0)
		r = fingerprint_take(&now, AT_FDCWD, err);
	if (r < 0)
		return r;
	differences = fingerprint_compare(before, now, &list);
	validity = differences_validity(&differences);
	if (options.json)
		r = json_print_document("emp-verify",
			json_pack("{s:s, s:o, s:s, s:s}", "profile", profile.name, "differences",
				table_json(list), "validity", validity_name(validity), "verdict",
				VERDICTS[validity].verdict),
			err);
	else
		print_profile_verdict(&profile, &differences, list);
	if (r < 0)
		return r;
	return validity == VALIDITY_HOLDS ? STATUS_DONE : STATUS_NOT_FIT;
}

const struct verb setup_verify = {
	.name = "verify",
	.args = "PROFILE",
	.summary = "report whether a profile is still valid here",
	.min_args = 1,
	.max_args = 1,
	.options = verify_options,
	.run = fingerprint_verify_verb,
};
