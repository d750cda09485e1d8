/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb verify: compares a profile's fingerprint with this machine's. */
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/tool.h"
#include "lib/protocol/environment_validity.h"
#include "lib/record/book/book.h"
#include "setup/fingerprint/diff.h"
#include "setup/options.h"

#include <errno.h>

/* The fingerprint under which a profile's short run was made. */
static int read_profile(json_t **ret, struct profile *profile, struct error *err)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(freep) char *path = NULL, *text = NULL;
	_cleanup_(run_clear) struct run run = {};
	int r = book_path(options.db, &path, err);

	if (r == 0)
		r = book_open(&book, path, BOOK_READ, err);
	if (r == 0)
		r = book_get_profile(book, options.profile, profile, err);
	if (r < 0)
		return r;
	if (!profile->short_run.run)
		return error_say(err, -ENOENT,
			"profile '%s' was imported: the fingerprint of its machine is not in this book",
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

/* The member "verdict" of 0.1.0; "validity" has the names that emp-calibrate revalidate uses too. */
static const char *verdict_words(enum validity validity)
{
	static const char *const words[] = {
		[VALIDITY_HOLDS] = "stands",
		[VALIDITY_REPEAT_SHORT] = "repeat the short run",
		[VALIDITY_REPEAT_ALL] = "repeat all",
	};

	return words[validity];
}

static int print_verdict(const struct profile *profile, const struct differences *d, struct error *err)
{
	enum validity validity = differences_validity(d);
	char moment[TEXT_TIME_SIZE];
	int r;

	printf("Changes since profile '%s'%s%s:\n\n", profile->name, profile->made_ns ? " was made on " : "",
		profile->made_ns ? text_moment(moment, profile->made_ns) : "");
	r = d->n ? diff_print(d, err) : 0;
	if (r < 0)
		return r;
	if (d->n == 0)
		printf("None: the profile holds.\n");
	else if (validity == VALIDITY_HOLDS)
		printf("\nThe profile holds: no change affects the times of daemons or programs.\n");
	else
		printf("\nRepeat %s, or let a few minutes of INC decide:\n  emp-calibrate%s%s revalidate %s\n",
			validity == VALIDITY_REPEAT_SHORT ? "the short run" : "the whole calibration",
			options.db ? " --db " : "", options.db ?: "", profile->name);
	return 0;
}

int verify_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(json_decrefp) json_t *before = NULL, *now = NULL, *document = NULL;
	_cleanup_(differences_clear) struct differences differences = {};
	_cleanup_(profile_clear) struct profile profile = {};
	enum validity validity;
	int r;

	options.profile = argv[0];
	r = read_profile(&before, &profile, err);
	if (r == 0)
		r = diff_now(&now, err);
	if (r == 0)
		r = environment_diff(before, now, &differences, err);
	if (r < 0)
		return r;
	validity = differences_validity(&differences);
	if (options.json) {
		document = json_pack("{s:s, s:i, s:s, s:o, s:s, s:s}", "format", "emp-verify", "version", 1,
			"profile", profile.name, "differences", diff_json(&differences), "validity",
			validity_name(validity), "verdict", verdict_words(validity));
		r = json_print(document, stdout, err);
	} else
		r = print_verdict(&profile, &differences, err);
	if (r < 0)
		return r;
	return validity == VALIDITY_HOLDS ? STATUS_DONE : STATUS_NOT_FIT;
}
