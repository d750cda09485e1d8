/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a cutoff profile still holds, judged by two fingerprints. emp-setup verify uses these rules alone;
 * emp-calibrate revalidate also measures. Separate from validity.h because emp-setup must not link GSL. */
#pragma once

#include "lib/protocol/environment_diff.h"

enum validity {
	VALIDITY_HOLDS,
	VALIDITY_REPEAT_CHECK, /* the run says nothing: only by emp-calibrate revalidate */
	VALIDITY_REPEAT_SHORT,
	VALIDITY_REPEAT_ALL,
};

/* "holds", "repeat-check", "repeat-short", "repeat-all": in documents. */
const char *validity_name(enum validity validity);

struct difference_rule {
	bool identity;        /* of the machine itself, else of its settings */
	const char *begins;   /* the name of what differs begins with this */
	enum validity demand; /* the verdict by this difference alone */
	bool measurable;      /* a run of INC shows whether it matters, and overrides the demand */
	const char *why;
};

/* The rule for a difference; there is always one. */
const struct difference_rule *difference_rule(const struct difference *difference);

/* Removes those that demand nothing. */
void differences_keep_demanding(struct differences *differences);

/* The greatest demand of all differences. */
enum validity differences_validity(const struct differences *differences);
