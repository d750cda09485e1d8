/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences between two fingerprints, in the machine and in its settings; and whether a
 * cutoff profile still holds, judged by them. emp-setup verify uses these rules alone;
 * emp-calibrate revalidate also measures. Separate from validity.h because emp-setup must not link
 * GSL. */
#pragma once

#include "lib/base/json.h"

struct difference {
	bool identity; /* of the machine itself; false: of its settings */
	/* "kernel.release", "units.cron.service", "frequency.policies.0-3.governor" */
	char *what;
	/* "nothing" where the machine has none; of a list's item "present", "gone", "absent" */
	char *before, *now;
};

struct differences {
	struct difference *items; /* identity first, then as in the documents */
	size_t n;
};

/* Compares two documents of emp-setup fingerprint, without the volatile values and without what
 * only one of them records. */
struct differences environment_diff(const json_t *before, const json_t *now);
void differences_clear(struct differences *differences);

/* "kernel.release was 6.1, is 6.2; …" of at most `most` of them, and how many more; the caller
 * frees it. demanding: only of those that demand something. */
char *differences_description(const struct differences *differences, size_t most, bool demanding);

enum validity {
	VALIDITY_HOLDS,
	VALIDITY_REPEAT_CHECK, /* the run says nothing: only by emp-calibrate revalidate */
	VALIDITY_REPEAT_SHORT,
	VALIDITY_REPEAT_ALL,
};

/* "holds", "repeat-check", "repeat-short", "repeat-all": in documents. */
const char *validity_name(enum validity validity);

/* Whether and why something affects times: the one judgement, for differences and for the audit. */
struct difference_rule {
	bool identity;        /* of the machine itself, else of its settings */
	const char *pattern;  /* of the names of what differs, as in fnmatch(3) */
	enum validity demand; /* the verdict by this difference alone */
	bool measurable;      /* a run of INC shows whether it matters, and overrides the demand */
	const char *why;
	const char *check; /* the audit's check of the same thing; NULL: it has none */
};

/* All rules; the last one has no `pattern`. */
extern const struct difference_rule difference_rules[];

/* The rule for a difference; there is always one. */
const struct difference_rule *difference_rule(const struct difference *difference);

/* Why the subject of a check of the audit affects times; NULL: no rule is about it. */
const char *difference_why(const char *check);

/* The greatest demand of all differences. */
enum validity differences_validity(const struct differences *differences);
