/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a profile still holds: the fingerprint it was made in against today's, and its runs against a few
 * minutes of INC today. Pure: what is read and run is the caller's. */
#pragma once

#include "lib/protocol/analysis.h"
#include "lib/protocol/environment_diff.h"

enum validity { VALIDITY_HOLDS, VALIDITY_REPEAT_SHORT, VALIDITY_REPEAT_ALL };

struct evidence {
	const struct profile *profile;
	const struct differences *differences; /* of the fingerprints; NULL: one of them is not known */
	const struct analysis *then;           /* the profile's short run; NULL: not in this book */
	const struct analysis *then_long;      /* its long run; NULL likewise */
	const struct analysis *now;
};

/* One thing that was found, as a sentence without its full stop. */
struct finding {
	enum validity verdict; /* what it alone would come to */
	char *words;
};

struct judgement {
	enum validity verdict; /* the worst of its findings */
	struct finding *findings;
	size_t n;
};

int judge(const struct evidence *evidence, struct judgement *ret, struct error *err);
void judgement_clear(struct judgement *judgement);

static inline void judgement_clearp(struct judgement *judgement)
{
	judgement_clear(judgement);
}
