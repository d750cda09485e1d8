/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a profile still holds: compares its fingerprint with today's, by the rules of
 * environment_diff.h, and its runs with a few minutes of INC today. The caller reads the book and
 * runs INC. */
#pragma once

#include "lib/protocol/environment_diff.h"
#include "lib/protocol/sample_size.h"
#include "lib/record/profile.h"

struct evidence {
	const struct profile *profile;
	/* of the fingerprints; NULL: one of them is not known */
	const struct differences *differences;
	const struct analysis *then;      /* the profile's short run; NULL: not in this book */
	const struct analysis *then_long; /* its long run; NULL likewise */
	const struct analysis *now;
	struct run_variation variation; /* of separate runs of INC; .df 0: not known */
	/* `now` is a run of another INC than `then`: their times cannot be compared */
	bool other_inc;
};

/* One difference, as a sentence without the full stop. */
struct finding {
	enum validity verdict; /* by this finding alone */
	char *text;
	bool harmless; /* a process that is new, and made no sample long; there may be many */
};

struct judgement {
	enum validity verdict; /* the worst of its findings */
	struct finding *findings;
	size_t n;
};

struct judgement validity_judge(const struct evidence *evidence);
void judgement_clear(struct judgement *judgement);
