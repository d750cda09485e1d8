/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules by which a run was judged: see run_rules.h. */
#include "lib/report/run_rules.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/protocol/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The run's own profile. 1: *ret has it; 0: the run has none, or the book does not have it. */
static int load_own(
	struct book *book, const struct run *run, bool today, struct profile *ret, struct error *err)
{
	struct error missing = {};
	int r = -ENOENT;

	if (run->profile && (today || !run->profile_id))
		r = book_get_profile(book, run->profile, ret, &missing);
	if (r == -ENOENT && run->profile_id)
		r = book_get_run_profile(book, run->profile_id, ret, &missing);
	if (r < 0 && r != -ENOENT)
		*err = missing;
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int run_rules_load(struct book *book, const struct run *run, const char *profile, bool today,
	struct run_rules *ret, struct error *err)
{
	struct correlation correlation = {};
	int r = profile ? book_get_profile(book, profile, &ret->profile, err)
			: load_own(book, run, today, &ret->profile, err);
	bool there = profile ? r == 0 : r > 0;

	if (r >= 0 && today)
		r = names_load(&ret->names, err);
	if (r >= 0 && today && run->environment)
		r = book_get_correlation(book, run->environment, &correlation, err);
	if (r < 0)
		return r;
	ret->missing = run->profile && !there;
	ret->rules = (struct discard_rules){
		.profile = there ? &ret->profile : NULL,
		.patterns = ret->names.rows,
		.other_cpus = run->other_cpus,
		.unprofiled_share = (double)run->unprofiled_share_ppm / PPM,
		.correlation = {correlation.lag1, (size_t)correlation.samples},
	};
	return 0;
}

void run_rules_print_changes(FILE *file, const struct run *run, const struct run_rules *today)
{
	const struct known_correlation *now = &today->rules.correlation;
	const struct correlation *then = &run->correlation;
	char moment[TEXT_TIME_SIZE], before[32] = "not known";
	_cleanup_(freep) char *patterns = NULL;

	if (today->rules.profile && today->profile.id != run->profile_id)
		fprintf(file, "  profile '%s' was made anew on %s\n", terminal_text(run->profile),
			text_moment(moment, today->profile.made_ns));
	else if (today->rules.profile && today->profile.retired_ns)
		fprintf(file, "  profile '%s' was removed on %s; the run keeps it\n",
			terminal_text(run->profile), text_moment(moment, today->profile.retired_ns));
	if (run->name_patterns && names_text(&patterns, &(struct error){}) == 0 &&
		strcmp(patterns, run->name_patterns))
		fprintf(file, "  the patterns of names (names.ini) have changed\n");
	if (now->values == 0 || (then->samples == (int64_t)now->values && then->lag1 == now->lag1))
		return;
	if (then->samples > 0)
		snprintf(before, sizeof(before), "%.2f", then->lag1);
	fprintf(file, "  the correlation of neighbouring samples was %s, is %.2f\n", before, now->lag1);
}

void run_state_print(FILE *file, const struct run *run)
{
	static const char *const words[N_RUN_STATES] = {[RUN_OPEN] = "is still running, and has",
		[RUN_INTERRUPTED] = "was interrupted after",
		[RUN_FAILED] = "failed after"};

	if (words[run->state])
		fprintf(file, "Run %" PRId64 " %s %" PRIu32 " sample%s\n", run->id, words[run->state],
			run->n_samples, run->n_samples == 1 ? "" : "s");
}

char *run_rules_options(char buffer[RUN_RULES_TEXT_SIZE], const struct run *run)
{
	int used = snprintf(buffer, RUN_RULES_TEXT_SIZE, "%s", run->other_cpus ? "--other-cpus" : "");

	if (run->unprofiled_share_ppm > 0)
		snprintf(buffer + used, RUN_RULES_TEXT_SIZE - (size_t)used, "%s--discard-unprofiled %.10g%%",
			used > 0 ? " " : "", (double)run->unprofiled_share_ppm / (PPM / 100));
	return buffer;
}

void run_rules_clear(struct run_rules *rules)
{
	names_clear(&rules->names);
	profile_clear(&rules->profile);
	*rules = (struct run_rules){};
}
