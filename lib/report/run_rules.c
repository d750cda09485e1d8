/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules by which a run was judged: see run_rules.h. */
#include "lib/report/run_rules.h"

#include <errno.h>
#include <stdio.h>

int run_rules_load(struct book *book, const struct run *run, const char *profile, struct run_rules *ret,
	struct error *err)
{
	const char *name = profile ?: run->profile;
	struct error missing = {};
	int r = name ? book_get_profile(book, name, &ret->profile, profile ? err : &missing) : 0;

	if (r < 0 && (profile || r != -ENOENT)) {
		*err = profile ? *err : missing;
		return r;
	}
	ret->missing = r < 0;
	ret->rules = (struct discard_rules){
		.profile = name && r == 0 ? &ret->profile : NULL,
		.other_cpus = run->other_cpus,
		.unprofiled_share = (double)run->unprofiled_share_ppm / PPM,
	};
	return 0;
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
	profile_clear(&rules->profile);
	*rules = (struct run_rules){};
}
