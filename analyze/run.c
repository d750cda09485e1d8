/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The run that an operand names: see run.h. */
#include "analyze/run.h"

#include "analyze/options.h"
#include "lib/base/charset.h"
#include "lib/record/profile.h"

int analyze_find_run(struct book *book, const char *operand, int64_t *ret, struct error *err)
{
	_cleanup_(freep) char *name = charset_decode(operand);
	bool last = !strcmp(operand, "--last");
	int r;

	if (!operand[strspn(operand, "0123456789")]) {
		r = option_run(operand, "RUN", ret, err);
		return r < 0 ? r : 1;
	}
	r = last ? 0 : book_find_run(book, name, ret, err);
	if (r == 0 && (last || !strcmp(operand, "last"))) {
		r = book_find_run(book, NULL, ret, err);
		r = r > 0 ? 1 : r;
		if (r == 0)
			return error_say(
				err, -ENOENT, "the lab book '%s' has no runs", book_file(book));
	}
	if (r != 0)
		return r;
	return error_say(err, -EINVAL,
		"RUN must be the number or the name of a run, and '%s' is neither; "
		"'emp-analyze list' shows both",
		operand);
}

int analyze_open(const char *run, struct book **ret_book, int64_t *ret_run, struct error *err)
{
	int r = book_open(ret_book, analyze_options.db, BOOK_READ, err);

	if (r == 0)
		r = analyze_find_run(*ret_book, run, ret_run, err);
	return r < 0 ? r : 0;
}

int analyze_load_run(
	const char *run, struct book **ret_book, struct analysis *ret, struct error *err)
{
	int64_t id;
	int r = analyze_open(run, ret_book, &id, err);

	if (r == 0)
		r = analyze_check_by(err);
	analyze_options.analysis.by_wait_if_exact = !analyze_options.by_et;
	return r < 0 ? r : analysis_load(*ret_book, id, &analyze_options.analysis, ret, err);
}

int analyze_discard_run(struct book *book, int64_t run, struct run_result *ret, struct error *err)
{
	_cleanup_(profile_clear) struct profile cutoffs = {};
	_cleanup_(run_clear) struct run of = {};
	const char *profile = analyze_options.profile;
	struct discard_rules rules = {.profile = profile ? &cutoffs : NULL,
		.other_cpus = analyze_options.analysis.other_cpus,
		.clock = analyze_options.analysis.clock};
	int r = profile ? book_get_profile(book, 0, profile, &cutoffs, err) : 0;

	if (r == 0)
		r = book_get_run(book, run, &of, err);
	if (r < 0)
		return r;
	profile_for_inc(&cutoffs, of.inc_digest);
	rules.neighbour = of.neighbour_rule;
	rules.neighbour_limit_ppm = run_neighbour_limit_ppm(&of);
	return run_result_read(book, run, &rules, 0, ret, err);
}
